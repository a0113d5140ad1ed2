"""Points and noisy values."""

import numpy as np


def make_data(n_samples=40, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_samples, n_features))
    y = 3.0 + np.sin(5 * X[:, 0]) + X @ np.arange(n_features) + 0.1 * rng.normal(size=n_samples)
    return X, y, rng
