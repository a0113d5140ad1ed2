"""Early stopping of trials: which are promoted from one rung of the evaluation to the next."""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skauto.history import History
from skauto.selection import Loss, greedy_selection
from skauto.selection._candidates import candidate_pool
from skauto.space import Configuration
from skauto.utils import FloatArray, IntArray

# Maximum number of validation rows of the first fold that the decision uses.
_MAX_ROWS = 2_000
# Every trial is promoted until this many others have reached the same rung.
_MIN_OTHERS = 3
# Candidates of the ensemble: the 10 best trials and the 2 best of each classifier.
_BEST, _BEST_PER_ALGORITHM = 10, 2
# Size of the ensemble, counting repeated members.
_N_MEMBERS = 12
# Minimum relative decrease of the ensemble loss.
_LEAST_GAIN = 2e-3


def decisive_rows(n_validation: int) -> IntArray:
    """Return the positions of the validation rows that decide on promotions, at most 2,000."""
    if n_validation <= _MAX_ROWS:
        return np.arange(n_validation)
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(n_validation, _MAX_ROWS, replace=False))


@dataclass(frozen=True, eq=False)
class _Entry:
    """Result of a trial on a rung."""

    number: int
    algorithm: str
    loss: float
    probabilities: NDArray[np.float32]


class RungPromotion:
    """Promote a trial if it is the best of its classifier or would improve the ensemble.

    Every trial predicts the validation rows of the first fold on its first rung. It is promoted if
    its loss there is lower than that of all trials with the same classifier, or if it lowers the
    loss of the ensemble that greedy selection builds from the trials on this rung, as at the end
    of the search. As in successive halving, only promoted trials are evaluated further.

    `rows` are the validation rows of the first fold; `y` and `sample_weight` are the class codes
    and the weights of all rows, None for equal weights. ``ensemble_loss(rows)`` returns the loss
    function of ensembles on some rows.
    """

    def __init__(
        self,
        y: IntArray,
        rows: IntArray,
        ensemble_loss: Callable[[IntArray], Loss],
        sample_weight: FloatArray | None = None,
    ) -> None:
        self._chosen = decisive_rows(len(rows))  # positions among the validation rows
        self._rows = rows[self._chosen]
        self._y = y[self._rows]
        self._weight = None if sample_weight is None else sample_weight[self._rows]
        self._loss = ensemble_loss(self._rows)
        self._entries: defaultdict[float, list[_Entry]] = defaultdict(list)  # by rung
        self._n_read = 0
        self._low_rungs: dict[Configuration, tuple[float, NDArray[np.float32]]] = {}
        self._before: dict[float, tuple[int, float]] = {}

    def record(
        self, configuration: Configuration, share: float, probabilities: NDArray[np.float32]
    ) -> None:
        """Store the predictions of a trial on a rung with a fraction of the training rows."""
        self._low_rungs[configuration] = share, self._decisive(probabilities)

    def promotes(
        self,
        history: History,
        n_known: int,
        algorithm: str,
        share: float,
        probabilities: NDArray[np.float32],
    ) -> bool:
        """Decide whether a trial is promoted to the next rung.

        It is compared with the first `n_known` trials only. Without a time limit these are the
        trials that were complete when it was proposed, so that the decision does not depend on
        timing. It is promoted if the loss is undefined on its rows. The `probabilities` are those
        of the validation rows of the first fold, or of its decisive rows.
        """
        self._read(history)
        others = [e for e in self._entries[share] if e.number < n_known]
        if len(others) < _MIN_OTHERS:
            return True
        new = self._entry(-1, algorithm, self._decisive(probabilities))
        own = [other.loss for other in others if other.algorithm == algorithm]
        if own and new.loss < min(own):
            return True
        keys, algorithms = [(r.loss, r.number) for r in others], [r.algorithm for r in others]
        chosen = candidate_pool(
            keys, algorithms, n_best=_BEST, n_per_algorithm=_BEST_PER_ALGORITHM
        )
        pool = [others[i] for i in chosen]
        if self._before.get(share, (-1, 0.0))[0] != len(others):
            self._before[share] = len(others), self._ensemble_loss(pool)
        before = self._before[share][1]
        if math.isnan(before):  # such as the ROC AUC of rows of a single class
            return True
        return self._ensemble_loss([*pool, new]) < before - _LEAST_GAIN * abs(before)

    def _decisive(self, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
        """Predictions for the rows that decide."""
        few = len(probabilities) == len(self._chosen)
        return probabilities if few else probabilities[self._chosen]

    def _ensemble_loss(self, pool: list[_Entry]) -> float:
        predictions = [entry.probabilities for entry in pool]
        selection = greedy_selection(
            predictions, self._y, self._loss, _N_MEMBERS, sample_weight=self._weight
        )
        return float(selection.losses.min())

    def _read(self, history: History) -> None:
        """Add the trials that were completed since the last call."""
        for trial in history[self._n_read :]:
            algorithm = trial.configuration.algorithm
            low = self._low_rungs.pop(trial.configuration, None)
            if low is not None:
                share, probabilities = low
                self._entries[share].append(self._entry(trial.number, algorithm, probabilities))
            if trial.predictions is not None and trial.fidelity == 1.0:
                predictions = trial.predictions[self._rows]
                if not np.isnan(predictions).any():
                    self._entries[1.0].append(self._entry(trial.number, algorithm, predictions))
        self._n_read = len(history)

    def _entry(self, number: int, algorithm: str, probabilities: NDArray[np.float32]) -> _Entry:
        loss = self._loss(self._y, probabilities[None], self._weight)[0]
        return _Entry(number, algorithm, float(loss), probabilities)
