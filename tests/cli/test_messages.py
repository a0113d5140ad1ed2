"""What the command line tells its user."""

import json
from pathlib import Path

import pandas as pd
import pytest

from skauto import AutoClassifier
from skauto.cli._main import main
from skauto.cli._messages import CommandError, refusals_as_errors
from tests.cli.processes import FAST


def test_warnings_are_notes_in_terms_of_the_options(
    tmp_path: Path, customers: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    customers.assign(id=range(1, 121)).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["fit", str(tmp_path / "t.csv"), "--target", "churn", *FAST, "--json"]
    assert main([*arguments, "--out", str(tmp_path / "model")]) == 0
    output = capsys.readouterr()
    (told,) = json.loads(output.out)["notes"]
    assert output.err == f"skauto: note: {told}\n"
    assert "--column-kind 'id=numeric'" in told
    assert "column_kinds" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("set by the 'column_kinds' parameter. Leave it out of 'column_kinds'.", ""),
        ("The 'scoring' parameter must be", "--scoring must be"),
        ("maximize a score that ranks the rows: scoring='roc_auc'.", "--scoring roc_auc"),
        ("pass the levels, column_kinds={'Age': [...]}.", "levels, --column-kind 'Age=low,high'."),
        ("give a longer time_limit", "give a longer --time-limit"),
        ("Or leave it out: column_kinds={name: 'drop'}.", "--column-kind 'name=drop'"),
    ],
)
def test_errors_name_the_options(text: str, told: str) -> None:
    with pytest.raises(CommandError) as error, refusals_as_errors():
        raise ValueError(text)
    assert "column_kinds" not in str(error.value)
    assert (told or "--column-kind") in str(error.value)


def test_errors_of_skauto_itself_keep_their_traceback() -> None:
    with pytest.raises(TypeError, match="has no len"), refusals_as_errors():
        len(None)
    with pytest.raises(CommandError, match="y must hold"), refusals_as_errors():
        AutoClassifier(max_evals=1).fit([[1], [2]], [0, 0])
