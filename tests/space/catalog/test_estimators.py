"""Variants of scikit-learn's estimators."""

import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import TargetEncoder
from sklearn.svm import SVC

from skauto.space import FitContext, get_space
from skauto.space.catalog import (
    CrossFittedTargetEncoder,
    ScaledGammaSVC,
)


def test_scaled_gammas_agree_with_scikit_learn(rng):
    X = rng.normal(size=(80, 5)) * 3 + 1
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ours = ScaledGammaSVC(gamma=2.0).fit(X, y)
    theirs = SVC(gamma=2.0 / (5 * X.var())).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    assert ours.gamma == 2.0
    component = get_space("default").component("transformer", "nystroem")
    nystroem = component.make({"gamma": 2.0, "n_components": 100})
    component.adapt(nystroem, FitContext(n_samples=80, n_features=5, n_classes=2))
    assert (nystroem.gamma, nystroem.n_components) == (0.4, 80)


def test_target_encoder_agrees_with_scikit_learn(rng):
    codes = rng.integers(0, 5, (300, 2)).astype(float)
    codes[0, 0] = np.nan
    y = (rng.random(300) < (codes[:, 1] + 1) / 7).astype(int)
    ours = CrossFittedTargetEncoder(random_state=3).fit(codes, y)
    assert_allclose(ours.transform(codes), TargetEncoder().fit(codes, y).transform(codes))
    again = CrossFittedTargetEncoder(random_state=3).fit_transform(codes, y)
    assert_array_equal(again, CrossFittedTargetEncoder(random_state=3).fit_transform(codes, y))
    assert not np.array_equal(again, ours.transform(codes))
    assert ours.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]


def test_target_encoder_makes_do_with_small_classes():
    codes = np.arange(6.0)[:, None] % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoded = CrossFittedTargetEncoder(random_state=0).fit_transform(codes, [0, 0, 0, 1, 1, 2])
    assert encoded.shape == (6, 3)
    assert np.isfinite(encoded).all()
