"""Imputer and scaler of arrays give the matrices of scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from skauto.space.catalog import ArrayImputer, ArrayScaler


@pytest.fixture
def X(rng):
    """Missing values in the columns 0 and 3; column 2 is empty."""
    X = rng.normal(3.0, 2.0, size=(200, 5))
    X[rng.random(200) < 0.2, 0] = X[rng.random(200) < 0.2, 3] = np.nan
    X[:, 2] = np.nan
    return X


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("add_indicator", [True, False])
@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent"])
@pytest.mark.filterwarnings("ignore:Skipping features")
def test_imputer(rng, X, strategy, add_indicator, keep, dtype, layout):
    settings = {
        "strategy": strategy,
        "add_indicator": add_indicator,
        "keep_empty_features": keep,
    }
    X = np.asarray(X, dtype=dtype, order=layout)
    new = np.asarray(rng.normal(size=(50, 5)), dtype=dtype, order=layout)
    new[::3] = np.nan  # also in columns that had no missing value
    ours, theirs = ArrayImputer(**settings).fit(X), SimpleImputer(**settings).fit(X)
    for rows in (X, new, new[:1], new[1:2]):
        before = rows.copy()
        Z, expected = clone(ours).fit(X).transform(rows), theirs.transform(rows)
        assert_array_equal(Z, expected)
        assert (Z.strides, Z.dtype) == (expected.strides, expected.dtype)
        assert_array_equal(rows, before)


@pytest.mark.parametrize("settings", [{}, {"with_mean": False}, {"with_std": False}])
def test_scaler(X, settings):
    X[:, 2] = 1.0  # constant
    ours, theirs = ArrayScaler(**settings).fit(X), StandardScaler(**settings).fit(X)
    for rows in (X, np.asfortranarray(X), X[:1], X.astype(np.float32)):
        before = rows.copy()
        Z, expected = ours.transform(rows), theirs.transform(rows)
        assert_array_equal(Z, expected)
        assert (Z.strides, Z.dtype) == (expected.strides, expected.dtype)
        assert_array_equal(rows, before)


def test_sparse_matrices():
    dense = np.random.default_rng(0).random((50, 4))
    Z = sparse.csr_array(np.where(dense < 0.3, dense, 0.0))
    scaler = ArrayScaler(with_mean=False)
    expected = StandardScaler(with_mean=False).fit_transform(Z)
    assert_array_equal(scaler.fit_transform(Z).toarray(), expected.toarray())
    assert_array_equal(ArrayImputer().fit(Z).transform(Z).toarray(), Z.toarray())


@pytest.mark.parametrize("step", [ArrayImputer(keep_empty_features=True), ArrayScaler()])
def test_bad_matrices(X, step):
    with pytest.raises(NotFittedError):
        clone(step).transform(X)
    with pytest.raises(ValueError, match="5 features"):
        clone(step).fit(X).transform(X[:, :1])
