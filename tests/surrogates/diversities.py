"""Points with known distances."""

import numpy as np


def make_problem(n, seed=0, n_features=4):
    """Points, and distances of a function of half of their features."""
    X = np.random.default_rng(seed).random((n, n_features))
    hidden = np.sin(3 * X[:, : n_features // 2])
    distances = np.linalg.norm(hidden[:, None] - hidden[None], axis=2)
    return X, distances / 2
