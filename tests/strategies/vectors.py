"""All vectors of a finite space."""

import numpy as np


def distinct(vectors):
    """Different rows and their counts; for numpy, rows with NaN differ from each other."""
    rows, counts = np.unique(np.nan_to_num(vectors, nan=-1.0), axis=0, return_counts=True)
    return np.where(rows < 0, np.nan, rows), counts


def all_vectors(space):
    return distinct(space.sample(5000, np.random.default_rng(0)))[0]
