"""Columns whose values together identify what rows share, such as a person or a place."""

from collections.abc import Sequence
from functools import reduce
from itertools import combinations, islice

import numpy as np

from skauto.utils import FloatArray

# Maximum number of columns that are joined, of columns that are tried, of their combinations, and
# of the residuals that these read.
_MAX_SIZE, _MAX_COLUMNS, _MAX_CANDIDATES, _MAX_READ = 3, 20, 300, 1_000_000
# What is added for a missing value, and factors of the columns.
MISSING, FACTORS = -0.7390851332151607, tuple(np.sqrt([2.0, 3.0, 5.0]).tolist())
# Maximum mean number of rows that share a key, if the columns were independent.
_MAX_SHARED = 50
# Minimum correlation of the residuals of such rows, in standard errors.
_MIN_ERRORS = 5.0
# Number of rows by which the mean residual of other rows is shrunk.
_PRIOR_ROWS = 2.0


def join(X: FloatArray, columns: Sequence[int]) -> FloatArray:
    """Return a number for each combination of values, (n_samples,); NaN is a value.

    It is a sum of irrational multiples, of which two are equal only by rounding.
    """
    values = (np.where(np.isnan(X[:, j]), MISSING, X[:, j]) for j in columns)
    return reduce(np.add, (x * factor for x, factor in zip(values, FACTORS, strict=False)))


def find_keys(X: FloatArray, residuals: FloatArray, n_keys: int) -> list[tuple[int, ...]]:
    """Find columns such that rows with the same values have correlated residuals.

    The first key is the combination of up to three columns with the largest correlation, in
    standard errors. Then the residuals lose what the other rows of the key tell, and the next is
    chosen.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The columns; NaN is a value.
    residuals : ndarray of shape (n_samples, n_outputs)
        Residuals of a model for rows that it was not fitted on.
    n_keys : int
        Maximum number of keys.

    Returns
    -------
    list of tuple of int
        The columns of each key; empty if no correlation exceeds five standard errors.
    """
    n_candidates = min(_MAX_CANDIDATES, _MAX_READ // residuals.size)
    joined = {columns: join(X, columns) for columns in _candidates(X, n_candidates)}
    found: list[tuple[int, ...]] = []
    while len(found) < n_keys:
        errors = {columns: _correlation(key, residuals) for columns, key in joined.items()}
        joined = {c: key for c, key in joined.items() if errors[c] > _MIN_ERRORS}
        if not joined:
            break
        found.append(max(joined, key=errors.__getitem__))
        _, groups, sizes = np.unique(joined[found[-1]], return_inverse=True, return_counts=True)
        sums = np.stack([np.bincount(groups, weights=r) for r in residuals.T], axis=1)[groups]
        n_others = sizes[groups][:, None] - 1.0
        residuals = residuals - (sums - residuals) / (n_others + _PRIOR_ROWS)
    return found


def _candidates(X: FloatArray, n_candidates: int) -> list[tuple[int, ...]]:
    """Combinations of the columns of most values whose rows can be few, the small ones first."""
    n_values = np.array([len(np.unique(x)) for x in X.T])
    columns = [j for j in np.argsort(-n_values, kind="stable").tolist() if n_values[j] > 1]
    sizes = range(1, _MAX_SIZE + 1)
    every = (sorted(c) for size in sizes for c in combinations(columns[:_MAX_COLUMNS], size))
    fine = (c for c in every if np.prod(n_values[c], dtype=float) >= len(X) / _MAX_SHARED)
    return [tuple(columns) for columns in islice(fine, n_candidates)]


def _correlation(key: FloatArray, residuals: FloatArray) -> float:
    """Sum of products of residuals over pairs of rows of a key, by its standard error.

    The largest of the outputs. The error is that of independent rows with these squares.
    """
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-np.inf))
    if len(starts) == len(key):
        return 0.0
    ordered = residuals[order]
    sums, squares = (np.add.reduceat(ordered**p, starts) for p in (1, 2))
    products = (sums**2 - squares).sum(axis=0)
    variances = 2.0 * ((squares**2).sum(axis=0) - (ordered**4).sum(axis=0))
    known = variances > 1e-12
    return float(np.max(products[known] / np.sqrt(variances[known]), initial=0.0))
