"""Fixtures."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from skauto.constraints import StatisticalParity
from tests.estimators.fronts import fit


@pytest.fixture(scope="session")
def biased():
    """A table in which the group tells of the label."""
    X, y = make_classification(200, 4, n_informative=3, n_redundant=0, random_state=0)
    rng = np.random.default_rng(0)
    group = np.where(rng.random(200) < 0.3 + 0.4 * y, "a", "b")
    return pd.DataFrame(X, columns=list("wxyz")).assign(group=group), y


@pytest.fixture(scope="session")
def fang(biased):
    return fit(biased, [StatisticalParity("group")])
