"""The exported folder predicts the same where skauto cannot be imported."""

import io
import pickle
import runpy
import subprocess
import sys
import types

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skauto import AutoClassifier
from skauto.export import export_code

# Runs in a fresh interpreter, in which importing skauto is an error.
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


def test_the_folder_predicts_the_same_without_skauto(automl, vote, table, tmp_path):
    X, _ = table
    rows = tmp_path / "X.pickle"
    rows.write_bytes(pickle.dumps(X))
    models = {tmp_path / "automl": automl, tmp_path / "vote": vote}
    folders = [export_code(model, folder) for folder, model in models.items()]
    subprocess.run([sys.executable, "-c", PREDICT, rows, *folders], check=True)
    for folder, model in models.items():
        answer = np.load(f"{folder}.npz")
        expected = model.predict_proba(X)
        np.testing.assert_allclose(answer["probabilities"], expected, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(answer["labels"], model.predict(X))


def test_the_script_says_what_votes(vote, tmp_path):
    text = (export_code(vote, tmp_path / "model") / "predict.py").read_text()
    for weight, pipeline in zip(vote.weights, vote.pipelines, strict=True):
        assert f"{weight:.4f}" in text
        assert type(pipeline.steps[-1][1]).__name__ in text


def test_versions_are_pinned(vote, tmp_path):
    lines = (export_code(vote, tmp_path / "model") / "requirements.txt").read_text().splitlines()
    names = [line.split("==")[0] for line in lines]
    assert {"scikit-learn", "numpy", "lightgbm", "imbalanced-learn"} <= set(names)
    assert "skauto" not in names


def test_the_script_reads_a_table(tmp_path, rng, monkeypatch, capsys):
    import pandas as pd

    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    X["zip"] = rng.choice(["01", "02", "7"], 60)  # numbers for pandas.read_csv
    automl = AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, X["a"] > 0)
    folder = export_code(automl, tmp_path / "model")
    X.to_csv(tmp_path / "X.csv", index=False)
    monkeypatch.setattr(sys, "argv", ["predict.py", str(tmp_path / "X.csv")])
    monkeypatch.setattr(sys, "path", sys.path.copy())  # the script adds its folder
    runpy.run_path(str(folder / "predict.py"), run_name="__main__")
    answer = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert list(answer.columns) == ["predicted", "False", "True"]
    np.testing.assert_array_equal(answer["predicted"], automl.predict(X))


def test_a_folder_that_is_in_use_is_refused(vote, tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(FileExistsError, match="must be new or empty"):
        export_code(vote, tmp_path)


def test_a_class_of_a_script_is_refused(vote, tmp_path, monkeypatch):
    Own = types.new_class("Own", (LogisticRegression,))
    Own.__module__ = "__main__"
    monkeypatch.setattr(vote, "decision", Own())
    with pytest.raises(ValueError, match="'Own', which was defined in a script"):
        export_code(vote, tmp_path / "model")


def test_something_else_is_refused(tmp_path):
    with pytest.raises(TypeError, match="Got LogisticRegression instead"):
        export_code(LogisticRegression(), tmp_path / "model")
