"""The linear surrogate against scikit-learn's ridge regression and the formula of the paper."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from skauto.surrogates import LinearModel


def problem(n=40, d=9):
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(n, d)).astype(float)
    return X, X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
def test_weights_are_those_of_ridge_regression(alpha):
    X, y = problem()
    model = LinearModel(alpha=alpha).fit(X, y, np.random.default_rng(0))
    ridge = Ridge(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X)[0], ridge.predict(X), rtol=1e-9)


def test_variance_is_that_of_the_paper():
    X, y = problem()
    model = LinearModel(alpha=2.0).fit(X, y, np.random.default_rng(0))
    points = np.random.default_rng(1).integers(2, size=(7, X.shape[1])).astype(float)
    inverse = np.linalg.inv(X.T @ X + 2.0 * np.eye(X.shape[1]))
    noise = np.var(Ridge(alpha=2.0).fit(X, y).predict(X) - y)
    expected = [noise * (1 + p @ inverse @ p) for p in points]
    np.testing.assert_allclose(model.predict(points)[1] ** 2, expected, rtol=1e-9)


@pytest.mark.parametrize("values", [[0.5, 0.5, 0.5], [1e300, -1e300, 0.0], [3.0]])
def test_extreme_values_stay_finite(values):
    X = np.eye(3)[: len(values)]
    model = LinearModel().fit(X, np.array(values), np.random.default_rng(0))
    assert np.isfinite(model.predict(np.eye(3))).all()


def test_pickles():
    X, y = problem()
    model = LinearModel().fit(X, y, np.random.default_rng(0))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_penalty_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="'alpha' of LinearModel must be positive"):
        LinearModel(alpha=0.0).fit(*problem(), np.random.default_rng(0))
