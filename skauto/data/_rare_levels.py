"""The number of rows that a level of a categorical column needs for a code of its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skauto.utils import FloatArray, IntArray

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
    variance more than the largest number, 50, with t > 2; else 50 is. Columns of at most 20 levels
    are not pooled: 0. Without class codes `y`, only levels of a single row are: 2. Missing
    `codes` are negative.
    """
    known = codes >= 0
    codes = codes[known]
    if np.count_nonzero(np.bincount(codes)) <= _FEW_LEVELS:
        return 0
    if y is None:
        return _MIN_ROWS
    n_classes = int(y.max()) + 1
    cells, n_rows = np.unique(codes * n_classes + y[known], return_counts=True)
    counts = _Counts(*np.divmod(cells, n_classes), n_rows.astype(np.float64))
    *scores, pooled = (counts.pooled_scores(candidate) for candidate in _CANDIDATES)
    best = int(np.argmin([counts.n_rows @ score for score in scores]))
    gain = pooled - scores[best]
    mean = np.average(gain, weights=counts.n_rows)
    error = np.sqrt(np.average((gain - mean) ** 2, weights=counts.n_rows) / len(codes))
    variance = 1.0 - np.square(counts.shares).sum()
    earned = mean > max(_MIN_EXPLAINED * variance, _MIN_T * error)
    return _CANDIDATES[best] if earned else _CANDIDATES[-1]


@dataclass(frozen=True)
class _Counts:
    """Numbers of rows of each level and class, without those that are 0, (n_cells,)."""

    levels: IntArray
    classes: IntArray
    n_rows: FloatArray

    @property
    def shares(self) -> FloatArray:
        """Shares of the classes."""
        return np.bincount(self.classes, weights=self.n_rows) / self.n_rows.sum()

    def pooled_scores(self, min_rows: int) -> FloatArray:
        """Brier score of a row of each cell if levels of fewer rows are one level.

        With ``w = n - 1 + m`` for a level of n rows and ``q = (n_c + m share_c) / w``, a row of
        class c is predicted by q, less 1 / w in class c.
        """
        shares, levels, classes = self.shares, self.levels, self.classes
        in_level = np.bincount(levels, weights=self.n_rows)
        level = np.where(in_level < min_rows, 0, np.arange(1, len(in_level) + 1))[levels]
        pooled = np.bincount(classes, weights=self.n_rows * (level == 0), minlength=len(shares))
        in_class = np.where(level == 0, pooled[classes], self.n_rows)
        n = np.bincount(level, weights=self.n_rows)
        squares = np.bincount(level, weights=self.n_rows * in_class)
        products = np.bincount(level, weights=self.n_rows * shares[classes])
        m = np.array(_SMOOTHING)[:, None]
        w = n[level] - 1.0 + m
        own = 1.0 + 1.0 / w
        squared = (squares[level] + 2.0 * m * products[level] + m**2 * (shares @ shares)) / w**2
        scores = squared - 2.0 * own * (in_class + m * shares[classes]) / w + own**2
        return np.asarray(scores[np.argmin(scores @ self.n_rows)])
