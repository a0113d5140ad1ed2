"""Models that must answer in time and treat groups alike: adult and default_credit_card.

Two studies; each adds one line a run to a CSV file, and what is there already is not run again::

    python examples/benchmarks/constraints.py deploy --data FOLDER --out deploy.csv --n-jobs 2
    python examples/benchmarks/constraints.py parity --data FOLDER --out parity.csv --sets adult

*deploy* limits latency and differences between groups (sex, age group, race), and compares the
ensemble of ``ConstrainedAutoClassifier`` with the best pipeline within the limits that random
search finds. *parity* limits the difference between the sexes in the share of positive predictions
to 0.02, 0.05 and 0.1, side by side with fairlearn's ``ExponentiatedGradient`` around LightGBM as
it comes. Some rows train, all the others are held out. FOLDER is that of ``quality.py``.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
from _common import Results, load, make_parser, names, numbers, require_data
from scipy.stats import rankdata
from sklearn.model_selection import train_test_split

from skauto import ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import (
    Evidence,
    GroupDisparity,
    PredictionLatency,
    StatisticalParity,
    group_codes,
)

AGES = [0, 30, 40, 50, 120]


def roc_auc(estimator, X, y):
    """Area under the ROC curve from ranks: as scikit-learn's scorer, in a tenth of its time.

    Selecting an ensemble asks for it a thousand times, for every fold and group.
    """
    positive = y == estimator.classes_[1]
    n = positive.sum()
    if n in (0, len(y)):
        return np.nan
    above = rankdata(estimator.predict_proba(X)[:, 1])[positive].sum() - n * (n + 1) / 2
    return above / (n * (len(y) - n))


# Limits that fewer than a fifth of random pipelines keep all together.
LIMITS = {
    "adult": [
        PredictionLatency(100e-6),
        StatisticalParity("sex", 0.12),
        GroupDisparity("age_group", metric=roc_auc, upper=0.08),
        GroupDisparity("race", metric=roc_auc, upper=0.06),
    ],
    "default_credit_card": [
        PredictionLatency(100e-6),
        StatisticalParity("sex", 0.02),
        GroupDisparity("age_group", metric=roc_auc, upper=0.075),
    ],
}
PARITY_LIMITS = [0.02, 0.05, 0.1]
N_BOOTSTRAP = 30


def read(folder, name):
    """Table, labels and sensitive features; the rare races of adult are one group."""
    X, y = load(folder, name, max_rows=np.inf)
    columns = {column.lower(): X[column] for column in X.columns}
    sensitive = pd.DataFrame({"sex": columns["sex"].astype(str)})
    sensitive["age_group"] = pd.cut(columns["age"], AGES).astype(str)
    if "race" in columns:
        race = columns["race"].astype(str)
        sensitive["race"] = race.where(race.isin(["White", "Black"]), "other")
    return X, y, sensitive


class Task:
    """One split of a data set."""

    def __init__(self, options, name, seed):
        X, y, sensitive = read(options.data, name)
        train, test = train_test_split(
            np.arange(len(y)), train_size=options.rows, stratify=y, random_state=seed
        )
        self.classes, self.codes = np.unique(y, return_inverse=True)
        self.X_train, self.y_train, self.groups_train = (
            X.iloc[train],
            y[train],
            sensitive.iloc[train],
        )
        self.X_test, self.y_test = X.iloc[test], self.codes[test]
        self.groups_test = {n: group_codes(sensitive[n], n)[test] for n in sensitive}

    def held_out(self, probabilities, model=None, rows=slice(None)):
        """What constraints are measured on, for held-out rows."""
        groups = {name: codes[rows] for name, codes in self.groups_test.items()}
        return Evidence(
            probabilities[rows], self.y_test[rows], self.classes, groups, self.X_test, model
        )


def search(options, task, constraints, strategy, seed):
    """Fit the classifier; keep the out-of-fold predictions of the trials."""
    clf = ConstrainedAutoClassifier(
        constraints,
        strategy=strategy,
        time_limit=options.seconds,
        options=SearchOptions(trial_time_limit=options.seconds / 6, warm_start=True),
        cv=options.folds,
        n_jobs=options.n_jobs,
        random_state=seed,
    )
    return clf.fit(task.X_train, task.y_train, sensitive_features=task.groups_train)


def sampling_error(task, constraint, probabilities, clf, error, rng):
    """Standard error of the difference between the value on the folds and on held-out rows.

    That of the mean over the folds, and that over bootstrap samples of the held-out rows (over
    repeated measurements for seconds).
    """
    n = len(task.y_test)
    draws = (rng.integers(n, size=n) for _ in range(N_BOOTSTRAP))
    values = [constraint.measure(task.held_out(probabilities, clf, rows)) for rows in draws]
    return np.hypot(error, np.std(values))


def deploy(options, name, seed, strategy, _):
    """Search within the limits of a set, and measure again on the held-out rows."""
    task = Task(options, name, seed)
    clf = search(options, task, LIMITS[name], strategy, seed)
    history = clf.history_
    drawn = [trial for trial in history if trial.ok and trial.origin == "random"]
    out_of_fold = sum(w * history[n].predictions for n, w in clf.member_weights_.items())
    probabilities = clf.predict_proba(task.X_test)
    best = clf.best_estimator_.predict(task.X_test)
    record = {
        "trials": len(history),
        "feasible_trials": sum(history.feasible(trial) for trial in history),
        "random_share": np.mean([history.feasible(trial) for trial in drawn] or np.nan),
        "members": len(clf.member_weights_),
        "feasible": clf.feasible_,
        "accuracy_cv": np.mean(clf.classes_[out_of_fold.argmax(axis=1)] == task.y_train),
        "accuracy": np.mean(probabilities.argmax(axis=1) == task.y_test),
        "best_accuracy_cv": clf.best_score_,
        "best_accuracy": np.mean(best == task.classes[task.y_test]),
    }
    table = clf.constraint_values_.query("model == 'ensemble'").set_index("constraint")
    rng = np.random.default_rng(seed)
    for constraint in LIMITS[name]:
        row = table.loc[constraint.key]
        value = constraint.measure(task.held_out(probabilities, clf))
        error = sampling_error(task, constraint, probabilities, clf, row["error"], rng)
        record |= {
            f"{constraint.key} cv": row["value"],
            f"{constraint.key} held-out": value,
            f"{constraint.key} errors above": (value - constraint.limit) / error,
        }
    return record


def parity(options, name, seed, system, limit):
    """Accuracy and violation on the held-out rows at a limit of statistical parity."""
    task = Task(options, name, seed)
    constraint = StatisticalParity("sex", limit)
    if system.startswith("fairlearn"):
        bound = limit / 2 if system == "fairlearn-half" else limit
        probabilities, record = exponentiated_gradient(task, bound, seed), {}
    else:
        clf = search(options, task, [constraint], "admm", seed)
        probabilities = clf.predict_proba(task.X_test)
        frame = clf.constraint_values_.set_index("model")
        record = {
            "trials": len(clf.history_),
            "feasible": clf.feasible_,
            "parity_cv": frame.loc["ensemble", "value"],
            "best_accuracy_cv": clf.best_score_,
        }
    held_out = task.held_out(probabilities)
    return record | {
        "accuracy": np.mean(held_out.labels == held_out.y),
        "parity": constraint.measure(held_out),
    }


def exponentiated_gradient(task, bound, seed):
    """Predictions of the randomised classifier, one draw a row, as probabilities of 0 and 1.

    Its bound is for the distance of each group from all rows: two groups may be twice as far
    apart. With half the bound they are held to the limit.
    """
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    from lightgbm import LGBMClassifier

    names = [f"column_{i}" for i in range(task.X_train.shape[1])]
    codes = np.searchsorted(task.classes, task.y_train)
    model = ExponentiatedGradient(
        LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1),
        DemographicParity(difference_bound=bound),
    )
    model.fit(
        task.X_train.set_axis(names, axis=1), codes, sensitive_features=task.groups_train["sex"]
    )
    labels = model.predict(task.X_test.set_axis(names, axis=1), random_state=seed)
    return np.eye(2)[np.asarray(labels, dtype=int)]


def draw(frame, path):
    """Held-out accuracy over held-out difference between the sexes, mean of the seeds."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
    for system, runs in frame.groupby("system"):
        means = runs.groupby("limit")[["parity", "accuracy"]].mean()
        ax.plot(means["parity"], means["accuracy"], "o-", label=system)
        for limit, (gap, accuracy) in means.iterrows():
            ax.annotate(f" {limit:g}", (gap, accuracy), va="top")
    ax.set(xlabel="difference in the share of positive predictions", ylabel="accuracy")
    ax.legend()
    figure.savefig(path, dpi=80)


STUDIES = {
    "deploy": (deploy, ["admm", "random"], [np.nan]),
    "parity": (parity, ["skauto", "fairlearn", "fairlearn-half"], PARITY_LIMITS),
}
KEY = ["set", "seed", "system", "limit", "rows", "seconds"]


def main():
    parser = make_parser(__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--out", type=Path, required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=names, default=list(LIMITS))
    parser.add_argument("--seeds", type=numbers, default=[0, 1])
    parser.add_argument("--systems", type=names)
    parser.add_argument("--rows", type=int, default=10_000, help="that train")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0, help="of every search")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="PNG file for the results of parity")
    options = parser.parse_args()
    require_data(parser, options)
    run, systems, limits = STUDIES[options.study]
    results = Results(options.out, KEY)
    wanted = options.sets, options.seeds, options.systems or systems, limits
    for key in results.missing(*wanted, [options.rows], [options.seconds]):
        started = time.perf_counter()
        record = run(options, *key[:4])
        results.add(key, record | {"fit_and_measure": time.perf_counter() - started})
    if options.plot:
        draw(results.frame, options.plot)


if __name__ == "__main__":
    main()
