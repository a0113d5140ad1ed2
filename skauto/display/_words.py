"""Names of pipelines and statuses in plain English."""

from typing import Any

import numpy as np

from skauto.history import Trial

# Names of components that their identifier does not say. None leaves a step out: codes of
# categories are what every table has.
_WORDS: dict[str, str | None] = {
    "none": None,
    "ordinal": None,
    "one_hot": "one-hot encode",
    "target": "target-encode",
    "simple": "impute",
    "weights": "weight classes",
    "group_weights": "weight groups",
    "over_sampling": "oversample",
    "smote": "SMOTE",
    "standard": "standardize",
    "robust_smooth": "clip and scale",
    "quantile": "scale to quantiles",
    "min_max": "scale to [0, 1]",
    "pca": "PCA",
    "polynomial": "polynomials",
    "nystroem": "kernel features",
    "random_trees_embedding": "features of random trees",
    "pairs": "pairs of columns",
    "select_percentile": "select columns by a test",
    "select_extra_trees": "select columns by trees",
    "select_l1": "select columns by L1",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "svm": "SVM",
    "lda": "LDA",
    "qda": "QDA",
    "mlp": "neural network",
    "gaussian_nb": "naive Bayes",
}
_STATUSES = {
    "ok": "ok",
    "stopped": "stopped early",
    "skipped": "not started",
    "failed": "failed",
    "timeout": "out of time",
    "memout": "out of memory",
    "crashed": "process died",
}
# Statuses of trials that the search ended or left out on purpose.
INTENDED = ("ok", "stopped", "skipped")
# Classifiers whose rounds of early stopping are passes over the rows.
_BY_EPOCHS = ("mlp",)


def visible(name: Any) -> str:
    """Escape the characters of a name that do not show, such as tabs."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(name))


def named(label: Any) -> str:
    """Name a class or a column; in quotes if it is empty or has spaces at its ends."""
    name = visible(label)
    return name if name and name == name.strip() else f"'{name}'"


def as_written(label: Any) -> str:
    """Name a class or a column for matplotlib, which reads formulas between dollar signs."""
    return named(label).replace("$", r"\$")


def describe_pipeline(trial: Trial) -> str:
    """Describe a trial in words, such as "impute → LightGBM, 214 rounds"."""
    *before, classifier = trial.configuration.structure
    steps = [word_of(name) for name in before]
    text = word_of(classifier) or classifier
    if trial.rounds:
        unit = "epochs" if classifier in _BY_EPOCHS else "rounds"
        text += f", {round(float(np.mean(trial.rounds)))} {unit}"
    return " → ".join([*(step for step in steps if step), text])


def word_of(component: str) -> str | None:
    """Name of a component in words; None if it does nothing worth a word."""
    return _WORDS.get(component, component.replace("_", " "))


def status_of(trial: Trial) -> str:
    """Status of a trial in words."""
    return _STATUSES[trial.status]


def count(n: int, thing: str, things: str | None = None) -> str:
    """Write a number of things: "1 row", "1,200 rows"."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"
