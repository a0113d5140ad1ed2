"""The scripts of the page on recipes run, with the packages that they are about."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from skauto import AutoClassifier

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "examples" / "recipes"
COLUMNS = ["mean radius", "mean texture", "worst area"]


def environment() -> dict[str, str]:
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def run(script: str, folder: Path, *arguments: str) -> str:
    """Run a recipe in a folder of its own; return what it prints."""
    command = [sys.executable, str(RECIPES / script), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    frame = load_breast_cancer(as_frame=True).frame
    return frame[[*COLUMNS, "target"]].rename(columns={"target": "class"})


@pytest.fixture(scope="module")
def model(rows: pd.DataFrame) -> AutoClassifier:
    clf = AutoClassifier("random", max_evals=2, cv=3, random_state=0)
    return clf.fit(rows[COLUMNS], rows["class"])


def test_mlflow_loads_what_it_logged(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    score, *_ = run("mlflow_model.py", tmp_path).split()
    assert float(score) > 0.9


def test_duckdb_has_the_predictions(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("polars")
    run("duckdb_table.py", tmp_path)
    with duckdb.connect(str(tmp_path / "patients.duckdb")) as database:
        query = "SELECT count(*), min(probability), max(probability) FROM answers"
        n_rows, low, high = database.execute(query).fetchone()
    assert (n_rows, low >= 0, high <= 1) == (569, True, True)


def test_retraining_follows_a_drift(
    tmp_path: Path, rows: pd.DataFrame, model: AutoClassifier
) -> None:
    order = rows.sample(frac=1, random_state=0)
    order[:300].to_csv(tmp_path / "old.csv", index=False)
    order[300:].to_csv(tmp_path / "same.csv", index=False)
    changed = order[300:].assign(**{"mean radius": order["mean radius"] + 5})
    changed.to_csv(tmp_path / "changed.csv", index=False)
    path = tmp_path / "model.joblib"
    joblib.dump(model, path)
    before = path.read_bytes()
    run("retrain.py", tmp_path, "old.csv", "same.csv", "model.joblib")
    assert path.read_bytes() == before
    run("retrain.py", tmp_path, "old.csv", "changed.csv", "model.joblib")
    assert len(joblib.load(path).history_) == 10
    assert not (tmp_path / "search.skauto").exists()


@contextmanager
def service(folder: Path, served: Path) -> Iterator[str]:
    """Start the service on a free port; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port)]
    command += ["--app-dir", str(RECIPES), "--log-level", "warning"]
    variables = {**environment(), "MODEL": str(served)}
    process = subprocess.Popen(command, cwd=folder, env=variables)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/predict"
    finally:
        process.terminate()
        process.wait()


def post(address: str, content: Any) -> tuple[int, Any]:
    """Status and content of the answer to a request."""
    request = urllib.request.Request(
        address, json.dumps(content).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.parametrize("form", ["exported folder", "file"])
def test_service_answers_and_refuses(
    tmp_path: Path, rows: pd.DataFrame, model: AutoClassifier, form: str
) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    served = tmp_path / "served"
    model.export_code(served) if form == "exported folder" else joblib.dump(model, served)
    asked = rows.loc[:2, COLUMNS]
    with service(tmp_path, served) as address:
        status, answers = post(address, asked.to_dict("records"))
        assert status == 200
        assert [answer["class"] for answer in answers] == model.predict(asked).tolist()
        found = [list(answer["probabilities"].values()) for answer in answers]
        assert found == model.predict_proba(asked).tolist()
        status, answer = post(address, [{"mean radius": 1.0}])
        assert (status, "'worst area'" in answer["detail"]) == (422, True)
        status, answer = post(address, [dict.fromkeys(COLUMNS, {"not": "a cell"})])
        assert (status, "'mean radius'" in answer["detail"]) == (422, True)
