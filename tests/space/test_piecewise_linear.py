"""PiecewiseLinearEncoder: places in bins between quantiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from skauto.space import FitContext
from skauto.space.catalog import PiecewiseLinearEncoder, get_space


@parametrize_with_checks([PiecewiseLinearEncoder(n_bins=4)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_linear_models_of_it_are_those_of_splines_of_degree_one(rng):
    X = rng.normal(size=(300, 2))
    y = np.abs(X[:, 0]) + np.sin(2 * X[:, 1])
    encoder = PiecewiseLinearEncoder(n_bins=6).fit(X)
    splines = SplineTransformer(7, degree=1, knots="quantile").fit(X)
    fits = [LinearRegression().fit(t.transform(X), y).predict(t.transform(X))
            for t in (encoder, splines)]  # fmt: skip
    assert_allclose(*fits, atol=1e-9)


def test_indicators_stay_one_column_and_constants_vanish(rng):
    X = np.column_stack([rng.integers(0, 2, 50), np.full(50, 3.0), rng.normal(size=50)])
    encoded = PiecewiseLinearEncoder(n_bins=5).fit_transform(X)
    assert encoded.shape == (50, 1 + 0 + 5)
    assert_array_equal(encoded[:, 0], X[:, 0])


def test_values_beyond_the_training_range_are_clipped(rng):
    X = rng.normal(size=(50, 1))
    encoder = PiecewiseLinearEncoder().fit(X)
    assert_array_equal(encoder.transform([[1e9], [-1e9]]), [[1.0] * 12, [0.0] * 12])
    assert list(encoder.get_feature_names_out(["a"])) == [f"a_{k}" for k in range(12)]


@pytest.mark.parametrize(("n_features", "n_bins"), [(10, 12), (500, 4), (5_000, 2)])
def test_many_columns_have_fewer_bins(n_features, n_bins):
    component = get_space("default").component("transformer", "piecewise_linear")
    encoder = component.make({})
    component.adapt(encoder, FitContext(n_samples=99, n_features=n_features, n_classes=2))
    assert encoder.n_bins == n_bins
