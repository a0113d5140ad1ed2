"""Scripts in ``examples`` that the gallery does not run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

ROOT = Path(__file__).parents[2]


def run(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a script with the package of this checkout."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


def test_the_first_hour_has_nothing_wrong(tmp_path):
    """Command line, Python, report, operating point, export and service on a small table."""
    frame = load_breast_cancer(as_frame=True).frame
    table = frame[["worst texture"]].assign(
        size=frame["mean radius"].map("{:.1f} mm".format),
        kind=frame["target"].map({0: "malignant", 1: "benign "}),
    )
    table.to_csv(tmp_path / "tumors.csv", index=False)
    script = ROOT / "examples" / "first_hour.py"
    done = run(script, "--table", tmp_path / "tumors.csv", "kind", "--max-evals", 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("all right\n")
    steps = [line for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert len(steps) == 6


def test_shap_values_are_those_of_the_columns(tmp_path):
    pytest.importorskip("shap")
    text = (ROOT / "examples" / "explain_shap.py").read_text(encoding="utf-8")
    script = tmp_path / "explain_shap.py"
    script.write_text(text.replace("time_limit=30", "max_evals=3"), encoding="utf-8")
    done = run(script)
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["0", "1", "2"]  # three rows are explained
    assert len(rows) == 10
    assert set(rows[0].split()[:-3]) & {"worst", "mean"}
