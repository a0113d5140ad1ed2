"""Each check passes on what is right and names the rule that is violated."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier

from skauto.constraints import Constraint
from skauto.exceptions import AllTrialsFailedError
from skauto.history import Proposal
from skauto.plotting import PermutationImportanceDisplay
from skauto.space import SearchSpace
from skauto.strategies import RandomSearch, Strategy
from skauto.testing import check_component, check_constraint, check_display, check_strategy


class Draws(Strategy):
    """Draws from the global state."""

    def suggest(self, history, pending):
        np.random.rand()
        configuration = self.sample_new()
        return configuration and Proposal(configuration)


class Repeats(Strategy):
    """Proposes the default for ever."""

    def suggest(self, history, pending):
        return Proposal(self.space.default())


class StopsAtFailures(RandomSearch):
    """Ends at the first failed trial."""

    def suggest(self, history, pending):
        failed = len(history) and not history[-1].ok
        return None if failed else super().suggest(history, pending)


class Computes(RandomSearch):
    """Its constructor sets more than its arguments."""

    def __init__(self):
        self.n_drawn = 0


@pytest.mark.parametrize(
    ("strategy", "rule"),
    [
        (Draws(), "global random state"),
        (Repeats(), "proposed twice"),
        (StopsAtFailures(), "half bad"),
        (Computes(), "n_drawn"),
    ],
)
def test_a_strategy_is_refused_with_the_rule(strategy, rule):
    with pytest.raises(AssertionError, match=rule):
        check_strategy(strategy)


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


class Share(Constraint):
    """Share of rows with the label 1, or what is no number."""

    def __init__(self, upper=None, broken=False):
        self.upper = upper
        self.broken = broken

    def measure(self, evidence):
        return np.nan if self.broken else float((evidence.labels == 1).mean())


def test_a_constraint_is_accepted_or_refused():
    check_constraint(Share(0.3))
    with pytest.raises(AssertionError, match="value"):
        check_constraint(Share(0.3, broken=True))


class Bare(PermutationImportanceDisplay):
    """Draws nothing on the axes of the user."""

    def plot(self, ax=None):
        return super().plot()


def test_a_display_is_accepted_or_refused():
    frame = pd.DataFrame({"column": ["age"], "mean": [0.1], "std": [0.05]})
    check_display(PermutationImportanceDisplay(frame))
    with pytest.raises(AssertionError, match="given axes"):
        check_display(Bare(frame))
