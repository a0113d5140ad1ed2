"""The folder of a model."""

from pathlib import Path

import pytest

from skauto.cli._main import main
from tests.cli.processes import FAST


def test_folder_is_replaced_only_on_demand(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    arguments = ["fit", str(folder / "train.csv"), "--target", "churn", *FAST]
    arguments += ["--out", str(tmp_path)]
    assert main(arguments) == 1
    assert "must be new or empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert main([*arguments, "--overwrite"]) == 0
    assert (tmp_path / "summary.json").exists()
    assert (tmp_path / "mine.txt").read_text() == "keep"


def test_folders_without_a_model_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = str(folder / "test.csv")
    assert main(["predict", str(tmp_path / "none"), table]) == 1
    assert "There is no folder" in capsys.readouterr().err
    assert main(["predict", str(tmp_path), table]) == 1
    assert "holds no model.joblib" in capsys.readouterr().err
    (tmp_path / "model.joblib").write_bytes(b"damaged")
    (tmp_path / "summary.json").write_text("{}")
    assert main(["predict", str(tmp_path), table]) == 1
    assert "cannot be loaded" in capsys.readouterr().err
    (tmp_path / "model.joblib").write_bytes((folder / "model" / "model.joblib").read_bytes())
    for summary in ("{}", "[]"):
        (tmp_path / "summary.json").write_text(summary)
        assert main(["predict", str(tmp_path), table]) == 1
        assert "is not what `skauto fit` has written" in capsys.readouterr().err
