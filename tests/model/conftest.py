"""Fixtures."""

import pandas as pd
import pytest


@pytest.fixture
def table(rng):
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    X["color"] = rng.choice(["red", "green"], 300)
    return X, (X["a"] + rng.normal(size=300) > 1.0).astype(int).to_numpy()
