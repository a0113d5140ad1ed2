"""Pipelines of every kind of state, and a mixed table to fit them on."""

import numpy as np
import pandas as pd

from skauto.space import Configuration, get_space

# One pipeline of every kind of state: trees, boosters, neighbors, kernels, samplers, encoders.
CONFIGURATIONS = [
    {"encoder": "ordinal", "classifier": "lightgbm"},
    {"encoder": "one_hot", "imputer": "simple", "scaler": "robust_smooth", "classifier": "mlp"},
    {"encoder": "ordinal", "transformer": "pairs", "classifier": "lightgbm"},
    {"encoder": "target", "balancer": "smote", "imputer": "simple", "classifier": "extra_trees"},
    {
        "encoder": "one_hot",
        "imputer": "simple",
        "scaler": "standard",
        "transformer": "nystroem",
        "classifier": "logistic_regression",
    },
    {"encoder": "one_hot", "imputer": "simple", "scaler": "standard", "classifier": "svm"},
    {
        "encoder": "one_hot",
        "imputer": "simple",
        "scaler": "quantile",
        "classifier": "k_nearest_neighbors",
    },
]


def mixed_table(n_samples=120, seed=0):
    """Numbers, strings, categories and dates with missing entries, and three classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(size=n_samples),
            "city": rng.choice(["Bern", "Oslo", "Rome"], n_samples),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n_samples)),
            "day": pd.date_range("2024-01-01", periods=n_samples, freq="17h"),
            "age": rng.integers(18, 90, n_samples),
        }
    )
    X.loc[::7, "amount"] = np.nan
    X.loc[::11, "city"] = None
    signal = X["amount"].fillna(0) + (X["city"] == "Oslo") + 0.02 * X["age"]
    y = np.array(["low", "middle", "high"])[np.digitize(signal, signal.quantile([0.33, 0.66]))]
    return X, y


def full(space, choice):
    """A configuration of a space from the names of some algorithms."""
    steps = dict.fromkeys(space.steps, "none") | choice
    return Configuration(
        {
            step: (name, space.component(step, name).default_values())
            for step, name in steps.items()
        }
    )


def default_space():
    """The default space with forests of few trees."""
    space = get_space("default")
    for name in ("extra_trees", "random_forest"):
        space.add("classifier", space.component("classifier", name).vary({"n_estimators": [8]}))
    return space
