"""The commands as a user runs them: files, streams, exit codes, and errors as sentences."""

import json
import os
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from skauto import AutoClassifier
from skauto._search import Search
from skauto.cli._main import main
from tests.cli.processes import FAST, run, start


def test_fit_writes_what_the_summary_says(folder: Path, customers: pd.DataFrame) -> None:
    summary = json.loads((folder / "stdout").read_text())
    assert json.loads((folder / "model" / "summary.json").read_text()) == summary
    assert (folder / "stderr").read_text() == ""
    assert {path.name for path in (folder / "model").iterdir()} == {
        "model.joblib",
        "report.html",
        "summary.json",
    }
    automl = joblib.load(summary["model"])
    assert isinstance(automl, AutoClassifier)
    low, high = summary["interval"]
    assert summary["score"] == automl.ensemble_score_
    assert low < summary["score"] < high
    assert summary["majority_score"] == (customers["churn"][:90] == "yes").mean()
    assert (summary["classes"], summary["rows"], summary["columns"]) == (["no", "yes"], 90, 3)
    assert "<html" in Path(summary["report"]).read_text()
    X, y = customers[:90].drop(columns="churn"), customers["churn"][:90]
    same = AutoClassifier(max_evals=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(same.predict_proba(X), automl.predict_proba(X))


def test_predict_keeps_the_order_and_ignores_the_target(
    folder: Path, customers: pd.DataFrame
) -> None:
    done = run("predict", folder / "model", folder / "test.csv", "--proba")
    assert done.returncode == 0
    assert done.stderr.strip() == (
        "skauto: note: The target 'churn' is in the table and is not used."
    )
    (folder / "predicted.csv").write_text(done.stdout)
    predicted = pd.read_csv(folder / "predicted.csv")
    assert predicted.columns.tolist() == ["prediction", "probability_no", "probability_yes"]
    automl = joblib.load(folder / "model" / "model.joblib")
    X = customers[90:].drop(columns="churn")
    assert predicted["prediction"].tolist() == automl.predict(X).tolist()
    np.testing.assert_allclose(predicted.iloc[:, 1:], automl.predict_proba(X))


def test_predict_takes_other_columns_and_forms(
    folder: Path, customers: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """The result depends neither on the order of the columns nor on the format."""
    X = customers[90:].drop(columns="churn")
    X.to_csv(folder / "a.csv", index=False)
    X[["zip code", "age", "calls"]].assign(note="x").to_csv(folder / "b.csv", sep=";", index=False)
    X.to_excel(folder / "c.xlsx", index=False)
    X.to_parquet(folder / "d.parquet")
    outputs = []
    for name in ("a.csv", "b.csv", "c.xlsx", "d.parquet"):
        assert main(["predict", str(folder / "model"), str(folder / name)]) == 0
        outputs.append(capsys.readouterr())
    assert len({output.out for output in outputs}) == 1
    assert "does not know are not used: 'note'" in outputs[1].err
    assert [output.err for output in outputs[:1] + outputs[2:]] == ["", "", ""]


def test_columns_that_the_model_does_not_read_may_be_missing(
    folder: Path, tmp_path: Path, customers: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    customers[:90].assign(shop="main").to_csv(tmp_path / "train.csv")  # with numbers of the rows
    out = str(tmp_path / "model")
    fit = ["fit", str(tmp_path / "train.csv"), "--target", "churn", "--out", out, *FAST]
    assert main(fit) == 0
    capsys.readouterr()
    assert main(["predict", out, str(folder / "test.csv")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 31
    assert main(["report", out, str(folder / "test.csv")]) == 0


def test_predict_in_parts_tells_and_answers_as_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = []
    for n_rows in (50_000, 7):
        monkeypatch.setattr("skauto.cli._commands._N_ROWS_AT_ONCE", n_rows)
        assert main(["predict", str(folder / "model"), str(folder / "test.csv"), "--proba"]) == 0
        outputs.append(capsys.readouterr())
    assert outputs[0] == outputs[1]
    assert outputs[0].err.count("is not used") == 1


def test_predict_writes_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out.parquet"
    model, table = str(folder / "model"), str(folder / "test.csv")
    assert main(["predict", model, table, "--out", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert pd.read_parquet(out).shape == (30, 1)


def test_report_scores_the_rows(folder: Path, customers: pd.DataFrame) -> None:
    done = run("report", folder / "model", folder / "test.csv", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    automl = joblib.load(folder / "model" / "model.joblib")
    truth = customers["churn"][90:]
    predicted = automl.predict(customers[90:].drop(columns="churn"))
    assert result["score"] == pytest.approx(accuracy_score(truth, predicted))
    assert result["majority_score"] == pytest.approx((truth == "yes").mean())
    assert result["report"] == str(folder / "model" / "report_test.html")
    assert "<html" in Path(result["report"]).read_text()


def test_codes_stay_text_in_another_file(
    tmp_path: Path, customers: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column of strings whose new values look like numbers is still a column of strings."""
    customers = customers.assign(zip=customers["zip code"].str[1:].where(customers.index > 0, "x"))
    customers[["age", "zip", "churn"]].to_csv(tmp_path / "train.csv", index=False)
    train, model = str(tmp_path / "train.csv"), str(tmp_path / "model")
    assert main(["fit", train, "--target", "churn", "--out", model, *FAST]) == 0
    X = customers.loc[5:20, ["age", "zip"]]
    X.to_csv(tmp_path / "new.csv", index=False)
    capsys.readouterr()
    assert main(["predict", model, str(tmp_path / "new.csv"), "--proba"]) == 0
    lines = capsys.readouterr().out.splitlines()
    expected = joblib.load(tmp_path / "model" / "model.joblib").predict_proba(X)
    found = [[float(cell) for cell in line.split(",")[1:]] for line in lines[1:]]
    np.testing.assert_allclose(found, expected)


def test_rows_without_a_class_are_left_out_with_a_note(
    tmp_path: Path, customers: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers stay integers, although a missing one makes a column of floats."""
    labels = (customers["churn"] == "yes").astype(float).where(customers.index % 10 > 0)
    customers.assign(churn=labels).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["fit", str(tmp_path / "t.csv"), "--target", "churn", *FAST, "--json"]
    assert main([*arguments, "--out", str(tmp_path / "model")]) == 0
    output = capsys.readouterr()
    assert "12 of 120 rows are left out" in output.err
    summary = json.loads(output.out)
    assert (summary["rows"], summary["classes"]) == (108, [0, 1])
    assert main(["report", str(tmp_path / "model"), str(tmp_path / "t.csv")]) == 0


def test_spaces_around_a_class_make_no_other_class(
    tmp_path: Path, customers: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    spaced = customers["churn"].where(customers.index % 20 > 0, customers["churn"] + "\t")
    customers.assign(churn=spaced).to_csv(tmp_path / "t.csv", index=False)
    table, model = str(tmp_path / "t.csv"), str(tmp_path / "model")
    assert main(["fit", table, "--target", "churn", *FAST, "--json", "--out", model]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["classes"] == ["no", "yes"]
    assert "Classes of 'churn' that differ only by spaces around them are one class" in output.err
    assert main(["report", model, table, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 120


def test_a_model_without_a_trial_has_no_score(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fit", str(folder / "train.csv"), "--target", "churn", "--time-limit", "0.001"]
    assert main([*arguments, "--out", str(tmp_path / "model")]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("accuracy is not known: no pipeline was fitted in time\n")
    assert "note: The budget was too short" in output.err
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    assert summary["score"] is None
    assert main(["report", str(tmp_path / "model"), str(folder / "test.csv"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["score"] >= result["majority_score"] > 0


def test_classes_can_be_dates_but_not_lists(
    tmp_path: Path, customers: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    table, model = str(tmp_path / "t.parquet"), str(tmp_path / "model")
    arguments = ["fit", table, "--target", "churn", *FAST, "--json", "--out", model]
    dates = customers["churn"].map({"no": "2020-01-01", "yes": "2021-01-01"})
    customers.assign(churn=pd.to_datetime(dates)).to_parquet(table)
    assert main(arguments) == 0
    classes = json.loads(capsys.readouterr().out)["classes"]
    assert classes == ["2020-01-01 00:00:00", "2021-01-01 00:00:00"]
    customers.assign(churn=dates.map(list)).to_parquet(table)
    assert main([*arguments, "--overwrite"]) == 1
    assert "error: y must hold strings, booleans, or numbers" in capsys.readouterr().err


CSV = "a,b,class\n" + "1,x,yes\n2,y,no\n" * 10


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (CSV, ["--target", "clas"], "Did you mean 'class'?"),
        (CSV, ["--target", "CLASS"], "Did you mean 'class'?"),
        (CSV, ["--target", "class", "--drop", "c"], "--drop must name a column of the table"),
        (CSV, ["--target", "class", "--drop", "class"], "--drop must not name the target"),
        (CSV, ["--target", "class", "--column-kind", "e=text"], "--column-kind must name"),
        (CSV, ["--target", "class", "--drop", "a", "--drop", "b"], "must hold a column besides"),
        (CSV, ["--target", "class", "--scoring", "f9"], "'f9'"),
        (CSV.replace("no", "yes"), ["--target", "class"], "Got only 'yes', in 20 rows"),
        (CSV.replace("no", "").replace("yes", ""), ["--target", "class"], "no value in any row"),
        (CSV.replace("no", "1.5").replace("yes", "2"), ["--target", "class"], "with fractions"),
        ("a,class\n" + "1,u\n2,v\n3,w\n", ["--target", "class"], "Got 3 different values"),
        ("", ["--target", "class"], "is empty"),
        (None, ["--target", "class"], "There is no file"),
    ],
)
def test_mistakes_in_fit_are_sentences(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str | None,
    options: list[str],
    message: str,
) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "new" / "model"
    if content is not None:
        table.write_text(content)
    assert main(["fit", str(table), "--out", str(out), *options, "--max-evals", "1"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.splitlines()[-1].startswith("skauto: error: ")
    assert message in output.err
    assert "Traceback" not in output.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("command", "content", "message"),
    [
        ("predict", "age,zip code\n1,z1\n", "Got none named 'calls'"),
        ("predict", "age,calls,zip code\n", "holds no rows"),
        ("predict", None, "There is no file"),
        ("report", "age,calls,zip code,chrn\n1,2,z1,no\n", "must hold the target of the model"),
        ("report", "age,calls,zip code,churn\n1,2,z1,maybe\n", "maybe"),
    ],
)
def test_mistakes_with_a_model_are_sentences(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    content: str | None,
    message: str,
) -> None:
    table = tmp_path / "t.csv"
    if content is not None:
        table.write_text(content)
    assert main([command, str(folder / "model"), str(table)]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert output.err.splitlines()[-1].startswith("skauto: error: ")


def test_results_do_not_replace_their_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = folder / "test.csv"
    before = table.read_bytes()
    assert main(["predict", str(folder / "model"), str(table), "--out", str(table)]) == 1
    assert "--out must not be the table" in capsys.readouterr().err
    assert table.read_bytes() == before


def test_the_standard_input_is_a_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, table = str(folder / "model"), folder / "test.csv"
    assert main(["predict", model, str(table)]) == 0
    expected = capsys.readouterr()
    with table.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert main(["predict", model, "-"]) == 0
        assert capsys.readouterr() == expected
        assert main(["predict", model, "-"]) == 1
    assert "The standard input is empty." in capsys.readouterr().err


def test_rows_of_fit_are_told_in_a_report(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    model, table = str(folder / "model"), str(folder / "train.csv")
    assert main(["report", model, table, "--out", str(page)]) == 0
    assert "note: The rows given are rows of fit, 100% of them." in capsys.readouterr().err
    assert "tested on" not in page.read_text()


def test_an_interrupted_search_is_told(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(self: Search, rng: np.random.Generator) -> bool:
        run(self, rng)
        return True

    run = Search.run
    monkeypatch.setattr(Search, "run", interrupt)
    table, out = str(folder / "train.csv"), str(tmp_path / "model")
    assert main(["fit", table, "--target", "churn", "--out", out, *FAST]) == 0
    assert "The search was interrupted." in capsys.readouterr().err


def test_progress_is_shown_in_a_terminal_only(folder: Path, tmp_path: Path) -> None:
    """The fixture has shown that nothing is written to a file.

    The terminal gets a line of the search and a line of the report.
    """
    pty = pytest.importorskip("pty")
    main_end, terminal = pty.openpty()
    arguments = ["fit", folder / "train.csv", "--target", "churn", "--out", tmp_path / "m", *FAST]
    process = start(*arguments, "--json", stdout=subprocess.PIPE, stderr=terminal)
    stdout, _ = process.communicate()
    os.close(terminal)
    shown = os.read(main_end, 65_536).decode()
    os.close(main_end)
    assert process.returncode == 0
    assert json.loads(stdout)["trials"] == 2
    search, report = shown.splitlines()[-2:]
    assert "2/2 trials" in search
    assert report.startswith("report: ")
    assert shown.startswith("\r")
    assert shown.count("\n") == 2


def test_without_pandas_the_error_says_so(folder: Path) -> None:
    code = (
        "import sys; sys.modules['pandas'] = None; "
        "from skauto.cli._main import main; sys.exit(main())"
    )
    done = run("predict", folder / "model", folder / "test.csv", program=("-c", code))
    assert done.returncode == 1
    assert "needs pandas" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_an_error_of_one_line(folder: Path) -> None:
    with open("/dev/full", "w") as full:
        arguments = ("predict", folder / "model", folder / "test.csv")
        process = start(*arguments, stdout=full, stderr=subprocess.PIPE)
        _, stderr = process.communicate()
    assert process.returncode == 1
    assert stderr.splitlines()[-1] == "skauto: error: [Errno 28] No space left on device."
    assert "Traceback" not in stderr
