"""Ensembles that treat groups alike, beside fairlearn.

*parity* limits the difference between groups in the share of positive predictions to 0.02, 0.05
and 0.1, and *opportunity* that in the true positive rate; fairlearn's ``ExponentiatedGradient``
and ``ThresholdOptimizer`` have a LightGBM that a random search of 20 draws has tuned for accuracy.
Some rows train, all the others are held out. One line a run is added to a CSV file, and what is
there already is not run again::

    python examples/benchmarks/constraints.py parity --data FOLDER --out parity.csv --sets adult

At the end the script prints where skauto is at least as accurate as the best fairlearn model that
keeps the limit on the held-out rows. FOLDER is that of ``quality.py``.
"""

import time
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from _common import Results, load, make_parser, names, numbers, require_data
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, TruePositiveRateParity
from lightgbm import LGBMClassifier
from sklearn.model_selection import RandomizedSearchCV, train_test_split

from skauto import ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import EqualOpportunity, Evidence, StatisticalParity
from skauto.model._groups import group_codes

AGES = [0, 30, 40, 50, 120]
# Between whose groups there is to be little difference.
SENSITIVE = {
    "adult": "sex",
    "compas": "race",
    "default_credit_card": "sex",
    "bank-additional": "age",
}
# The limited difference, and what it is called by the two methods of fairlearn.
STUDIES = {
    "parity": (StatisticalParity, DemographicParity, "demographic_parity"),
    "opportunity": (EqualOpportunity, TruePositiveRateParity, "true_positive_rate_parity"),
}
SETTINGS = {
    "learning_rate": [0.02, 0.04, 0.08],
    "n_estimators": [100, 200, 400],
    "num_leaves": [8, 16, 31, 64],
    "min_child_samples": [5, 20, 40, 80],
    "colsample_bytree": [0.5, 0.75, 1.0],
    "reg_lambda": [0.0, 1.0, 10.0],
}
KEY = ["set", "seed", "system", "limit", "rows", "seconds"]


def read(folder, name):
    """Table, labels and group of each row; only the two most frequent races are by themselves."""
    X, y = load(folder, name, max_rows=np.inf)
    feature = SENSITIVE[name]
    column = X.rename(columns=str.lower)[feature]
    if feature == "age":
        column = pd.cut(column, AGES)
    groups = column.astype(str).rename(feature)
    if feature == "race":
        groups = groups.where(groups.isin(groups.value_counts().index[:2]), "other")
    return X, y, groups


class Task:
    """One split of a data set."""

    def __init__(self, folder, name, seed, n_rows):
        X, y, groups = read(folder, name)
        train, test = train_test_split(
            np.arange(len(y)),
            train_size=min(n_rows, int(0.7 * len(y))),
            stratify=y,
            random_state=seed,
        )
        self.seed, self.feature = seed, groups.name
        self.classes, codes = np.unique(y, return_inverse=True)
        self.X_train, self.X_test = X.iloc[train], X.iloc[test]
        self.y_train, self.y_test = codes[train], codes[test]
        self.groups_train, self.groups_test = groups.iloc[train], groups.iloc[test]
        self.codes_test = group_codes(groups, groups.name)[test]

    def numbered(self):
        """The two tables without names of columns, which LightGBM may refuse."""
        columns = [f"column_{i}" for i in range(self.X_train.shape[1])]
        return self.X_train.set_axis(columns, axis=1), self.X_test.set_axis(columns, axis=1)

    def held_out(self, codes):
        """Predicted classes and all that a constraint is measured on, for held-out rows."""
        groups = {self.feature: self.codes_test}
        probabilities = np.eye(2)[np.asarray(codes, dtype=int)]
        return Evidence(probabilities, self.y_test, self.classes, groups)


def skauto(options, task, limit):
    """Labels of the ensemble within the limit, and what the search says of it."""
    by_seconds = options.trials is None
    constraint = STUDIES[options.study][0](task.feature, limit)
    clf = ConstrainedAutoClassifier(
        [constraint],
        time_limit=options.seconds if by_seconds else None,
        max_evals=options.trials,
        options=SearchOptions(
            trial_time_limit=options.seconds / 6 if by_seconds else None, warm_start=True
        ),
        cv=3,
        n_jobs=options.n_jobs,
        random_state=task.seed,
    ).fit(task.X_train, task.classes[task.y_train], sensitive_features=task.groups_train)
    values = clf.constraint_values_.set_index("model")["value"]
    record = {
        "trials": len(clf.history_),
        "feasible": clf.feasible_,
        "value_cv": values["ensemble"],
        "best_accuracy_cv": clf.best_score_,
    }
    return np.searchsorted(task.classes, clf.predict(task.X_test)), record


@cache
def tuned(task):
    """LightGBM with the most accurate of 20 random settings by three folds."""
    model = LGBMClassifier(random_state=task.seed, n_jobs=1, verbose=-1)
    tuning = RandomizedSearchCV(
        model, SETTINGS, n_iter=20, cv=3, random_state=task.seed, refit=False
    )
    tuning.fit(task.numbered()[0], task.y_train)
    return model.set_params(**tuning.best_params_)


def exponentiated_gradient(options, task, limit):
    """Labels of the randomized classifier, one draw a row.

    Its bound is for the distance of each group from all rows: two groups may be twice as far
    apart.
    """
    train, test = task.numbered()
    moment = STUDIES[options.study][1](difference_bound=limit)
    reduction = ExponentiatedGradient(tuned(task), moment)
    reduction.fit(train, task.y_train, sensitive_features=task.groups_train)
    return reduction.predict(test, random_state=task.seed), {}


def threshold_optimizer(options, task, limit):
    """Labels by thresholds for each group, which is given at prediction; randomized too."""
    train, test = task.numbered()
    optimizer = ThresholdOptimizer(
        estimator=tuned(task),
        constraints=STUDIES[options.study][2],
        predict_method="predict_proba",
        tol=limit,
    )
    optimizer.fit(train, task.y_train, sensitive_features=task.groups_train)
    predicted = optimizer.predict(
        test, sensitive_features=task.groups_test, random_state=task.seed
    )
    return predicted, {}


SYSTEMS = {
    "skauto": skauto,
    "fairlearn": exponentiated_gradient,
    "threshold-optimizer": threshold_optimizer,
}


def compare(frame):
    """Print skauto beside the best fairlearn model that keeps the limit on the held-out rows."""
    runs = frame.set_index(["set", "seed", "limit"])
    ours = runs[runs["system"] == "skauto"]
    rivals = runs[(runs["system"] != "skauto") & (runs["value"] <= runs.index.get_level_values(2))]
    best = rivals.sort_values("accuracy", ascending=False, kind="stable")
    best = best[~best.index.duplicated()].reindex(ours.index)
    table = ours[["accuracy", "value"]].rename(columns={"accuracy": "skauto"})
    table = table.assign(fairlearn=best["accuracy"], which=best["system"].fillna("none"))
    table["difference"] = table["skauto"] - table["fairlearn"]
    print(table.sort_index().round(4).reset_index().to_string(index=False))


def main():
    parser = make_parser(__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--out", type=Path, required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=names, default=list(SENSITIVE))
    parser.add_argument("--seeds", type=numbers, default=[0, 1])
    parser.add_argument("--systems", type=names, default=list(SYSTEMS))
    parser.add_argument(
        "--limits", type=lambda text: [*map(float, names(text))], default=[0.02, 0.05, 0.1]
    )
    parser.add_argument("--rows", type=int, default=10_000, help="that train")
    parser.add_argument("--seconds", type=float, default=60.0, help="of every search")
    parser.add_argument("--trials", type=int, help="of every search, in place of seconds")
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
    require_data(parser, options)
    results = Results(options.out, KEY)
    task_of = cache(lambda name, seed: Task(options.data, name, seed, options.rows))
    wanted = options.sets, options.seeds, options.systems, options.limits
    for key in results.missing(*wanted, [options.rows], [options.seconds]):
        name, seed, system, limit, *_ = key
        started, task = time.perf_counter(), task_of(name, seed)
        labels, record = SYSTEMS[system](options, task, limit)
        seconds = time.perf_counter() - started
        held_out = task.held_out(labels)
        record["accuracy"] = np.mean(held_out.labels == held_out.y)
        record["value"] = STUDIES[options.study][0](task.feature, limit).measure(held_out)
        results.add(key, record | {"fit_seconds": seconds})
    compare(results.frame)


if __name__ == "__main__":
    main()
