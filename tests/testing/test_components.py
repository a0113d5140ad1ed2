"""The check of a component passes on what is right and names the rule that is violated."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier

from skauto.exceptions import AllTrialsFailedError
from skauto.space import SearchSpace
from skauto.testing import check_component


class Forgetful(ClassifierMixin, BaseEstimator):
    """A classifier that fails, or predicts another class at each fit."""

    n_fits = 0

    def __init__(self, fails=False):
        self.fails = fails

    def fit(self, X, y):
        if self.fails:
            raise ValueError("too few rows")
        type(self).n_fits += 1
        self.shift_ = type(self).n_fits % 7 / 10
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        first = np.full(len(X), 0.1 + self.shift_)
        rest = (1 - first) / (len(self.classes_) - 1)
        return np.column_stack([first] + [rest] * (len(self.classes_) - 1))


def test_a_component_with_a_conditional_parameter_passes():
    space = SearchSpace(["classifier"]).add(
        "classifier",
        "sgd",
        SGDClassifier(loss="log_loss", random_state=0),
        {"penalty": ["l2", "elasticnet"], "l1_ratio": loguniform(0.01, 1)},
        conditions={"l1_ratio": ("penalty", ["elasticnet"])},
    )
    check_component(space, "classifier", "sgd", n_configurations=4)


@pytest.mark.parametrize(("fails", "rule"), [(True, "too few rows"), (False, "same seed")])
def test_a_component_is_refused_with_the_rule(fails, rule):
    space = SearchSpace(["classifier"]).add("classifier", "forgetful", Forgetful(fails))
    # If every trial fails, the error of fit has the cause.
    with pytest.raises((AssertionError, AllTrialsFailedError), match=rule):
        check_component(space, "classifier", "forgetful", n_configurations=1)
