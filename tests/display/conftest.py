"""Searches that several displays are drawn from, and what any plot must keep."""

import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import load_breast_cancer

from skauto import ConstrainedAutoClassifier, minimize
from skauto.constraints import FalseNegativeRate, ModelSize, ScoreBound
from tests.display.fitted import curve_space, fit, small_space, trade


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def random_search():
    return fit("random", max_evals=15, initial=None)


@pytest.fixture(scope="session")
def limited_history():
    """25 trials of two objectives, some failed and some beyond the limit of 0.2."""
    result = minimize(
        trade,
        curve_space(),
        strategy="random",
        objectives=("left", "right"),
        limits={"weight": 0.2},
        max_evals=25,
        random_state=0,
    )
    counts = result.history.counts()
    assert counts["failed"] >= 2
    assert 2 <= sum(result.history.feasible(t) for t in result.history) < counts["ok"]
    return result.history


@pytest.fixture(scope="session")
def constrained():
    X, y = load_breast_cancer(return_X_y=True)
    constraints = [ModelSize(25_000), FalseNegativeRate(0.2), ScoreBound("recall", lower=0.5)]
    return ConstrainedAutoClassifier(
        constraints, "random", max_evals=12, cv=2, space=small_space(), random_state=0
    ).fit(X, y)
