"""Fixtures of the content of reports."""

import numpy as np
import pandas as pd
import pytest

from tests.display.report.customers import search


@pytest.fixture(scope="session")
def customers():
    """Two of five columns decide: a number against "yes", and a word for it."""
    rng = np.random.default_rng(0)
    n = 600
    age, plan = rng.integers(18, 80, n), rng.choice(["basic", "full"], n)
    score = -0.12 * (age - 49) + 5.0 * (plan == "full") - 2.5 + rng.logistic(size=n)
    X = pd.DataFrame(
        {
            "age": age,
            "plan": plan,
            "city": rng.choice(["Bonn", "Kiel", "Ulm"], n),
            "noise": rng.normal(size=n),
            "customer_id": np.arange(n),
        }
    )
    y = pd.Series(np.where(score > 0, "yes", "no"), name="renews")
    return X, y


@pytest.fixture(scope="session")
def fitted(customers):
    X, y = customers
    return search(X[:400], y[:400])
