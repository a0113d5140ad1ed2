"""A mixed table and a search on it, for every way out."""

import numpy as np
import pandas as pd
import pytest

from skauto import AutoClassifier
from skauto.evaluation import PipelineBuilder
from skauto.model import PipelineEnsemble
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


@pytest.fixture(scope="session")
def table():
    """Rows to fit on."""
    return mixed_table()


@pytest.fixture(scope="session")
def automl(table):
    """A search whose ensemble has all the pipelines as members."""
    X, y = table
    space = get_space("default")
    initial = [full(space, choice) for choice in CONFIGURATIONS]
    automl = AutoClassifier(initial=initial, max_evals=len(initial), cv=0.5, random_state=0)
    automl.fit(X, y)
    assert set(automl.history_.counts()) == {"ok"}
    return automl


@pytest.fixture(scope="session")
def ensemble(table, automl):
    """A ensemble of all the pipelines, whatever the search selected."""
    X, y = table
    reader = automl.ensemble_.reader
    space = default_space()
    builder = PipelineBuilder(
        space, categorical=reader.categorical_indices_, n_levels=reader.n_levels_
    )
    Z = reader.transform(X)
    members = [builder.fit(full(space, choice), Z, y) for choice in CONFIGURATIONS]
    weights = np.arange(1, len(members) + 1) / sum(range(1, len(members) + 1))
    return PipelineEnsemble(reader, members, weights, np.unique(y))
