"""Searches that several displays are drawn from, and what any plot must keep."""

from itertools import combinations

import matplotlib.pyplot as plt
import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris

from skauto import AutoClassifier, minimize
from skauto.space import SearchSpace
from skauto.space.catalog import get_space

CLASSIFIERS = ["gaussian_nb", "lda", "qda", "k_nearest_neighbors", "logistic_regression"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def small_space(**kept):
    """Pipelines that fit within milliseconds."""
    return get_space("default").subspace({"classifier": CLASSIFIERS, "balancer": ["none"], **kept})


def fit(strategy, *, max_evals=12, **kwargs):
    kwargs = {"space": small_space(), "cv": 2, "ensemble_size": 10, "random_state": 0, **kwargs}
    X, y = load_iris(return_X_y=True, as_frame=True)
    return AutoClassifier(strategy, max_evals=max_evals, **kwargs).fit(X, y)


@pytest.fixture(scope="session")
def random_search():
    return fit("random", max_evals=15, initial=None)


def curve_space():
    return SearchSpace().add("classifier", "model", parameters={"x": uniform(0, 1)})


def trade(configuration):
    """Two objectives and a constraint of one number; some numbers cannot be evaluated."""
    x = configuration.parameters("classifier")["x"]
    if x > 0.8:
        raise ArithmeticError("too large")
    return {"left": x, "right": (x - 0.8) ** 2, "weight": abs(x - 0.4)}


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


def assert_no_overlap(figure, texts):
    """No two of the texts that are shown cover each other."""
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
