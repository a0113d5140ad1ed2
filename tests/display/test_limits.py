"""LimitsDisplay."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import FalseNegativeRate, ModelSize, ScoreBound
from skauto.plotting import LimitsDisplay
from skauto.space import SearchSpace
from tests.display.fitted import legend_texts


def space():
    made = SearchSpace(["classifier"])
    made.add("classifier", "gaussian_nb", GaussianNB())
    return made.add("classifier", "tree", DecisionTreeClassifier(max_depth=3))


@pytest.fixture(scope="module")
def fitted():
    X, y = load_breast_cancer(return_X_y=True)
    constraints = [ModelSize(9_000), ModelSizeWithoutLimit(), ScoreBound("recall", lower=0.8)]
    return ConstrainedAutoClassifier(
        constraints, "random", max_evals=2, cv=3, space=space(), random_state=0
    ).fit(X, y)


class ModelSizeWithoutLimit(ModelSize):
    pass


def test_values_are_drawn_in_units_of_their_limits(fitted):
    display = LimitsDisplay.from_estimator(fitted)
    assert display.frame["constraint"].tolist() == ["model_size", "recall"] * 2
    values = fitted.constraint_values_.set_index(["model", "constraint"])
    size = values.loc[("ensemble", "model_size")]
    recall = values.loc[("ensemble", "recall")]
    assert recall["limit"] == 0.8
    drawn = display.bounds_[1].get_offsets()
    np.testing.assert_allclose(drawn[:, 0], [size["fitted"] / 9_000, (1 - recall["bound"]) / 0.2])
    np.testing.assert_allclose(drawn[:, 1], [0.15, 1.15])
    means = display.points_[1].lines[0].get_xdata(orig=False)
    np.testing.assert_allclose(means, [size["value"] / 9_000, (1 - recall["value"]) / 0.2])
    assert set(display.limit_line_.get_xdata()) == {1.0}
    assert "limit" in legend_texts(display.ax_)
    assert display.frame["met"].all() and (drawn[:, 0] <= 1).all()


@pytest.mark.filterwarnings("ignore::skauto.exceptions.InfeasibleWarning")
def test_what_misses_its_limit_is_red():
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"max_evals": 1, "cv": 2, "space": space(), "random_state": 0}
    limits = [FalseNegativeRate(0.0)]  # a threshold would keep it
    clf = ConstrainedAutoClassifier(limits, "random", decision="argmax", **settings).fit(X, y)
    display = LimitsDisplay.from_estimator(clf)
    assert (display.bounds_[1].get_offsets()[:, 0] > 1).all()
    assert len({tuple(color) for color in display.bounds_[1].get_edgecolors()}) == 1
    red, gray_or_red = display.bounds_[1].get_edgecolors()[0], display.bounds_[0].get_edgecolors()
    np.testing.assert_array_equal(gray_or_red[0], red)


def test_without_a_limit_there_is_nothing_to_draw():
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"max_evals": 1, "cv": 2, "space": space(), "random_state": 0}
    free = ConstrainedAutoClassifier([ModelSize()], "random", **settings).fit(X, y)
    for clf in (free, AutoClassifier("random", **settings).fit(X, y)):
        with pytest.raises(ValueError, match="at least one constraint that states a limit"):
            LimitsDisplay.from_estimator(clf)
