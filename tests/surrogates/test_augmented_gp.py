"""The augmented Gaussian process: Eqs. (8) to (10) by hand."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from skauto.surrogates import GaussianProcess
from skauto.surrogates._augmented_gp import AugmentedGaussianProcess


class ConstantModel(BaseEstimator):
    """Predict the mean of the observed values, with a given standard deviation."""

    def __init__(self, std=0.1):
        self.std = std

    def fit(self, X, y, rng):
        self.X_, self.y_ = np.array(X), np.array(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.y_.mean()), np.full(len(X), self.std)


def _constant(value, n=3):
    return np.linspace(0, 1, n)[:, None], np.full(n, value)


@pytest.mark.parametrize(("alpha", "reliable"), [(1.0, True), (0.5, False)])
def test_a_source_is_reliable_within_alpha_standard_deviations(alpha, reliable):
    model = AugmentedGaussianProcess(ConstantModel(std=0.1), alpha=alpha)
    model.fit([_constant(0.5), _constant(0.58, n=4)], np.random.default_rng(0))
    assert model.reliable_[1].tolist() == [reliable] * 4
    assert model.n_augmenting_.tolist() == [3, 4 if reliable else 0]
    mean, _ = model.predict(np.zeros((1, 1)))
    assert mean[0] == pytest.approx((3 * 0.5 + 4 * 0.58) / 7 if reliable else 0.5)


def test_only_reliable_observations_augment_point_by_point():
    rng = np.random.default_rng(1)
    X, cheap_X = rng.random((12, 2)), rng.random((15, 2))
    y = X[:, 0] ** 2 + X[:, 1]
    # The cheap source agrees on the left and is far off on the right.
    cheap_y = cheap_X[:, 0] ** 2 + cheap_X[:, 1] + np.where(cheap_X[:, 0] > 0.5, 3.0, 0.001)
    gp = GaussianProcess(nu=1.5, trend="constant", n_restarts=0)
    model = AugmentedGaussianProcess(gp).fit([(X, y), (cheap_X, cheap_y)], rng)

    truth, cheap = clone(gp).fit(X, y, rng), clone(gp).fit(cheap_X, cheap_y, rng)
    mean, std = truth.predict(cheap_X)
    expected = np.abs(mean - cheap.predict(cheap_X)[0]) <= std  # Eq. (8)
    np.testing.assert_array_equal(model.reliable_[1], expected)
    assert 0 < expected.sum() < len(expected)

    union = clone(gp).fit(
        np.vstack([X, cheap_X[expected]]), np.concatenate([y, cheap_y[expected]]), rng
    )
    points = rng.random((5, 2))
    np.testing.assert_allclose(model.predict(points), union.predict(points), rtol=1e-10)


def test_faithful_cheap_observations_sharpen_the_model():
    rng = np.random.default_rng(2)
    X, cheap_X = rng.random((6, 1)), rng.random((30, 1))
    points = np.linspace(0, 1, 50)[:, None]
    alone = AugmentedGaussianProcess().fit([(X, np.sin(7 * X[:, 0]))], rng)
    helped = AugmentedGaussianProcess().fit(
        [(X, np.sin(7 * X[:, 0])), (cheap_X, np.sin(7 * cheap_X[:, 0]))], rng
    )
    errors = [
        np.abs(model.predict(points)[0] - np.sin(7 * points[:, 0])).mean()
        for model in (alone, helped)
    ]
    assert helped.n_augmenting_[1] > 0
    assert errors[1] < 0.5 * errors[0]


def test_discrepancy_is_from_the_augmented_mean():
    model = AugmentedGaussianProcess(ConstantModel(std=0.1))
    model.fit(
        [_constant(0.50), _constant(0.56), _constant(0.90), (np.empty((0, 1)), np.empty(0))],
        np.random.default_rng(0),
    )
    augmented = 0.53  # the second source augments, the third is too far off
    np.testing.assert_allclose(
        model.discrepancy(np.zeros((2, 1))),
        np.outer([0.03, 0.03, 0.90 - augmented, np.inf], np.ones(2)),
    )
    assert model.sources_[3] is None
    assert model.is_reliable(np.zeros((2, 1))).tolist() == [[f] * 2 for f in (1, 1, 0, 0)]
    assert model.n_augmenting_.tolist() == [3, 3, 0, 0]
