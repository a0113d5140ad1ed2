"""The number of rows that a level of a categorical column needs for a code of its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skauto.utils import FloatArray

# A level of one row is as likely to be new in other rows as it was in `fit` (Good-Turing).
_MIN_ROWS = 2
# Columns of fewer levels are not pooled.
_FEW_LEVELS = 20
_CANDIDATES = (_MIN_ROWS, 5, 10, 20, 50)
# Weights of the shares of the classes, in rows.
_SMOOTHING = (1.0, 3.0, 10.0, 30.0, 100.0)
# Levels of fewer than 50 rows must explain this share of the variance, and have this t statistic.
_MIN_EXPLAINED = 0.01
_MIN_T = 2.0


def min_rows_of_level(codes: NDArray[np.integer], y: NDArray[np.integer] | None = None) -> int:
    """Choose the number of rows below which levels are pooled.

    A row is predicted by the frequencies of the classes among the other rows of its level, where
    all levels of fewer rows than the number are one level. The frequencies are smoothed: ``m``
    rows with the shares of the classes are added, and the best ``m`` of 1, 3, 10, 30 and 100 is
    taken. The number with the smallest Brier score is chosen if it explains at least 1% of the
    variance more than the largest number, 50, with t > 2; else 50 is. Columns of at most 20
    levels are not pooled: 0. Without class codes `y`, only levels of a single row are: 2. The
    `codes` of the levels are negative where missing.
    """
    known = codes >= 0
    codes = codes[known]
    if np.count_nonzero(np.bincount(codes)) <= _FEW_LEVELS:
        return 0
    if y is None:
        return _MIN_ROWS
    counts: Any = sparse.csr_array(sparse.coo_array((np.ones(len(codes)), (codes, y[known]))))
    *scores, pooled = (_pooled_scores(counts, candidate) for candidate in _CANDIDATES)
    best = int(np.argmin([counts.data @ score for score in scores]))
    gain = pooled - scores[best]
    mean = np.average(gain, weights=counts.data)
    error = np.sqrt(np.average((gain - mean) ** 2, weights=counts.data) / len(codes))
    variance = 1.0 - np.square(counts.sum(axis=0) / counts.sum()).sum()
    earned = mean > max(_MIN_EXPLAINED * variance, _MIN_T * error)
    return _CANDIDATES[best] if earned else _CANDIDATES[-1]


def _pooled_scores(counts: Any, min_rows: int) -> FloatArray:
    """Brier score of a row of each level and class if levels of fewer rows are one level.

    `counts` are the rows by level and class; there is a score for each of its stored entries. With
    ``w = n - 1 + m`` for a level of n rows and ``q = (n_c + m share_c) / w``, a row of class c is
    predicted by q, less 1 / w in class c.
    """
    shares = counts.sum(axis=0) / counts.sum()
    n_rows, squares, products = counts.sum(axis=1), (counts * counts).sum(axis=1), counts @ shares
    rare = n_rows < min_rows
    pooled = counts[np.flatnonzero(rare)].sum(axis=0)
    n_rows[rare], squares[rare], products[rare] = pooled.sum(), pooled @ pooled, pooled @ shares
    cells: Any = sparse.coo_array(counts)
    levels, classes = cells.row, cells.col
    n_of_class = np.where(rare[levels], pooled[classes], counts.data)

    def scores(m: float) -> FloatArray:
        w = n_rows[levels] - 1.0 + m
        squared = squares + 2.0 * m * products + m**2 * (shares @ shares)
        own = 1.0 + 1.0 / w
        return squared[levels] / w**2 - 2.0 * own * (n_of_class + m * shares[classes]) / w + own**2

    return min(map(scores, _SMOOTHING), key=lambda score: float(counts.data @ score))
