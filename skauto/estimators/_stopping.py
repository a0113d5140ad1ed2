"""Rules that end a search before its limits."""

from collections.abc import Callable

import numpy as np

from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._select import MAX_ROWS
from skauto.history import History, OutOfFold
from skauto.selection._losses import log_losses, mean_and_error
from skauto.utils import FloatArray

# Number of trials at the first check of the ensemble. With fewer, ensembles were worse on the new
# rows of 12 development tables with 400 or 1,000 rows.
_FIRST_CHECK = 512
# Gain of twice the trials that continues the search, in standard errors.
_MIN_GAIN = 1.0


def stopping_rule(
    patience: str | int | None, history: History, builder: EnsembleBuilder
) -> Callable[[], bool]:
    """Return the rule that `patience` of the options names; it is called after each trial."""
    if isinstance(patience, int | np.integer):
        return Patience(history, int(patience))
    goal = history.goal
    may_end = goal.time_limit is not None and not goal.limits and len(goal.objectives) == 1
    if patience is None or not may_end or builder.selector.n_members == 1:
        return lambda: False
    return Plateau(history, builder)


class Patience:
    """Whether a number of trials in a row did not change the Pareto front.

    With one objective the front is the smallest loss.
    """

    def __init__(self, history: History, n_trials: int) -> None:
        self.history, self.n_trials = history, n_trials
        self._front: set[tuple[float, ...]] = set()
        self._n_without_gain = 0

    def __call__(self) -> bool:
        front = {trial.losses for trial in self.history.under_search_limits().front()}
        self._n_without_gain = 0 if front != self._front else self._n_without_gain + 1
        self._front = front
        return self._n_without_gain >= self.n_trials


class Plateau:
    """Whether twice the trials did not improve the ensemble.

    After 512 trials and after each further doubling, the ensemble of all trials is compared with
    that of the first half. The search ends if the mean decrease of the out-of-fold log loss is
    less than its standard error over the rows.
    """

    def __init__(self, history: History, builder: EnsembleBuilder) -> None:
        self.history, self.builder = history, builder
        self._due = max(_FIRST_CHECK // 2, len(history))  # a resumed search has trials
        self._losses: FloatArray | None = None  # of the rows, at the last check

    def __call__(self) -> bool:
        if len(self.history) < self._due:
            return False
        self._due *= 2
        before, self._losses = self._losses, self._log_losses()
        if before is None or self._losses is None:
            return False
        gain, error = mean_and_error(before - self._losses, self._weights)
        return gain <= _MIN_GAIN * error  # both are 0 for the same ensemble

    def _log_losses(self) -> FloatArray | None:
        """Log loss of each row for the ensemble of all trials; None if there is none."""
        weights = self.builder.select(self.history)
        if not weights:
            return None
        mean = OutOfFold.mean([self.history[number] for number in weights], weights.values())
        rows = mean.sample(MAX_ROWS)
        self._weights = self.builder.data.weights_of(rows)
        return log_losses(self.builder.data.y[rows], mean.predictions[rows])
