"""Samplers of imbalanced-learn, imported when one is built: the import takes a quarter second."""

from typing import Any

import numpy as np
from imblearn.over_sampling import SMOTE


class CappedSMOTE(SMOTE):
    """SMOTE whose number of neighbours respects the smallest class.

    Parameters
    ----------
    k_neighbors : int, default=5
        Number of neighbours among which new rows are interpolated; one less than the rows of the
        smallest class at most.
    random_state : int, RandomState instance or None, default=None
        Chooses neighbours and places between them.

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
