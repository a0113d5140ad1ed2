"""The exported folder predicts the same where skauto cannot be imported."""

import ast
import io
import pickle
import runpy
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.export import export_code
from skauto.space import SearchSpace

# Both run in a fresh interpreter, in which importing skauto is an error.
PREDICT = """
import pickle, sys
sys.modules["skauto"] = None
import numpy as np
rows, *folders = sys.argv[1:]
with open(rows, "rb") as file:
    X = pickle.load(file)
for folder in folders:
    sys.path.insert(0, folder)
    from predict import predict, predict_proba
    np.savez(folder + ".npz", probabilities=predict_proba(X), labels=predict(X))
    sys.path.remove(folder)
    for name, module in list(sys.modules.items()):  # the next folder has the same names
        if (getattr(module, "__file__", None) or "").startswith(folder):
            del sys.modules[name]
"""

PREDICT_ALL = """
import pickle, runpy, sys
sys.modules["skauto"] = None
import numpy as np
for folder in sys.argv[1:]:
    script = runpy.run_path(folder + "/predict.py")
    with open(folder + ".rows", "rb") as file:
        np.save(folder + ".npy", script["predict_proba"](pickle.load(file)))
"""


def test_the_folder_predicts_the_same_without_skauto(automl, ensemble, table, tmp_path):
    X, _ = table
    rows = tmp_path / "X.pickle"
    rows.write_bytes(pickle.dumps(X))
    models = {tmp_path / "automl": automl, tmp_path / "ensemble": ensemble}
    folders = [export_code(model, folder) for folder, model in models.items()]
    subprocess.run([sys.executable, "-c", PREDICT, rows, *folders], check=True)
    for folder, model in models.items():
        answer = np.load(f"{folder}.npz")
        expected = model.predict_proba(X)
        np.testing.assert_allclose(answer["probabilities"], expected, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(answer["labels"], model.predict(X))


def test_one_process_loads_models_of_folders_of_the_same_name(ensemble, table, tmp_path):
    X, y = load_iris(return_X_y=True)
    space = SearchSpace().add("classifier", "bayes", GaussianNB())
    iris = AutoClassifier(space=space, max_evals=1, cv=2, random_state=0).fit(X, y)
    models = {
        "run0/model": (iris, X),
        "run1/model": (ensemble, table[0]),
        "my-model": (iris, X),
        "my_model": (ensemble, table[0]),
    }
    folders = [export_code(model, tmp_path / name) for name, (model, _) in models.items()]
    for folder, (_, rows) in zip(folders, models.values(), strict=True):
        folder.with_name(f"{folder.name}.rows").write_bytes(pickle.dumps(rows))
    subprocess.run([sys.executable, "-c", PREDICT_ALL, *folders], check=True)
    for folder, (model, rows) in zip(folders, models.values(), strict=True):
        probabilities = np.load(f"{folder}.npy")
        np.testing.assert_allclose(probabilities, model.predict_proba(rows), rtol=0, atol=1e-9)


def test_the_script_names_the_members(ensemble, tmp_path):
    text = (export_code(ensemble, tmp_path / "model") / "predict.py").read_text()
    for weight, pipeline in zip(ensemble.weights, ensemble.pipelines, strict=True):
        assert f"{weight:.4f}" in text
        assert type(pipeline.steps[-1][1]).__name__ in text


def test_versions_are_pinned(ensemble, tmp_path):
    lines = (
        (export_code(ensemble, tmp_path / "model") / "requirements.txt").read_text().splitlines()
    )
    names = [line.split("==")[0] for line in lines]
    assert {"scikit-learn", "numpy", "lightgbm", "imbalanced-learn"} <= set(names)
    assert "skauto" not in names


def predictions_of_script(folder, table, monkeypatch, capsys):
    """Write a table as CSV and read what the script prints for it."""
    file = folder.parent / "table.csv"
    table.to_csv(file, index=False)
    monkeypatch.setattr(sys, "argv", ["predict.py", str(file)])
    monkeypatch.setattr(sys, "path", sys.path.copy())  # the script adds its folder
    runpy.run_path(str(folder / "predict.py"), run_name="__main__")
    return pd.read_csv(io.StringIO(capsys.readouterr().out))


def test_the_script_reads_a_table(tmp_path, rng, monkeypatch, capsys):
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    X["zip"] = rng.choice(["01", "02", "7"], 60)  # numbers for pandas.read_csv
    automl = AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, X["a"] > 0)
    folder = export_code(automl, tmp_path / "model")
    answer = predictions_of_script(folder, X, monkeypatch, capsys)
    assert list(answer.columns) == ["predicted", "False", "True"]
    np.testing.assert_array_equal(answer["predicted"], automl.predict(X))
    labeled = X[["zip", "b", "a"]].assign(target=1)  # found by name, and others are not used
    pd.testing.assert_frame_equal(
        predictions_of_script(folder, labeled, monkeypatch, capsys), answer
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage: python predict.py"),
        (["none.csv"], "as a CSV file with commas, in UTF-8: .*No such file"),
        (["empty.csv"], "empty.csv cannot be predicted as .*: No columns"),
        (["other.csv"], "other.csv cannot be predicted as .*: .*not found: "),
    ],
)
def test_mistakes_with_the_script_are_sentences(
    ensemble, tmp_path, monkeypatch, arguments, message
):
    script = export_code(ensemble, tmp_path / "model") / "predict.py"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").touch()
    (tmp_path / "other.csv").write_text("other\n1\n")
    monkeypatch.setattr(sys, "argv", ["predict.py", *arguments])
    monkeypatch.setattr(sys, "path", sys.path.copy())  # the script adds its folder
    with pytest.raises(SystemExit, match=message):
        runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("named", [True, False], ids=["names", "positions"])
def test_the_script_reads_words_for_missing_values_as_levels(
    named, tmp_path, rng, monkeypatch, capsys
):
    words = np.array(["NA", "None", "null", "n/a", "nan", "DE"], dtype=object)
    X = pd.DataFrame({"country": rng.choice(words, 210), "x": rng.normal(size=210)})
    y = X["country"].replace("DE", "predicted").to_numpy()  # the name of another column
    table = X if named else X.to_numpy(dtype=object)
    tree = SearchSpace().add("classifier", "tree", DecisionTreeClassifier(random_state=0))
    automl = AutoClassifier(space=tree, max_evals=1, cv=2, random_state=0).fit(table, y)
    np.testing.assert_array_equal(automl.predict(table), y)
    folder = export_code(automl, tmp_path / "model")
    answer = predictions_of_script(folder, X, monkeypatch, capsys)
    np.testing.assert_array_equal(answer.iloc[:, 1:], automl.predict_proba(table))


def test_the_script_reads_columns_of_every_kind(every_kind, tmp_path, monkeypatch, capsys):
    X = every_kind
    y = (X["number"].fillna(0) > 0) ^ (X["color"] == "red")
    automl = AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, y)
    kinds = set(automl.table_report()["kind"])
    assert kinds == {"numeric", "boolean", "date", "categorical", "tags", "name", "text"}
    folder = export_code(automl, tmp_path / "model")
    answer = predictions_of_script(folder, X, monkeypatch, capsys)
    np.testing.assert_allclose(answer[["False", "True"]], automl.predict_proba(X), atol=1e-12)
    empty = X.copy()
    empty[X.columns.drop("number")] = None
    answer = predictions_of_script(folder, empty, monkeypatch, capsys)
    np.testing.assert_allclose(answer[["False", "True"]], automl.predict_proba(empty), atol=1e-12)


def test_a_folder_that_is_in_use_is_refused(ensemble, tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(FileExistsError, match="must be new or empty"):
        export_code(ensemble, tmp_path)


def test_a_class_of_a_script_is_refused(ensemble, tmp_path, monkeypatch):
    Own = types.new_class("Own", (LogisticRegression,))
    Own.__module__ = "__main__"
    monkeypatch.setattr(ensemble, "decision", Own())
    with pytest.raises(ValueError, match="'Own', which was defined in a script"):
        export_code(ensemble, tmp_path / "model")


def test_something_else_is_refused(tmp_path):
    with pytest.raises(TypeError, match="Got LogisticRegression instead"):
        export_code(LogisticRegression(), tmp_path / "model")


@pytest.mark.parametrize("form", ["object", "string", "category", "arrow"])
def test_the_script_reads_what_other_forms_were_fitted_on(
    form, tmp_path, rng, monkeypatch, capsys
):
    """Objects of mixed types, and cells that cannot be read as in fit."""
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(900, size=80), unit="D")
    X = pd.DataFrame(
        {
            "ticket": rng.choice(["A/5", "113783", "007", "2.50"], 80),
            "amount": [f"{value:.2f}" for value in rng.random(80)],
            "member": rng.choice(["yes", "no"], 80),
            "day": days.strftime("%d/%m/%Y"),
        }
    )
    y = (X["ticket"] == "007") ^ (X["member"] == "yes")
    mixed = X["ticket"].replace({"113783": 113783}) if form == "object" else X["ticket"]
    known = X.assign(ticket=mixed).astype(object)
    if form == "arrow":
        known = pytest.importorskip("pyarrow").Table.from_pandas(X, preserve_index=False)
    elif form != "object":
        known = X.astype(form)
    tree = SearchSpace().add("classifier", "tree", DecisionTreeClassifier(random_state=0))
    automl = AutoClassifier(space=tree, max_evals=1, cv=2, random_state=0).fit(known, y)
    folder = export_code(automl, tmp_path / "model")
    answer = predictions_of_script(folder, X, monkeypatch, capsys)
    np.testing.assert_array_equal(answer[["False", "True"]], automl.predict_proba(known))
    for i in (0, 1):
        row = predictions_of_script(folder, X.iloc[[i]], monkeypatch, capsys)
        np.testing.assert_array_equal(row, answer.iloc[[i]])
    if form != "category":  # whose new strings are new levels
        commas = X.assign(amount=X["amount"].str.replace(".", ","))
        with pytest.raises(SystemExit, match="Column 'amount' of X must hold numbers such as"):
            predictions_of_script(folder, commas, monkeypatch, capsys)
        X.loc[3, "amount"] = "oops"
        with pytest.warns(Warning, match="1 of 80 cells of column 'amount', such as 'oops'"):
            predictions_of_script(folder, X, monkeypatch, capsys)


@pytest.mark.parametrize("value", ['"""; open("ran", "w"); """', 'say """', "back\\slash \\N{x}"])
def test_text_of_the_user_stays_a_literal(value, tmp_path, rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    prior = DummyClassifier(strategy="prior", constant=value)
    space = SearchSpace(["classifier"]).add("classifier", "prior", prior)
    clf = AutoClassifier(space=space, initial="defaults", max_evals=1, random_state=0)
    folder = export_code(clf.fit(X, y), tmp_path / "model")
    code = "import predict; print(predict.MEMBERS)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert repr(value) in ast.literal_eval(done.stdout)[0][1][0]
    assert not (folder / "ran").exists()


def test_only_the_owner_can_read_the_folder(ensemble, tmp_path):
    folder = export_code(ensemble, tmp_path / "model")
    assert all(path.stat().st_mode & 0o077 == 0 for path in (folder, *folder.rglob("*")))
