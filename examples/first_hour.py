"""Walk through the first hour of a new user with CSV files of your own, and check every step::

    python examples/first_hour.py --table customers.csv churn --table titanic.csv Survived

For each table: the command line, the same in Python, a report, an operating point, an exported
folder in a fresh process, and a web service (if FastAPI and uvicorn are installed). The script
ends with exit code 1 if a traceback appears, a mistake is no sentence, or a number that is shown
for the model is not that of the ensemble.
"""

import argparse
import contextlib
import html
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from skauto import AutoClassifier

RECIPES = Path(__file__).resolve().parent / "recipes"
PREDICT = """
import sys
sys.modules["skauto"] = None  # the folder must not need it
import pandas as pd
import predict
answers = predict.predict_proba(pd.read_csv(sys.argv[1]))
pd.DataFrame(answers).to_csv(sys.argv[2], index=False)
"""


class Walk:
    """The files of one table, and what was wrong on the way."""

    def __init__(self, folder: Path, limit: list[str]) -> None:
        self.folder = folder
        self.limit = limit
        self.wrong: list[str] = []

    def check(self, holds: bool, what: str) -> None:
        """Note what is wrong if it does not hold."""
        if not holds:
            self.wrong.append(what)
            print(f"   WRONG: {what}")

    def run(self, *command: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program in the folder of the table; no traceback may appear."""
        words = list(map(str, command))
        done = subprocess.run(
            [sys.executable, *words], cwd=self.folder, capture_output=True, text=True
        )
        called = " ".join(words[:4])
        self.check(done.returncode == code, f"{called}: exit code {done.returncode}, not {code}")
        for stream in (done.stdout, done.stderr):
            self.check("Traceback" not in stream, f"{called}: a traceback\n{stream[-2000:]}")
        return done

    def same(self, numbers: dict[str, float]) -> None:
        """All numbers must be equal; print the first."""
        first = next(iter(numbers.values()))
        for place, number in numbers.items():
            equal = number == first or (np.isnan(number) and np.isnan(first))
            self.check(equal, f"{place} shows {number}, others {first}")
        print(f"   {', '.join(numbers)}: {first:.4g}")


def command_line(walk: Walk, target: str) -> AutoClassifier:
    """Fit, predict and report in a shell, with mistakes on the way; return the model."""
    print("1. command line")
    cli = ("-m", "skauto")
    walk.run(*cli, "fit", "train.csv", code=2)
    typing = walk.run(*cli, "fit", "train.csv", "--target", f"{target}x", "--out", "m", code=1)
    sentence = typing.stderr.strip().splitlines()[-1]
    walk.check(sentence.startswith("skauto: error: --target must name a column"), sentence)
    print(f"   a mistake: {sentence[:100]}...")
    fit = walk.run(*cli, "fit", "train.csv", "--target", target, "--out", "model", *walk.limit)
    print("   " + fit.stdout.splitlines()[0])
    summary = json.loads((walk.folder / "model" / "summary.json").read_text("utf-8"))
    clf = joblib.load(walk.folder / "model" / "model.joblib")
    walk.same({"JSON": summary["score"], **shown_numbers(clf)})
    printed = fit.stdout.split(" (95%")[0].split()[-1]
    walk.check(printed == f"{summary['score']:.4g}", f"the command printed {printed}")
    page = (walk.folder / "model" / "report.html").read_text("utf-8")
    check_page(walk, page, clf.report_dict()["verdict"]["sentence"])

    walk.run(*cli, "predict", "model", "new.csv", "--proba", "--out", "predicted.csv")
    rows = pd.read_csv(walk.folder / "new.csv")
    predicted = pd.read_csv(walk.folder / "predicted.csv")
    walk.check(len(predicted) == len(rows), f"{len(predicted)} predictions of {len(rows)} rows")
    rows.drop(columns=clf.feature_names_in_[0]).to_csv(walk.folder / "less.csv", index=False)
    less = walk.run(*cli, "predict", "model", "less.csv", code=1)
    walk.check("Got none named" in less.stderr, less.stderr)

    reported = json.loads(walk.run(*cli, "report", "model", "new.csv", "--json").stdout)
    X, y = split(rows, target)
    walk.same({"held out, JSON": reported["score"], "score_report": held_out_score(clf, X, y)})
    return clf


def shown_numbers(clf: AutoClassifier) -> dict[str, float]:
    """Return the score by each place in Python that shows it."""
    first = clf.leaderboard().iloc[0]
    summary = clf._repr_html_()
    score = clf.ensemble_score_
    return {
        "ensemble_score_": score,
        "leaderboard": first["score"] if first["model"] == "ensemble" else float("nan"),
        "score_report": clf.score_report().loc["ensemble", "score"],
        "report": clf.report_dict()["verdict"]["score"],
        "notebook": score if f"{score:.4g}</b>" in summary else float("nan"),
    }


def in_python(walk: Walk, X: pd.DataFrame, y: pd.Series, settings: dict[str, Any]) -> Any:
    """Fit in Python; the last line of the progress has the number of the ensemble."""
    print("2. Python")
    try:
        AutoClassifier(time_budget=60)
    except TypeError as error:
        walk.check("time_limit" in str(error), str(error))
        print(f"   a mistake: {error}")
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        clf = AutoClassifier(verbose=1, random_state=0, **settings).fit(X, y)
    clf.set_params(verbose=0)
    last = shown.getvalue().splitlines()[-1]
    print(f"   {last}")
    for text in {str(warning.message)[:100] for warning in told}:
        print(f"   warning: {text}...")
    in_progress = f"ensemble accuracy {clf.ensemble_score_:.4g}" in last
    walk.same(
        {
            "progress": clf.ensemble_score_ if in_progress else float("nan"),
            **shown_numbers(clf),
        }
    )
    return clf


def report(walk: Walk, clf: Any, X: pd.DataFrame, y: pd.Series) -> None:
    """Write the report with held-out rows."""
    print("3. report")
    began = time.perf_counter()
    clf.save_report(walk.folder / "report.html", X=X, y=y)
    seconds = time.perf_counter() - began
    page = (walk.folder / "report.html").read_text("utf-8")
    verdict = clf.report_dict(X=X, y=y)["verdict"]
    print(f"   {seconds:.1f} s. {verdict['sentence']}")
    walk.check(seconds < 10, f"the report took {seconds:.1f} s")
    walk.same({"verdict": verdict["score"], "score_report": held_out_score(clf, X, y)})
    check_page(walk, page, verdict["sentence"])


def check_page(walk: Walk, page: str, sentence: str) -> None:
    """Check that a page holds the verdict and what drives the answers."""
    text = html.unescape(page)
    walk.check(sentence in text, f"the report does not say: {sentence}")
    walk.check('class="drivers"' in page, "the report does not say what drives the answers")


def held_out_score(clf: Any, X: pd.DataFrame, y: pd.Series) -> float:
    return float(clf.score_report(X, y).loc["ensemble", "held_out"])


def operating_point(walk: Walk, clf: Any, y: pd.Series) -> None:
    """Choose a recall of the rarest class, and ask for too much."""
    print("4. operating point")
    rare = y.value_counts().index.tolist()[-1]
    try:
        clf.choose_operating_point(recall=1.0, precision=1.0, flagged=1e-6, pos_label=rare)
    except ValueError as error:
        print(f"   too much: {str(error)[:110]}...")
    else:
        walk.check(False, "an operating point that is impossible was met")
    clf.choose_operating_point(recall=0.8, pos_label=rare)
    point = clf.operating_point_
    print(f"   {rare!r}: recall {point['recall']:.3f}, precision {point['precision']:.3f}")
    walk.check(point["recall"] >= 0.8, f"recall {point['recall']}")
    walk.same(shown_numbers(clf))


def export(walk: Walk, clf: Any, X: pd.DataFrame) -> None:
    """Predict by the exported folder, in a process without skauto."""
    print("5. export")
    clf.export_code(walk.folder / "exported")
    X.to_csv(walk.folder / "rows.csv", index=False)
    (walk.folder / "exported" / "call.py").write_text(PREDICT)
    walk.run("exported/call.py", "rows.csv", "exported.csv")
    found = pd.read_csv(walk.folder / "exported.csv").to_numpy()
    again = clf.predict_proba(pd.read_csv(walk.folder / "rows.csv"))
    difference = float(np.abs(found - again).max())
    walk.check(difference < 1e-9, f"the exported folder differs by {difference}")
    print(f"   largest difference of a probability: {difference:.1g}")


def serve(walk: Walk, X: pd.DataFrame, clf: Any) -> None:
    """Start the recipe of a web service, ask it, and send a bad request."""
    print("6. service")
    if not (find_spec("fastapi") and find_spec("uvicorn")):
        print("   left out: it needs fastapi and uvicorn")
        return
    rows = json.loads(X.head(3).to_json(orient="records"))
    with service(walk) as address:
        began = time.perf_counter()
        status, answers = post(address, rows)
        milliseconds = 1000 * (time.perf_counter() - began)
        labels = [answer["class"] for answer in answers] if status == 200 else answers
        walk.check(labels == clf.predict(X.head(3)).tolist(), f"the service answers {labels}")
        print(f"   {labels} in {milliseconds:.0f} ms")
        status, answer = post(address, [{"wrong": 1}])
        walk.check(status == 422, f"a bad request has status {status}")
        print(f"   a bad request: {status}, {str(answer['detail'])[:80]}...")
    log = (walk.folder / "service.log").read_text()
    walk.check("Traceback" not in log, f"the service wrote a traceback\n{log[-2000:]}")


@contextlib.contextmanager
def service(walk: Walk) -> Iterator[str]:
    """Start the recipe on a free port; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port)]
    command += ["--app-dir", str(RECIPES), "--log-level", "warning"]
    environment = {**os.environ, "MODEL": "exported"}
    with open(walk.folder / "service.log", "w") as log:
        process = subprocess.Popen(
            command, cwd=walk.folder, env=environment, stdout=log, stderr=log
        )
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/predict"
        finally:
            process.terminate()
            process.wait()


def post(address: str, content: Any) -> tuple[int, Any]:
    """Status and content of the answer to a request."""
    body = json.dumps(content).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def split(table: pd.DataFrame, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """Columns and classes of the rows that have a class, as the command line reads them."""
    table = table[table[target].notna()]
    y = table[target].map(lambda label: label.strip() if isinstance(label, str) else label)
    return table.drop(columns=target), y.infer_objects()


def walk_through(path: str, target: str, limit: dict[str, Any], folder: Path) -> list[str]:
    """Walk through the hour with one table; return what was wrong."""
    options = [word for name, value in limit.items() for word in (f"--{name}", str(value))]
    walk = Walk(folder, options)
    table = pd.read_csv(path)
    train = table.sample(frac=0.75, random_state=0)
    train.to_csv(folder / "train.csv", index=False)
    table.drop(index=train.index).to_csv(folder / "new.csv", index=False)
    command_line(walk, target)
    X, y = split(pd.read_csv(folder / "train.csv"), target)
    X_new, y_new = split(pd.read_csv(folder / "new.csv"), target)
    settings = {name.replace("-", "_"): value for name, value in limit.items()}
    clf = in_python(walk, X, y, settings)
    report(walk, clf, X_new, y_new)
    operating_point(walk, clf, y)
    export(walk, clf, X_new)
    serve(walk, X_new, clf)
    return walk.wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("::")[0])
    parser.add_argument(
        "--table", nargs=2, action="append", required=True, metavar=("FILE.csv", "TARGET")
    )
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds of each fit")
    parser.add_argument("--max-evals", type=int, help="trials of each fit, without a time limit")
    arguments = parser.parse_args()
    limit: dict[str, Any] = {"time-limit": arguments.time_limit}
    if arguments.max_evals is not None:
        limit = {"max-evals": arguments.max_evals}
    wrong = []
    for path, target in arguments.table:
        print(f"===== {Path(path).name}, {target!r}")
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            wrong += walk_through(path, target, limit, Path(folder))
        print(f"   {time.perf_counter() - began:.0f} s")
    print(f"{len(wrong)} wrong" if wrong else "all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
