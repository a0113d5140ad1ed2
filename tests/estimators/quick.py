"""Estimators and spaces whose searches take a second."""

from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.space import SearchSpace
from tests.strategy_settings import quick_space


def quick(**kwargs):
    """Four trials of classifiers that are fitted within milliseconds."""
    settings = {"space": quick_space(), "max_evals": 4, "cv": 2, "ensemble_size": 5}
    return AutoClassifier(**{"random_state": 0, **settings, **kwargs})


def whole(**kwargs):
    """Trials of the whole default space: boosted trees, networks, forests, ..."""
    return quick(**{"space": "default", **kwargs})


def tiny_space():
    space = SearchSpace(["classifier"])
    space.add("classifier", "gaussian_nb", GaussianNB(), cost=0.1)
    space.add("classifier", "tree", DecisionTreeClassifier(), {"max_depth": [1, 2, 3, 4, 5]})
    return space
