"""Out-of-fold predictions and the rows that have them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.history._trial import Trial
from skauto.utils import IntArray


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold class probabilities.

    Attributes
    ----------
    predictions : ndarray of shape (n_samples, n_classes)
        Probabilities; NaN in rows that no fold predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.history import OutOfFold
    >>> OutOfFold(np.array([[0.5, 0.5], [np.nan, np.nan], [0.1, 0.9]])).rows
    array([0, 2])
    """

    predictions: NDArray[Any]

    @classmethod
    def mean(cls, trials: Iterable[Trial], weights: Iterable[float]) -> "OutOfFold":
        """Return the weighted mean of the predictions of trials; the weights need not sum to 1."""
        shares = np.fromiter(weights, dtype=np.float64)
        members = zip(shares / shares.sum(), trials, strict=True)
        return cls(np.asarray(sum(share * np.asarray(t.predictions) for share, t in members)))

    @cached_property
    def rows(self) -> IntArray:
        """Rows that have predictions."""
        return np.flatnonzero(~np.isnan(self.predictions[:, 0]))

    def sample(self, n_rows: int) -> IntArray:
        """Return the rows that have predictions, or a fixed sample of `n_rows` of them."""
        if self.rows.size <= n_rows:
            return self.rows
        return np.sort(np.random.default_rng(0).choice(self.rows, n_rows, replace=False))
