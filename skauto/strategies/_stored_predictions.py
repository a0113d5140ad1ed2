"""Validation predictions of the trials, for strategies that optimize ensembles."""

import numpy as np
from numpy.typing import NDArray

from skauto.history import History, OutOfFold
from skauto.selection import ErrorLoss, Loss, greedy_selection
from skauto.selection._candidates import candidate_pool
from skauto.strategies._base import Observations
from skauto.utils import IntArray

# Maximum number of validation rows, a fixed sample.
MAX_ROWS = 2000
# Number of the best trials among the candidates of an ensemble.
N_BEST = 10


class StoredPredictions:
    """Predictions of the complete trials on a fixed sample of at most 2,000 validation rows.

    A trial is excluded if it failed, used only a part of the rows, or has no predictions. Without
    targets in the history, all are excluded.
    """

    def __init__(self) -> None:
        self.indices: list[int] = []  # of the observations with predictions
        self.keys: list[tuple[float, float, float]] = []  # violation, loss and tie break
        self.algorithms: list[str] = []  # algorithm of the last step
        self.targets: IntArray = np.empty(0, dtype=np.intp)  # true classes of the rows
        self.loss: Loss = ErrorLoss()  # of ensembles
        self._rows: IntArray | None = None
        # predictions of shape (n_trials, n_rows, n_classes)
        self.values: NDArray[np.float32] = np.empty((0, 0, 0), np.float32)
        self._n_read = 0

    def __len__(self) -> int:
        return len(self.indices)

    def update(self, observations: Observations, history: History) -> int:
        """Read the trials added since the last call; return how many of them have predictions."""
        added = []
        for index in range(self._n_read, len(observations)):
            trial = observations.trials[index]
            predictions = trial.predictions
            if history.goal.targets is None or predictions is None or not trial.ok:
                continue
            if self._rows is None:
                self._rows = OutOfFold(predictions).sample(MAX_ROWS)
                self.targets = history.goal.targets[self._rows]
                if history.goal.ensemble_loss is not None:
                    self.loss = history.goal.ensemble_loss(self._rows)
            sampled = predictions[self._rows]
            if np.isfinite(sampled).all():
                added.append(sampled)
                self.indices.append(index)
                self.keys.append(history.preference(trial))
                self.algorithms.append(trial.configuration.algorithm)
        self._n_read = len(observations)
        if added:
            self.values = np.array([*self.values, *added])
        return len(added)

    def candidates(self, rows: IntArray | None = None, *, n_best: int = N_BEST) -> IntArray:
        """Candidates among rows, best first: the best and the 3 best of each classifier."""
        rows = np.arange(len(self)) if rows is None else rows
        keys, algorithms = [self.keys[r] for r in rows], [self.algorithms[r] for r in rows]
        return rows[candidate_pool(keys, algorithms, n_best=n_best)]

    def members(self, candidates: IntArray, n_members: int) -> IntArray:
        """Distinct rows of an ensemble of `n_members`, selected greedily with repetitions."""
        selection = greedy_selection(self.values[candidates], self.targets, self.loss, n_members)
        return np.unique(candidates[selection.indices])
