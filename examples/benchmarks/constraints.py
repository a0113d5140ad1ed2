"""Models that must answer in time and treat groups alike.

Two studies; each adds one line a run to a CSV file, and what is there already is not run again::

    python examples/benchmarks/constraints.py deploy --data FOLDER --out deploy.csv --n-jobs 2
    python examples/benchmarks/constraints.py parity --data FOLDER --out parity.csv --sets adult

*deploy* limits latency and differences between groups (sex, age group, race), and compares the
ensemble of ``ConstrainedAutoClassifier`` with the best pipeline within the limits that random
search finds. *parity* limits the difference between groups in the share of positive predictions to
0.02, 0.05 and 0.1, and *opportunity* that in the true positive rate, side by side with fairlearn's
``ExponentiatedGradient`` and ``ThresholdOptimizer`` around a LightGBM that a random search of 20
draws has tuned for accuracy. "skauto-groups" has a threshold for each group, which is given at
prediction as for ``ThresholdOptimizer``. Some rows train, all the others are held out. ``compare``
prints where skauto is at least as accurate as the best fairlearn model that keeps the limit on the
held-out rows. FOLDER is that of ``quality.py``.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
from _common import Results, load, make_parser, names, numbers, require_data
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV, train_test_split

from skauto import ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import (
    EqualOpportunity,
    Evidence,
    GroupDisparity,
    PredictionLatency,
    StatisticalParity,
)
from skauto.model._groups import group_codes

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
# Between whose groups the share of positive labels is to differ little.
SENSITIVE = {
    "adult": "sex",
    "compas": "race",
    "default_credit_card": "sex",
    "bank-additional": "age_group",
}
PARITY_LIMITS = [0.02, 0.05, 0.1]
N_BOOTSTRAP = 30
# The settings of LightGBM that won on a split, by set and seed.
TUNED = {}


def read(folder, name):
    """Table, labels and sensitive features; only the two most frequent races are by themselves."""
    X, y = load(folder, name, max_rows=np.inf)
    columns = {column.lower(): X[column] for column in X.columns}
    sensitive = pd.DataFrame({"age_group": pd.cut(columns["age"], AGES).astype(str)})
    if "sex" in columns:
        sensitive["sex"] = columns["sex"].astype(str)
    if "race" in columns:
        race = columns["race"].astype(str)
        common = race.value_counts().index[:2]
        sensitive["race"] = race.where(race.isin(common), "other")
    return X, y, sensitive


class Task:
    """One split of a data set."""

    def __init__(self, options, name, seed):
        X, y, sensitive = read(options.data, name)
        n_train = min(options.rows, int(0.7 * len(y)))
        train, test = train_test_split(
            np.arange(len(y)), train_size=n_train, stratify=y, random_state=seed
        )
        self.classes, self.codes = np.unique(y, return_inverse=True)
        self.X_train, self.y_train, self.groups_train = (
            X.iloc[train],
            y[train],
            sensitive.iloc[train],
        )
        self.X_test, self.y_test = X.iloc[test], self.codes[test]
        self.codes_train, self.features_test = self.codes[train], sensitive.iloc[test]
        columns = [f"column_{i}" for i in range(X.shape[1])]  # LightGBM takes no names of text
        self.numbered_train = self.X_train.set_axis(columns, axis=1)
        self.numbered_test = self.X_test.set_axis(columns, axis=1)
        self.groups_test = {n: group_codes(sensitive[n], n)[test] for n in sensitive}

    def held_out(self, probabilities, model=None, decision=None):
        """What constraints are measured on, for held-out rows."""
        return Evidence(
            probabilities,
            self.y_test,
            self.classes,
            self.groups_test,
            self.X_test,
            model,
            decision,
        )


def search(options, task, constraints, strategy, seed):
    """Fit the classifier."""
    clf = classifier(options, constraints, strategy, seed)
    return clf.fit(task.X_train, task.y_train, sensitive_features=task.groups_train)


def classifier(options, constraints, strategy, seed, **settings):
    """Classifier that keeps the out-of-fold predictions of the trials."""
    return ConstrainedAutoClassifier(
        constraints,
        strategy=strategy,
        time_limit=None if options.trials else options.seconds,
        max_evals=options.trials,
        options=SearchOptions(
            trial_time_limit=None if options.trials else options.seconds / 6, warm_start=True
        ),
        cv=options.folds,
        n_jobs=options.n_jobs,
        random_state=seed,
        **settings,
    )


def sampling_error(constraint, evidence, error, rng):
    """Standard error of the difference between the value on the folds and on held-out rows.

    That of the mean over the folds, and that over bootstrap samples of the held-out rows (over
    repeated measurements for seconds).
    """
    n = len(evidence.y)
    draws = (rng.integers(n, size=n) for _ in range(N_BOOTSTRAP))
    values = [constraint.measure(evidence.take(rows)) for rows in draws]
    return np.hypot(error, np.std(values))


def deploy(options, name, seed, strategy, _):
    """Search within the limits of a set, and measure again on the held-out rows."""
    task = Task(options, name, seed)
    clf = search(options, task, LIMITS[name], strategy, seed)
    history = clf.history_
    drawn = [trial for trial in history if trial.ok and trial.origin == "random"]
    out_of_fold = sum(w * history[n].predictions for n, w in clf.member_weights_.items())
    probabilities, decision = clf.ensemble_.read(task.X_test)
    held_out = task.held_out(probabilities, clf, decision)
    best = clf.best_estimator_.predict(task.X_test)
    record = {
        "trials": len(history),
        "feasible_trials": sum(history.feasible(trial) for trial in history),
        "random_share": np.mean([history.feasible(trial) for trial in drawn] or np.nan),
        "members": len(clf.member_weights_),
        "feasible": clf.feasible_,
        "accuracy_cv": np.mean(clf.classes_[out_of_fold.argmax(axis=1)] == task.y_train),
        "accuracy": np.mean(held_out.labels == task.y_test),
        "best_accuracy_cv": clf.best_score_,
        "best_accuracy": np.mean(best == task.classes[task.y_test]),
    }
    table = clf.constraint_values_.query("model == 'ensemble'").set_index("constraint")
    rng = np.random.default_rng(seed)
    for constraint in LIMITS[name]:
        row = table.loc[constraint.key]
        value = constraint.measure(held_out)
        error = sampling_error(constraint, held_out, row["error"], rng)
        record |= {
            f"{constraint.key} cv": row["value"],
            f"{constraint.key} held-out": value,
            f"{constraint.key} errors above": (value - constraint.limit) / error,
        }
    return record


def parity(options, name, seed, system, limit):
    """At a limit of statistical parity."""
    return within(options, name, seed, system, StatisticalParity(SENSITIVE[name], limit))


def opportunity(options, name, seed, system, limit):
    """At a limit of equal opportunity."""
    return within(options, name, seed, system, EqualOpportunity(SENSITIVE[name], limit))


def within(options, name, seed, system, constraint):
    """Accuracy and value of the constraint on the held-out rows."""
    task = Task(options, name, seed)
    record = {}
    if system.startswith("skauto"):
        if system == "skauto":
            clf = search(options, task, [constraint], options.strategy, seed)
            predicted = clf.predict(task.X_test)
        else:
            clf, predicted = group_thresholds(options, task, constraint, seed)
        labels = np.searchsorted(task.classes, predicted)
        frame = clf.constraint_values_.set_index("model")
        record = {
            "trials": len(clf.history_),
            "feasible": clf.feasible_,
            "value_cv": frame.loc["ensemble", "value"],
            "best_accuracy_cv": clf.best_score_,
        }
    else:
        model = tuned_lightgbm(task, name, seed)
        labels = RIVALS[system](model, task, constraint, seed)
    held_out = task.held_out(np.eye(2)[np.asarray(labels, dtype=int)])
    return record | {
        "accuracy": np.mean(held_out.labels == held_out.y),
        "value": constraint.measure(held_out),
    }


def group_thresholds(options, task, constraint, seed):
    """Fit with a threshold for each group, which is a column of the table but no feature."""
    feature = constraint.sensitive_names[0]
    clf = classifier(
        options,
        [clone(constraint).set_params(sensitive="group")],
        options.strategy,
        seed,
        decision="group_thresholds",
        column_kinds={"group": "drop"},
    )
    clf.fit(task.X_train.assign(group=task.groups_train[feature]), task.y_train)
    return clf, clf.predict(task.X_test.assign(group=task.features_test[feature]))


def tuned_lightgbm(task, name, seed):
    """LightGBM with the most accurate of 20 random settings by three folds."""
    from lightgbm import LGBMClassifier

    settings = {
        "learning_rate": [0.02, 0.04, 0.08],
        "n_estimators": [100, 200, 400],
        "num_leaves": [8, 16, 31, 64],
        "min_child_samples": [5, 20, 40, 80],
        "colsample_bytree": [0.5, 0.75, 1.0],
        "reg_lambda": [0.0, 1.0, 10.0],
    }
    model = LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
    if (name, seed) not in TUNED:
        tuning = RandomizedSearchCV(model, settings, n_iter=20, cv=3, random_state=seed)
        tuning.fit(task.numbered_train, task.codes_train)
        TUNED[name, seed] = tuning.best_params_
    return model.set_params(**TUNED[name, seed])


def plain(model, task, constraint, seed):
    """Labels of LightGBM without a limit."""
    return model.fit(task.numbered_train, task.codes_train).predict(task.numbered_test)


def exponentiated_gradient(model, task, constraint, seed, share=1.0):
    """Labels of the randomized classifier, one draw a row.

    Its bound is for the distance of each group from all rows: two groups may be twice as far
    apart. With half the bound they are held to the limit.
    """
    from fairlearn.reductions import (
        DemographicParity,
        ExponentiatedGradient,
        TruePositiveRateParity,
    )

    moment = DemographicParity if _is_parity(constraint) else TruePositiveRateParity
    reduction = ExponentiatedGradient(model, moment(difference_bound=share * constraint.limit))
    groups = task.groups_train[constraint.sensitive_names[0]]
    reduction.fit(task.numbered_train, task.codes_train, sensitive_features=groups)
    return reduction.predict(task.numbered_test, random_state=seed)


def exponentiated_gradient_half(model, task, constraint, seed):
    """With half the bound."""
    return exponentiated_gradient(model, task, constraint, seed, share=0.5)


def threshold_optimizer(model, task, constraint, seed):
    """Labels by thresholds for each group, which is given at prediction; randomized too."""
    from fairlearn.postprocessing import ThresholdOptimizer

    optimizer = ThresholdOptimizer(
        estimator=model,
        constraints="demographic_parity"
        if _is_parity(constraint)
        else "true_positive_rate_parity",
        predict_method="predict_proba",
        tol=constraint.limit,
    )
    feature = constraint.sensitive_names[0]
    groups = task.groups_train[feature]
    optimizer.fit(task.numbered_train, task.codes_train, sensitive_features=groups)
    return optimizer.predict(
        task.numbered_test, sensitive_features=task.features_test[feature], random_state=seed
    )


def _is_parity(constraint):
    return type(constraint) is StatisticalParity


RIVALS = {
    "lightgbm": plain,
    "fairlearn": exponentiated_gradient,
    "fairlearn-half": exponentiated_gradient_half,
    "threshold-optimizer": threshold_optimizer,
}


def compare(frame):
    """Print skauto beside the best fairlearn model that keeps the limit on the held-out rows."""
    lines = []
    for (name, seed, limit), runs in frame.groupby(["set", "seed", "limit"]):
        runs = runs.set_index("system")
        if "skauto" not in runs.index:
            continue
        rivals = runs.drop(["skauto", "skauto-groups", "lightgbm"], errors="ignore")
        within_limit = rivals[rivals["value"] <= limit]
        best = within_limit["accuracy"].max()
        ours = runs.loc["skauto"]
        lines.append(
            {
                "set": name,
                "seed": seed,
                "limit": limit,
                "skauto": ours["accuracy"],
                "value": ours["value"],
                "fairlearn": best,
                "which": within_limit["accuracy"].idxmax() if len(within_limit) else "none",
                "difference": ours["accuracy"] - best,
            }
        )
    print(pd.DataFrame(lines).round(4).to_string(index=False))


def draw(frame, path):
    """Held-out accuracy over held-out difference between the sexes, mean of the seeds."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
    for system, runs in frame.groupby("system"):
        means = runs.groupby("limit")[["value", "accuracy"]].mean()
        ax.plot(means["value"], means["accuracy"], "o-", label=system)
        for limit, (gap, accuracy) in means.iterrows():
            ax.annotate(f" {limit:g}", (gap, accuracy), va="top")
    ax.set(xlabel="difference between groups", ylabel="accuracy")
    ax.legend()
    figure.savefig(path, dpi=80)


SYSTEMS = ["skauto", "skauto-groups", *RIVALS]
STUDIES = {
    "deploy": (deploy, list(LIMITS), ["admm", "random"], [np.nan]),
    "parity": (parity, list(SENSITIVE), SYSTEMS, PARITY_LIMITS),
    "opportunity": (opportunity, list(SENSITIVE), SYSTEMS, PARITY_LIMITS),
}
KEY = ["set", "seed", "system", "limit", "rows", "seconds"]


def main():
    parser = make_parser(__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--out", type=Path, required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=names, help="default: all of the study")
    parser.add_argument("--seeds", type=numbers, default=[0, 1])
    parser.add_argument("--systems", type=names)
    parser.add_argument("--limits", type=lambda text: [float(part) for part in names(text)])
    parser.add_argument("--rows", type=int, default=10_000, help="that train")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0, help="of every search")
    parser.add_argument("--trials", type=int, help="of every search, in place of seconds")
    parser.add_argument(
        "--strategy", default="auto", help="of the searches of parity and opportunity"
    )
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="PNG file of accuracy over the limited value")
    options = parser.parse_args()
    require_data(parser, options)
    run, sets, systems, limits = STUDIES[options.study]
    results = Results(options.out, KEY)
    limits = options.limits or limits
    wanted = options.sets or sets, options.seeds, options.systems or systems, limits
    for key in results.missing(*wanted, [options.rows], [options.seconds]):
        started = time.perf_counter()
        record = run(options, *key[:4])
        results.add(key, record | {"fit_and_measure": time.perf_counter() - started})
    if options.study != "deploy":
        compare(results.frame)
    if options.plot:
        draw(results.frame, options.plot)


if __name__ == "__main__":
    main()
