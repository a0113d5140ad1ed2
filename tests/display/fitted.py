"""Small searches for displays, and what any plot must keep."""

from itertools import combinations

from scipy.stats import uniform
from sklearn.datasets import load_iris

from skauto import AutoClassifier
from skauto.space import SearchSpace
from skauto.space.catalog import get_space

CLASSIFIERS = ["gaussian_nb", "lda", "qda", "k_nearest_neighbors", "logistic_regression"]


def small_space(**kept):
    """Pipelines that fit within milliseconds."""
    return get_space("default").subspace({"classifier": CLASSIFIERS, "balancer": ["none"], **kept})


def fit(strategy, *, max_evals=12, **kwargs):
    kwargs = {"space": small_space(), "cv": 2, "ensemble_size": 10, "random_state": 0, **kwargs}
    X, y = load_iris(return_X_y=True, as_frame=True)
    return AutoClassifier(strategy, max_evals=max_evals, **kwargs).fit(X, y)


def curve_space():
    return SearchSpace().add("classifier", "model", parameters={"x": uniform(0, 1)})


def trade(configuration):
    """Two objectives and a constraint of one number; some numbers cannot be evaluated."""
    x = configuration.parameters("classifier")["x"]
    if x > 0.8:
        raise ArithmeticError("too large")
    return {"left": x, "right": (x - 0.8) ** 2, "weight": abs(x - 0.4)}


def assert_no_overlap(figure, texts):
    """No two of the texts that are shown cover each other."""
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
