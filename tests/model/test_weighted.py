"""Weights of classes and groups."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from skauto.model import WeightedClassifier


def test_class_weights_stand_for_repeated_rows(rng):
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], [30, 10])
    weighted = WeightedClassifier(GaussianNB(), class_weight={0: 1, 1: 3}).fit(X, y)
    rows = np.concatenate([np.arange(30), np.repeat(np.arange(30, 40), 3)])
    repeated = GaussianNB().fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_weights_of_groups_need_the_groups(rng):
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    classifier = WeightedClassifier(GaussianNB(), group_weights={"sex": 1.0})
    with pytest.raises(ValueError, match="sensitive_features=.'sex'"):
        classifier.fit(X, y)
