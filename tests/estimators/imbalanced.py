"""A table with a rare class, and a quick search on it."""

import numpy as np
from sklearn.datasets import make_classification

from skauto import AutoClassifier
from tests.strategy_settings import quick_space


def imbalanced_data():
    X, y = make_classification(1500, 8, n_informative=4, weights=[0.8], flip_y=0.1, random_state=0)
    return X, np.where(y == 1, "yes", "no")


def fitted(X, y, **kwargs):
    clf = AutoClassifier(max_evals=3, cv=3, space=quick_space(), random_state=0, **kwargs)
    return clf.fit(X, y)
