"""Searches for several objectives."""

from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skauto import ConstrainedAutoClassifier
from skauto.space import Real, SearchSpace
from tests.strategy_settings import make_strategy


class ShyClassifier(GaussianNB):
    """Refuses one setting."""

    def fit(self, X, y, sample_weight=None):
        if self.var_smoothing > 0.5:
            raise RuntimeError("too smooth")
        return super().fit(X, y, sample_weight)


def small_space():
    space = SearchSpace(["classifier"])
    space.add("classifier", "shy", ShyClassifier(), {"var_smoothing": Real(1e-9, 1.0, log=True)})
    space.add("classifier", "logistic", LogisticRegression(), {"C": Real(1e-4, 10.0, log=True)})
    return space


def fit(biased, constraints, strategy="fang_hpo", **kwargs):
    settings = {"max_evals": 14, "cv": 2, "space": small_space(), "random_state": 0, **kwargs}
    strategy = make_strategy(strategy) if isinstance(strategy, str) else strategy
    return ConstrainedAutoClassifier(constraints, strategy, **settings).fit(*biased)
