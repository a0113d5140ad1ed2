"""Samplers of imbalanced-learn; imported only if used, because the import takes 0.25 seconds."""

from typing import Any

import numpy as np
from imblearn.over_sampling import SMOTE


class CappedSMOTE(SMOTE):
    """SMOTE whose `k_neighbors` is bounded by the size of the smallest class minus 1."""

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
