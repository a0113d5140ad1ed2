"""A mixed table and a search on it, for every way out."""

import numpy as np
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
