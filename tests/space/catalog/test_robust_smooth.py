"""Robust scaling with a smooth clip."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from skauto.space.catalog import RobustSmoothScaler


def test_robust_smooth_scaler(rng):
    X = rng.normal(size=(200, 4)) * [1.0, 100.0, 1e-3, 1.0]
    X[:, 3] = 0.0
    X[0, 3] = 5.0  # quartiles are equal: half the range
    z = np.empty_like(X)
    z[:, :3] = (X - np.median(X, axis=0))[:, :3]
    z[:, :3] /= np.subtract(*np.quantile(X[:, :3], [0.75, 0.25], axis=0))
    z[:, 3] = X[:, 3] / 2.5
    assert_allclose(RobustSmoothScaler().fit_transform(X), z / np.sqrt(1 + (z / 3) ** 2))
    constant = RobustSmoothScaler().fit(np.ones((5, 1)))
    assert constant.transform([[9.0]]) == 0.0
    thin = RobustSmoothScaler().fit_transform(sparse.csr_array(X[:, 3:]))
    assert thin.nnz == 1
    assert_allclose(thin.max(), 1 / np.sqrt(1 + 1 / 9))
