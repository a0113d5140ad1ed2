"""The charts of the page "How good is it?" are drawn from any table of results."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "benchmarks" / "charts.py"


@pytest.fixture(scope="module")
def charts():
    spec = importlib.util.spec_from_file_location("charts", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results(rng):
    """Three systems on six tables of 500 to 50,000 rows; ours wins on the larger ones."""
    rows = []
    for table, n_rows in enumerate((500, 800, 2_000, 5_000, 20_000, 50_000)):
        for system, limit in (("skauto", 30.0), ("skauto", 60.0), ("autogluon_best", 30.0)):
            gain = (0.01 if n_rows > 1_000 else -0.01) * (system == "skauto")
            rows.append((system, table, n_rows, limit, 0.8 + gain, 0.4 - gain))
        rows.append(("lightgbm", table, n_rows, np.nan, 0.79, 0.41))
    frame = pd.DataFrame(
        rows, columns=["system", "dataset", "n_rows", "time_limit", "roc_auc", "log_loss"]
    )
    costs = {"size_mb": rng.lognormal(size=len(frame)), "row_ms": rng.lognormal(size=len(frame))}
    return frame.assign(n_columns=9, seed=0, **costs)


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_three_charts_are_written_and_the_same_twice(results, tmp_path):
    results.to_csv(tmp_path / "quality.csv", index=False)
    for folder in ("one", "two"):
        done = call("--results", tmp_path / "quality.csv", "--out", tmp_path / folder)
        assert done.returncode == 0, done.stderr
    names = ["score_by_seconds.svg", "size_and_latency.svg", "won_by_size.svg"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    for name in names:
        first, second = ((tmp_path / folder / name).read_text() for folder in ("one", "two"))
        assert first == second
        assert first.startswith("<?xml")


def test_wins_are_counted_by_size(results, charts):
    figure = charts.won_by_size(charts.at_limit(results, 30.0), "autogluon_best")
    for ax in figure.axes:
        labels = [label.get_text() for label in ax.get_xticklabels()]
        assert [label.split("\n")[0] for label in labels] == ["below", "1,000", "3,000", "10,000"]
        won, level, lost = ([bar.get_height() for bar in bars] for bars in ax.containers)
        assert (won, level, lost) == ([0, 1, 1, 2], [0, 0, 0, 0], [2, 0, 0, 0])


def test_lines_are_means_of_the_common_pairs(results, charts):
    missing = (results["system"] == "autogluon_best") & (results["dataset"] == 5)
    auc, _ = charts.score_by_seconds(results[~missing]).axes
    assert "mean of 5 tables" in auc.get_title()
    ours, theirs, plain = auc.get_lines()
    np.testing.assert_allclose(ours.get_ydata(), 0.802)
    np.testing.assert_allclose(ours.get_xdata(), [30.0, 60.0])
    np.testing.assert_allclose(theirs.get_ydata(), 0.8)
    np.testing.assert_allclose(plain.get_ydata(), 0.79)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda frame: frame.drop(columns="row_ms"), [], "It lacks ['row_ms']"),
        (lambda frame: frame[frame["system"] != "skauto"], [], "must hold 'skauto'"),
        (lambda frame: frame, ["--rival", "h2o"], "--rival must be one of"),
        (lambda frame: frame.drop_duplicates("dataset"), ["--rival", "lightgbm"], "--rival must"),
    ],
)
def test_mistakes_are_sentences(results, tmp_path, change, options, message):
    change(results).to_csv(tmp_path / "quality.csv", index=False)
    done = call("--results", tmp_path / "quality.csv", "--out", tmp_path, *options)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
