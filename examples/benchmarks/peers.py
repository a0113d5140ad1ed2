"""Fit another AutoML system in an environment of its own; `quality.py` calls this.

It needs pandas and the system, not skauto::

    python peers.py autogluon_best FOLDER --time-limit 30 --seed 0 --n-jobs 2

FOLDER holds ``train.csv``, whose column ``target`` is the class, and ``test.csv`` without it.
``probabilities.csv`` of the test rows, a column a class, and ``costs.json`` are written there.
``--latency-limit`` is in seconds per row.
"""

import argparse
import json
import pickle
import statistics
import time
from pathlib import Path

import pandas as pd

N_ROWS_TIMED = 20
BATCH_SIZE, N_BATCHES = 100, 7


class AutoGluon:
    """AutoGluon's tabular predictor with one of its presets."""

    def __init__(self, preset, folder, seed, n_jobs, latency_limit):
        from autogluon.tabular import TabularPredictor

        self.make, self.preset, self.folder = TabularPredictor, preset, folder / "autogluon"
        self.seed, self.n_jobs = seed, n_jobs
        self.limits = {}
        if latency_limit is not None:
            self.limits = {
                "infer_limit": latency_limit,
                "infer_limit_batch_size": BATCH_SIZE,
                "dynamic_stacking": False,  # raises an error if the limit cannot be kept
            }

    def fit(self, train, time_limit):
        binary = train["target"].nunique() == 2
        self.model = self.make(
            label="target",
            eval_metric="roc_auc" if binary else "roc_auc_ovr_macro",
            problem_type="binary" if binary else "multiclass",
            path=str(self.folder),
            verbosity=1,
            learner_kwargs={"random_state": self.seed},
        )
        self.model.fit(
            train,
            time_limit=time_limit,
            presets=self.preset,
            num_cpus=self.n_jobs,
            num_gpus=0,
            **self.limits,
        )

    def predict_proba(self, X):
        return self.model.predict_proba(X)

    def size(self):
        deployed = Path(self.model.clone_for_deployment(str(self.folder) + "-deployed"))
        return sum(file.stat().st_size for file in deployed.rglob("*") if file.is_file())


class Flaml:
    """FLAML's AutoML."""

    def __init__(self, preset, folder, seed, n_jobs, latency_limit):
        from flaml import AutoML

        self.model, self.seed, self.n_jobs = AutoML(), seed, n_jobs
        self.limits = {} if latency_limit is None else {"pred_time_limit": latency_limit}

    def fit(self, train, time_limit):
        y = train["target"]
        self.model.fit(
            train.drop(columns="target"),
            y,
            task="classification",
            metric="roc_auc" if y.nunique() == 2 else "roc_auc_ovr",
            time_budget=time_limit,
            n_jobs=self.n_jobs,
            seed=self.seed,
            verbose=0,
            **self.limits,
        )

    def predict_proba(self, X):
        return pd.DataFrame(self.model.predict_proba(X), columns=self.model.classes_)

    def size(self):
        return len(pickle.dumps(self.model))


PEERS = {
    "autogluon_best": (AutoGluon, "best_quality"),
    "autogluon_best_v150": (AutoGluon, "best_quality_v150"),
    "flaml": (Flaml, None),
}


def seconds_of(model, batches):
    """Median seconds of predicting some batches, after a first call to warm up."""
    model.predict_proba(batches[0])
    times = []
    for batch in batches:
        start = time.perf_counter()
        model.predict_proba(batch)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def row_ms(model, X):
    """Milliseconds of predicting one row."""
    return 1000 * seconds_of(model, [X.iloc[[i % len(X)]] for i in range(N_ROWS_TIMED)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", choices=PEERS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--time-limit", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--n-jobs", type=int, required=True)
    parser.add_argument("--latency-limit", type=float)
    arguments = parser.parse_args()
    train, test = (pd.read_csv(arguments.folder / f"{part}.csv") for part in ("train", "test"))
    build, preset = PEERS[arguments.system]
    model = build(
        preset, arguments.folder, arguments.seed, arguments.n_jobs, arguments.latency_limit
    )
    start = time.perf_counter()
    model.fit(train, arguments.time_limit)
    seconds = time.perf_counter() - start
    model.predict_proba(test).to_csv(arguments.folder / "probabilities.csv", index=False)
    batch = test.iloc[[i % len(test) for i in range(BATCH_SIZE)]]
    costs = {
        "fit_seconds": seconds,
        "overrun": max(0.0, seconds - arguments.time_limit),
        "size_mb": model.size() / 1e6,
        "row_ms": row_ms(model, test),
        "batch_row_s": seconds_of(model, [batch] * N_BATCHES) / BATCH_SIZE,
    }
    (arguments.folder / "costs.json").write_text(json.dumps(costs))


if __name__ == "__main__":
    main()
