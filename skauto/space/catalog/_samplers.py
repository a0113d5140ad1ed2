"""Samplers of imbalanced-learn; imported only if used, because the import takes 0.25 seconds."""

from typing import Any

import numpy as np
from imblearn.over_sampling import SMOTE


class CappedSMOTE(SMOTE):
    """SMOTE whose number of neighbours is bounded by the size of the smallest class.

    Parameters
    ----------
    k_neighbors : int, default=5
        Number of neighbours for the interpolation of new rows; at most the number of rows of the
        smallest class minus 1.
    random_state : int, RandomState instance or None, default=None
        Seed of the neighbours and of the interpolation.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog._samplers import CappedSMOTE
    >>> X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 0, 1, 1, 1]
    >>> _, y_resampled = CappedSMOTE(random_state=0).fit_resample(X, y)
    >>> np.bincount(y_resampled).tolist()
    [5, 5]
    """

    k_neighbors: int

    def __init__(self, *, k_neighbors: int = 5, random_state: Any = None) -> None:
        super().__init__(k_neighbors=k_neighbors, random_state=random_state)

    def _fit_resample(self, X: Any, y: Any) -> Any:
        wanted = self.k_neighbors
        _, counts = np.unique(y, return_counts=True)
        self.k_neighbors = max(1, min(wanted, counts.min() - 1))
        try:
            return super()._fit_resample(X, y)
        finally:
            self.k_neighbors = wanted
