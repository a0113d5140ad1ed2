"""The number of rows that a level of a categorical column needs for a code of its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# A level of one row is as likely to be new in other rows as it was in `fit` (Good-Turing).
_MIN_ROWS = 2
# Columns of fewer levels are not pooled.
_FEW_LEVELS = 20
_CANDIDATES = (_MIN_ROWS, 5, 10, 20, 50)


def min_rows_of_level(codes: NDArray[np.integer], y: NDArray[np.integer] | None = None) -> int:
    """Choose the number of rows below which levels are pooled.

    It has the smallest leave-one-out error if the frequency of each class among the other rows of
    a level is the prediction, and all levels with fewer rows are one level. Ties go to the larger
    number. Columns of at most 20 levels are not pooled. A level of `n` rows, of which `n_c` are of
    class `c`, has the sum of Brier scores

        n (n^2 - sum_c n_c^2) / (n - 1)^2.

    Parameters
    ----------
    codes : ndarray of int of shape (n_samples,)
        Level of each row, negative where missing.
    y : ndarray of int of shape (n_samples,), default=None
        Class codes. Without them, only levels of a single row are pooled.

    Returns
    -------
    int
        0 for columns of few levels, else 2, 5, 10, 20 or 50.
    """
    known = codes >= 0
    codes = codes[known]
    if np.count_nonzero(np.bincount(codes)) <= _FEW_LEVELS:
        return 0
    if y is None:
        return _MIN_ROWS
    counts: Any = sparse.csr_array(sparse.coo_array((np.ones(len(codes)), (codes, y[known]))))
    n_rows = np.asarray(counts.sum(axis=1)).ravel()
    best, least = _MIN_ROWS, np.inf
    if not (n_rows < _CANDIDATES[-1]).any():
        return best
    errors = _brier(n_rows, np.asarray((counts * counts).sum(axis=1)).ravel())
    for candidate in _CANDIDATES:
        rare = n_rows < candidate
        pooled = np.asarray(counts[np.flatnonzero(rare)].sum(axis=0)).ravel()
        error = errors[~rare].sum() + _brier(pooled.sum(), (pooled**2).sum())
        if error <= least:
            best, least = candidate, error
    return best


def _brier(n_rows: NDArray[np.floating], squares: NDArray[np.floating]) -> NDArray[np.floating]:
    """Sum of leave-one-out Brier scores of a level; 2 a row, the largest, for one row."""
    others = np.maximum(n_rows - 1.0, 1.0)
    return np.where(n_rows > 1, n_rows * (n_rows**2 - squares) / others**2, 2.0 * n_rows)
