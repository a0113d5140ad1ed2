"""Quality on real data: skauto against the learners that people would otherwise take.

For each data set and seed, every system is fitted on the same 80% of the rows and judged on the
rest: ROC AUC (one class against the rest if there are several), log loss and accuracy, the seconds
that fit took and by how much they exceed the time limit, the size of what ``joblib.dump`` writes
and the time of ``predict_proba`` on a single row. One line a run is appended to a CSV file; lines
that are there already are not run again, so an interrupted benchmark is continued by the same
command::

    python examples/benchmarks/quality.py --data FOLDER --seeds 0,1,2 --out quality.csv

FOLDER holds CSV files whose last column is ``target``, and an INDEX.csv with the columns ``name``,
``file`` and ``categorical_columns`` (names separated by blanks).
"""

import argparse
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import baselines
import joblib
import numpy as np
import pandas as pd
from reference_line import ReferenceLine
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

SETS = "vehicle,credit-g,sonar,phoneme,spambase,segment,churn,splice,adult"
MAX_ROWS = {"adult": 10_000}
BASELINES = ["lightgbm", "hist_gradient_boosting", "random_forest", "logistic_regression"]
SYSTEMS = ["skauto", "reference", *BASELINES]
KEY = ["system", "dataset", "seed", "time_limit", "n_jobs"]
SCORES = ["roc_auc", "log_loss", "accuracy"]
COSTS = ["fit_seconds", "overrun", "size_mb", "row_ms"]
COLUMNS = [*KEY, *SCORES, *COSTS, "error"]


def make_system(name, seed, time_limit, n_jobs):
    if name == "skauto":
        from skauto import AutoClassifier

        return AutoClassifier(
            scoring="roc_auc", time_limit=time_limit, n_jobs=n_jobs, random_state=seed
        )
    if name == "reference":
        return ReferenceLine(time_limit=time_limit, n_jobs=n_jobs, random_state=seed)
    return getattr(baselines, name)(random_state=seed, n_jobs=n_jobs)


def load(folder, name):
    """The table of a set, with categories as such for every system alike, and its target."""
    index = pd.read_csv(folder / "INDEX.csv", keep_default_na=False).set_index("name")
    table = pd.read_csv(folder / index.loc[name, "file"])
    if len(table) > MAX_ROWS.get(name, np.inf):
        table = table.sample(MAX_ROWS[name], random_state=0).reset_index(drop=True)
    X, y = table.drop(columns="target"), table["target"].to_numpy()
    categories = listed(X.columns, index.loc[name, "categorical_columns"])
    return X.astype(dict.fromkeys(categories, "category")), y


def listed(names, text):
    """The names that a text lists between blanks, though they may contain blanks themselves."""
    text, found = f" {text} ", []
    for name in sorted(names, key=len, reverse=True):
        if f" {name} " in text:
            found.append(name)
            text = text.replace(f" {name} ", "  ", 1)
    return found


def size_mb(model):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.joblib"
        joblib.dump(model, path)
        return path.stat().st_size / 1e6


def row_ms(model, X, n_rows=20):
    """Median time of predicting one row, after a first call to warm up."""
    model.predict_proba(X.iloc[:1])
    times = []
    for i in range(n_rows):
        row = X.iloc[[i % len(X)]]
        start = time.perf_counter()
        model.predict_proba(row)
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def scores(model, X, y):
    probabilities = model.predict_proba(X)
    ranking = probabilities[:, 1] if len(model.classes_) == 2 else probabilities
    return {
        "roc_auc": roc_auc_score(y, ranking, multi_class="ovr", labels=model.classes_),
        "log_loss": log_loss(y, probabilities, labels=model.classes_),
        "accuracy": accuracy_score(y, model.predict(X)),
    }


def measure(system, X, y, seed, time_limit, n_jobs):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=seed
    )
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
    return scores(model, X_test, y_test) | costs


def read_results(path):
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=COLUMNS)


def append(path, record):
    line = pd.DataFrame([record], columns=COLUMNS)
    line.to_csv(path, mode="a", header=not path.exists(), index=False, float_format="%.6g")


def run(arguments):
    """Run what is asked for and not yet in the file."""
    done = {tuple(line) for line in read_results(arguments.out)[KEY].to_numpy().tolist()}
    for name in arguments.sets:
        X, y = load(arguments.data, name)
        for seed in arguments.seeds:
            for system in arguments.systems:
                key = (system, name, seed, arguments.time_limit, arguments.n_jobs)
                if key in done:
                    continue
                try:
                    outcome = measure(system, X, y, seed, arguments.time_limit, arguments.n_jobs)
                except Exception as error:
                    outcome = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
                record = dict(zip(KEY, key, strict=True)) | outcome
                append(arguments.out, record)
                print(
                    pd.Series(record).to_frame().T.to_string(header=False, index=False), flush=True
                )


def wins(table, systems, greater_is_better):
    """On how many sets each system beats the best baseline, and on how many all of them ran."""
    sign = 1 if greater_is_better else -1
    best = (sign * table[BASELINES]).max(axis=1)
    return {system: f"{(sign * table[system] > best).sum()} of {len(table)}" for system in systems}


def summarise(results):
    """Print the scores per set, and per system means, wins, overruns and median costs."""
    failed = results[results["error"].notna()]
    if len(failed):
        print(f"\nFailed\n{failed[[*KEY, 'error']].to_string(index=False)}")
    results = results[results["error"].isna()]
    if results.empty:
        return
    systems = [system for system in SYSTEMS if system in set(results["system"])]
    summary = pd.DataFrame(index=systems)
    for score in SCORES:
        per_set = results.pivot_table(index="dataset", columns="system", values=score)[systems]
        print(f"\n{score}, mean over seeds\n{per_set.round(4).to_string()}")
        complete = per_set.dropna()
        summary[f"mean_{score}"] = complete.mean()
        if set(BASELINES) <= set(systems):
            summary[f"wins_{score}"] = wins(complete, systems, score != "log_loss")
    per_set = results.groupby(["system", "dataset"])[COSTS].mean().groupby("system")
    summary["max_overrun_s"] = results.groupby("system")["overrun"].max()
    for cost in ("fit_seconds", "size_mb", "row_ms"):
        summary[f"median_{cost}"] = per_set[cost].median()
    print(
        f"\nPer system: means over the {len(complete)} sets that all of them finished; wins over"
    )
    print("the best of the four baselines on a set; medians over sets\n")
    print(summary.round(4).T.to_string())


def main():
    def names(text):
        return text.split(",")

    def numbers(text):
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--sets", type=names, default=names(SETS), help=SETS)
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2], help="0,1,2")
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds a fit")
    parser.add_argument("--systems", type=names, default=SYSTEMS, help=",".join(SYSTEMS))
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to append to")
    arguments = parser.parse_args()
    if unknown := set(arguments.systems) - set(SYSTEMS):
        parser.error(f"unknown --systems {sorted(unknown)}; choose from {SYSTEMS}")
    warnings.simplefilter("ignore")
    run(arguments)
    summarise(read_results(arguments.out))


if __name__ == "__main__":
    main()
