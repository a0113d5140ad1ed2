"""Quality on real data: skauto against what people would otherwise take.

For each data set and seed, every system is fitted on the same 80% of the rows and judged on the
rest: ROC AUC and PR AUC (one class against the rest if there are several), log loss, Brier score
and accuracy, the seconds that fit took and by how much they exceed the time limit, the size of
what ``joblib.dump`` writes and the time of ``predict_proba`` on a single row. One line a run is
appended to a CSV file; lines that are there already are not run again::

    python examples/benchmarks/quality.py --data FOLDER --seeds 0,1,2 --out quality.csv

Other AutoML systems run in environments of their own, which ``--peers`` names::

    python examples/benchmarks/quality.py --data FOLDER --systems skauto,autogluon_best,flaml \
        --peers autogluon=ENV/bin/python,flaml=ENV/bin/python --out quality.csv

FOLDER holds CSV files whose last column is ``target``, and an INDEX.csv with the columns ``name``,
``file`` and ``categorical_columns`` (names separated by blanks).
"""

import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import baselines
import joblib
import numpy as np
import pandas as pd
from _common import Results, load, make_parser, names, numbers, paired_tests, require_data
from peers import PEERS, row_ms
from sklearn import metrics
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier

SETS = "vehicle,credit-g,sonar,phoneme,spambase,segment,churn,splice,adult"
SYSTEMS = ["skauto", "lightgbm", "catboost"]
KEY = ["system", "dataset", "seed", "time_limit", "n_jobs"]
SCORES = ["roc_auc", "log_loss", "accuracy", "pr_auc", "brier"]
COSTS = ["fit_seconds", "overrun", "size_mb", "row_ms"]
COLUMNS = [*KEY, "n_rows", "n_columns", *SCORES, *COSTS, "error"]


def make_system(name, seed, time_limit, n_jobs):
    if name != "skauto":
        return getattr(baselines, name)(random_state=seed, n_jobs=n_jobs)
    return AutoClassifier(
        scoring="roc_auc", time_limit=time_limit, n_jobs=n_jobs, random_state=seed
    )


def size_mb(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.joblib"
        joblib.dump(model, path)
        return path.stat().st_size / 1e6


def scores(probabilities, classes, y):
    ranking = probabilities[:, 1] if len(classes) == 2 else probabilities
    return {
        "roc_auc": metrics.roc_auc_score(y, ranking, multi_class="ovr", labels=classes),
        "log_loss": metrics.log_loss(y, probabilities, labels=classes),
        "accuracy": metrics.accuracy_score(y, classes[probabilities.argmax(axis=1)]),
        "pr_auc": metrics.average_precision_score(np.searchsorted(classes, y), ranking),
        "brier": metrics.brier_score_loss(y, probabilities, labels=classes),
    }


def measure(system, X, y, seed, time_limit, n_jobs, peers):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=seed
    )
    if system in PEERS:
        settings = {"time_limit": time_limit, "seed": seed, "n_jobs": n_jobs}
        probabilities, costs = fit_peer(system, peers, X_train, y_train, X_test, settings)
        return scores(probabilities, np.unique(y_train), y_test) | costs
    model = make_system(system, seed, time_limit, n_jobs)
    start = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    costs = {
        "fit_seconds": seconds,
        "overrun": max(0.0, seconds - time_limit),
        "size_mb": size_mb(model),
        "row_ms": row_ms(model, X_test),
    }
    return scores(model.predict_proba(X_test), model.classes_, y_test) | costs


def fit_peer(system, peers, X, y, X_test, settings):
    """Probabilities of the test rows and costs of a system in another environment."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        X.assign(target=y).to_csv(folder / "train.csv", index=False)
        X_test.to_csv(folder / "test.csv", index=False)
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
        python, script = peers[system.partition("_")[0]], Path(__file__).with_name("peers.py")
        ended = subprocess.run(
            [python, script, system, folder, *flags], capture_output=True, text=True, check=False
        )
        if ended.returncode:
            raise RuntimeError(ended.stderr.strip().splitlines()[-1])
        probabilities = pd.read_csv(folder / "probabilities.csv")[np.unique(y).astype(str)]
        return probabilities.to_numpy(), json.loads((folder / "costs.json").read_text())


def run(arguments, results):
    """Run what is asked for and not yet in the file."""
    for name in arguments.sets:
        X, y = load(arguments.data, name)
        limits = [arguments.time_limit], [arguments.n_jobs]
        for key in results.missing(arguments.systems, [name], arguments.seeds, *limits):
            system, _, seed, time_limit, n_jobs = key
            try:
                outcome = measure(system, X, y, seed, time_limit, n_jobs, arguments.peers)
            except Exception as error:
                outcome = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
            size = {"n_rows": len(X), "n_columns": X.shape[1]}
            results.add(key, dict.fromkeys(COLUMNS[len(KEY) :]) | size | outcome)


def summarize(results):
    """Print the scores per set, and per system means, overruns and median costs."""
    failed = results[results["error"].notna()]
    if len(failed):
        print(f"\nFailed\n{failed[[*KEY, 'error']].to_string(index=False)}")
    results = results[results["error"].isna()]
    if results.empty:
        return
    systems = [s for s in [*SYSTEMS, *PEERS] if s in set(results["system"])]
    summary = pd.DataFrame(index=systems)
    for score in SCORES:
        per_set = results.pivot_table(index="dataset", columns="system", values=score)[systems]
        print(f"\n{score}, mean over seeds\n{per_set.round(4).to_string()}")
        complete = per_set.dropna()
        summary[f"mean_{score}"] = complete.mean()
        if "skauto" in systems and len(systems) > 1 and len(complete):
            losses = complete if score in ("log_loss", "brier") else -complete
            print(f"\n{score}, against skauto over the sets (positive: skauto is better)")
            print(paired_tests(losses, "skauto").round(4).to_string())
    per_set = results.groupby(["system", "dataset"])[COSTS].mean().groupby("system")
    summary["max_overrun_s"] = results.groupby("system")["overrun"].max()
    for cost in ("fit_seconds", "size_mb", "row_ms"):
        summary[f"median_{cost}"] = per_set[cost].median()
    print(
        f"\nPer system: means over the {len(complete)} sets that all finished; medians over sets"
    )
    print(summary.round(4).T.to_string())


def add_peers(parser, systems):
    """Add the arguments that say which systems are fitted, and where the peers are."""
    parser.add_argument("--systems", type=names, default=systems, help=",".join(systems))
    parser.add_argument("--peers", type=pairs, default={}, help="autogluon=PYTHON,flaml=PYTHON")


def pairs(text):
    """Read ``name=value,name=value``."""
    return dict(part.split("=", 1) for part in names(text))


def check_systems(parser, arguments, known):
    """End with an error where a system is unknown, or has no environment."""
    if unknown := set(arguments.systems) - {*known, *PEERS}:
        parser.error(f"unknown --systems {sorted(unknown)}; choose from {[*known, *PEERS]}")
    needed = {system.partition("_")[0] for system in arguments.systems if system in PEERS}
    if missing := needed - set(arguments.peers):
        parser.error(f"--peers must name a python for {sorted(missing)}")


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--sets", type=names, default=names(SETS), help=SETS)
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2], help="0,1,2")
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds a fit")
    add_peers(parser, SYSTEMS)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to append to")
    arguments = parser.parse_args()
    check_systems(parser, arguments, SYSTEMS)
    warnings.simplefilter("ignore")
    require_data(parser, arguments)
    results = Results(arguments.out, KEY)
    run(arguments, results)
    summarize(results.frame)


if __name__ == "__main__":
    main()
