"""A first hour with skauto on a CSV file: shell, Python, report, operating point, export, service.

    python first_hour.py TABLE.csv TARGET [--time-limit 20] [--max-evals N]

It stops with an error where a step fails, a traceback appears, or a number that is shown for the
model is not the score of the ensemble.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier

SERVICE = Path(__file__).with_name("service.py")


def shell(*command: object, code: int = 0) -> str:
    """Run a command and check its exit code; return its standard output."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != code or "Traceback" in done.stdout + done.stderr:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def skauto(*arguments: object, code: int = 0) -> str:
    """Run the command line of skauto."""
    return shell(sys.executable, "-m", "skauto", *arguments, code=code)


def same(name: str, shown: float, score: float) -> None:
    """Check that a number that is shown is the score of the ensemble."""
    if not abs(shown - score) < 1e-9:
        raise SystemExit(f"{name} shows {shown}, the score of the ensemble is {score}")


def in_the_shell(folder: Path, target: str, budget: list[str]) -> None:
    """Fit, predict and report by the command line."""
    model = folder / "model"
    train, test = folder / "train.csv", folder / "test.csv"
    print("mistake:", skauto("fit", train, "--target", "?", "--out", model, code=1).strip()[-99:])
    printed = json.loads(
        skauto("fit", train, "--target", target, "--out", model, "--json", *budget)
    )
    loaded = joblib.load(model / "model.joblib")
    same("skauto fit --json", printed["score"], loaded.ensemble_score_)
    n_answers = len(skauto("predict", model, test, "--proba").splitlines()) - 1
    print(f"shell: score {printed['score']:.4f}, {n_answers} predictions")
    skauto("report", model, test)


def in_python(train: pd.DataFrame, test: pd.DataFrame, target: str, **budget: Any) -> Any:
    """Fit by Python; every number that is shown for the model is that of the ensemble."""
    X, y = train.drop(columns=target), train[target]
    clf = AutoClassifier(**budget, random_state=0).fit(X, y)
    score = clf.ensemble_score_
    same("leaderboard()", clf.leaderboard()["score"].iloc[0], score)
    same("score_report()", clf.score_report().loc["ensemble", "score"], score)
    if f"{score:.4g}" not in repr(clf._repr_html_()):
        raise SystemExit("The notebook does not show the score of the ensemble.")
    held_out = clf.score(test.drop(columns=target), test[target])
    print(f"python: score {score:.4f}, held out {held_out:.4f}")
    return clf


def report_and_operating_point(clf: Any, test: pd.DataFrame, target: str, folder: Path) -> None:
    """Write the report, and choose when `predict` answers with the rarest class."""
    started = time.perf_counter()
    clf.save_report(folder / "report.html", X=test.drop(columns=target), y=test[target])
    print(f"report: {time.perf_counter() - started:.1f} s")
    rarest = clf.classes_[np.bincount(np.searchsorted(clf.classes_, test[target])).argmin()]
    point = clf.choose_operating_point(recall=0.8, pos_label=rarest).operating_point_
    print(f"operating point: recall {point['recall']:.3f}, precision {point['precision']:.3f}")
    clf.reset_operating_point()


def exported(clf: Any, test: pd.DataFrame, target: str, folder: Path) -> None:
    """Predict with the exported folder in a process of its own."""
    code, rows = folder / "code", folder / "rows.csv"
    test.drop(columns=target).to_csv(rows, index=False)
    clf.export_code(code)
    with open(folder / "answers.csv", "w") as file:
        file.write(shell(sys.executable, code / "predict.py", rows))
    answers = pd.read_csv(folder / "answers.csv").iloc[:, 1:].to_numpy()
    difference = np.abs(answers - clf.predict_proba(pd.read_csv(rows))).max()
    if not difference < 1e-6:
        raise SystemExit(f"The exported folder differs by {difference}.")
    print(f"export: {len(answers)} equal predictions")


def served(folder: Path) -> None:
    """Start the service with the exported folder, ask it, and send a bad request."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port)]
    environment = {**os.environ, "MODEL": str(folder / "code")}
    with open(folder / "service.log", "w") as log:
        server = subprocess.Popen(
            command, cwd=SERVICE.parent, env=environment, stdout=log, stderr=log
        )
    try:
        row = json.loads(pd.read_csv(folder / "rows.csv", nrows=1).to_json(orient="records"))
        print("service:", str(ask(port, row))[:99])
        print("bad request:", str(ask(port, [{}]))[:99])
    finally:
        server.terminate()
        server.wait()
    if "Traceback" in (folder / "service.log").read_text():
        raise SystemExit((folder / "service.log").read_text())


def ask(port: int, rows: list[dict[str, Any]]) -> Any:
    """Send rows to the service; wait up to a minute until it is up."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/predict",
        json.dumps(rows).encode(),
        {"Content-Type": "application/json"},
    )
    for _ in range(120):
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)
        except urllib.error.URLError:
            time.sleep(0.5)
    raise SystemExit("The service did not start.")


def main() -> None:
    """Walk through the hour."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("target")
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--max-evals", type=int)
    arguments = parser.parse_args()
    table = pd.read_csv(arguments.table).dropna(subset=arguments.target)
    train, test = train_test_split(table, stratify=table[arguments.target], random_state=0)
    limits = {"time_limit": arguments.time_limit, "max_evals": arguments.max_evals}
    budget = {name: value for name, value in limits.items() if value is not None}
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in budget.items()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        in_the_shell(folder, arguments.target, flags)
        clf = in_python(train, test, arguments.target, **budget)
        report_and_operating_point(clf, test, arguments.target, folder)
        exported(clf, test, arguments.target, folder)
        served(folder)


if __name__ == "__main__":
    main()
