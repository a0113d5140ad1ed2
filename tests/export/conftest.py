"""A mixed table and a search on it, for every way out."""

import numpy as np
import pandas as pd
import pytest

from skauto import AutoClassifier
from skauto.evaluation import PipelineBuilder
from skauto.model import PipelineEnsemble
from skauto.space import get_space
from tests.export.pipelines import CONFIGURATIONS, default_space, full, mixed_table


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


@pytest.fixture
def every_kind(rng):
    """A table with columns of every kind that is found, and missing cells."""
    n = 240
    days = pd.date_range("2024-01-01", periods=n, freq="17h")
    words = ["red", "green", "blue", "dark", "light", "old", "new", "round", "flat"]
    names = [f"{a}{b}{c}" for a in words for b in words for c in words]
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n).round(3),
            "price": [f"${value:.2f}" for value in rng.lognormal(size=n)],
            "flag": rng.choice([True, False], n),
            "answer": rng.choice(["yes", "no"], n),
            "day": days,
            "date": days.strftime("%d/%m/%Y"),
            "color": rng.choice(words[:3], n),
            "size": pd.Categorical(rng.choice(["s", "m", "1"], n)),
            "floor": pd.Categorical(rng.choice([1, 2, 10], n)),
            "tags": [";".join(rng.choice(words, 3, replace=False)) for _ in range(n)],
            "name": rng.choice(names, n),
            "text": [" ".join(rng.choice(words, 8)) for _ in range(n)],
        }
    )
    for column in X.columns.drop("flag"):
        X.loc[rng.random(n) < 0.1, column] = None
    for column in ("price", "answer", "date"):
        X.loc[rng.random(n) < 0.05, column] = "n/a"
    return X
