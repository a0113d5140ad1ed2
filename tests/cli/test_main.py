"""Arguments and exit codes of the command line."""

from pathlib import Path

import joblib
import pandas as pd
import pytest

from skauto.cli._main import main
from tests.cli.processes import run


def test_options_reach_the_estimator(
    tmp_path: Path, customers: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    customers.assign(number=range(120)).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["fit", str(tmp_path / "t.csv"), "--target", "churn", "--max-evals", "1"]
    arguments += ["--out", str(tmp_path / "model"), "--scoring", "roc_auc", "--seed", "7"]
    arguments += ["--drop", "number", "--column-kind", "age=categorical", "--jobs", "2"]
    arguments += ["--column-kind", "zip code=z10999,z00123, z00456"]
    assert main(arguments) == 0
    automl = joblib.load(tmp_path / "model" / "model.joblib")
    assert automl.feature_names_in_.tolist() == ["age", "calls", "zip code"]
    assert automl.table_report()["kind"].tolist() == ["categorical", "numeric", "ordinal"]
    assert (automl.scoring, automl.random_state, automl.max_evals) == ("roc_auc", 7, 1)
    assert (automl.n_jobs, automl.time_limit) == (2, None)
    assert capsys.readouterr().out.startswith("roc auc ")
    # The dropped column and the target may be in the table.
    assert main(["predict", str(tmp_path / "model"), str(tmp_path / "t.csv")]) == 0
    assert "does not know" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["train", "t.csv"],
        ["fit", "t.csv"],
        ["fit", "t.csv", "--target", "y", "--out", "m", "--time-limit", "-1"],
        ["fit", "t.csv", "--target", "y", "--out", "m", "--time-limit", "inf"],
        ["fit", "t.csv", "--target", "y", "--out", "m", "--max-evals", "1.5"],
        ["fit", "t.csv", "--target", "y", "--out", "m", "--jobs", "0"],
        ["fit", "t.csv", "--target", "y", "--out", "m", "--seed", "-1"],
        ["report", "m", "t.csv", "--out", "m.pdf"],
        ["fit", "t.csv", "--target", "y", "--out", "m", "--column-kind", "a"],
        ["fit", "t.csv", "--target", "y", "--out", "m", "--column-kind", "a=float"],
    ],
)
def test_wrong_usage_exits_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == 2
    assert "usage: skauto" in capsys.readouterr().err


def test_exit_codes_of_the_process(tmp_path: Path) -> None:
    missing = run("predict", tmp_path, "none.csv")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.startswith("skauto: error: ")
    assert "Traceback" not in missing.stderr
    assert run("fit").returncode == 2
