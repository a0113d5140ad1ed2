"""The tasks of a search: what starts, on how many rows, and when it is stopped."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from skauto.data import DataFacts
from skauto.metalearning import FitTimeModel
from skauto.space import Configuration
from skauto.utils import Budget

# Under a time limit, the first rung has this number of training rows if there are more than
# `_MANY_ROWS`, and at least this share of them.
_FIRST_ROWS, _MANY_ROWS, _MIN_FIRST_SHARE = 10_000, 40_000, 0.02
# Minimum number of training rows of a task.
_MIN_ROWS = 2_000
# Maximum predicted seconds of a task, as a share of the seconds that are left.
_AFFORDABLE = 0.25
# Number of models with different seeds in a refit, up to this number of rows, and their maximum
# share of the processor seconds of `fit`.
_N_SEEDS, _SEEDED_ROWS, _SEEDS_SHARE = 4, 10_000, 0.02
# A task is stopped after this number of times its predicted seconds, or after this number of
# affordable shares of the seconds that are left.
_PATIENCE = 2.0


@dataclass
class TaskSchedule:
    """Decides by predicted seconds which tasks start, on how many rows, and when they end.

    `facts` have the size of the training set of a fold. Without a `time_model`, which predicts the
    seconds of a fit, every task starts and has no limit.
    """

    facts: DataFacts
    time_model: FitTimeModel | None = None
    budget: Budget = field(default_factory=Budget)
    n_workers: int = 1

    def n_seeds(self, seconds: float, n_rows: int) -> int:
        """Return the number of models with different seeds in a refit of the ensemble.

        One of them takes some processor seconds. They are at most four, and one for many rows.
        """
        if n_rows > _SEEDED_ROWS:
            return 1
        if self.budget.time_limit is None:
            return _N_SEEDS
        share = _SEEDS_SHARE * self.budget.time_limit * self.n_workers
        return int(np.clip(share / max(seconds, 1e-9), 1, _N_SEEDS))

    def seconds(self, configuration: Configuration, n_rows: int) -> float:
        """Predict the seconds of a fit on a number of rows; 0 without time_model."""
        if self.time_model is None:
            return 0.0
        return self.time_model.seconds(configuration, replace(self.facts, n_samples=n_rows))

    def rows(self, share: float) -> int:
        """Return the number of training rows of a share of those of a fold."""
        return max(1, round(share * self.facts.n_samples))

    def observe(
        self, configuration: Configuration, n_rows: int, seconds: float, *, killed: bool = False
    ) -> None:
        """Correct the predictions by the processor seconds of a task.

        Those after which a task was killed only raise them.
        """
        if self.time_model is None:
            return
        if killed:
            seconds = max(seconds, self.seconds(configuration, n_rows))
        facts = replace(self.facts, n_samples=n_rows)
        self.time_model.observe(configuration, facts, seconds)

    def limit(self, configuration: Configuration, n_rows: int, *, preview: bool) -> float | None:
        """Return the seconds after which a task is stopped; None without a limit.

        They are half of those that are left, or twice the predicted ones if more. A preview, the
        first rung on a share of the rows, has a quarter of them.
        """
        if self.time_model is None:
            return None
        share = (1.0 if preview else _PATIENCE) * _AFFORDABLE
        predicted = self.seconds(configuration, n_rows)
        return max(share * self.budget.remaining, _PATIENCE * predicted)

    def first_share(self, n_train: int) -> float | None:
        """Return the share of the rows of the first rung; None if it has all rows."""
        if n_train <= _MANY_ROWS:
            return None
        return max(_FIRST_ROWS / n_train, _MIN_FIRST_SHARE)

    def affordable_share(
        self, configuration: Configuration, n_rows: int, share: float, *, only: bool = False
    ) -> float:
        """Return the share of the rows to start a task with; 0 if the task is to be skipped.

        The task would have `share` of the rows, which are `n_rows`. It has fewer if it was
        predicted to take more than a quarter of the seconds that are left. The `only` task of a
        trial may take half of them: a fit on fewer rows before it would take most of the rest.
        """
        most = _AFFORDABLE * self.budget.remaining
        seconds = self.seconds(configuration, n_rows)
        if seconds <= (_PATIENCE if only else 1.0) * most:
            return share
        fewer = share * most / seconds
        return fewer if fewer * self.facts.n_samples >= _MIN_ROWS else 0.0

    def ends_in_time(
        self, configuration: Configuration, n_rows: Iterable[int], seconds_left: float
    ) -> bool:
        """Return whether tasks on these numbers of rows are predicted to end before the search.

        The search has some `seconds_left`.
        """
        if self.time_model is None:
            return True
        seconds = [self.seconds(configuration, rows) for rows in n_rows]
        return sum(seconds) / min(self.n_workers, len(seconds)) <= seconds_left

    def larger_share(
        self, configuration: Configuration, before: float, seconds_left: float, *, needed: bool
    ) -> float | None:
        """Return the affordable share of the rows; None if it is not twice the one before.

        The search has some `seconds_left`. A trial is `needed` as long as no other one is
        complete: it gets at least the share before.
        """
        seconds = self.seconds(configuration, self.rows(1.0))
        part = _AFFORDABLE if needed else _PATIENCE * _AFFORDABLE
        share = min(1.0, part * seconds_left / seconds)
        return max(share, before) if needed or share >= 2.0 * before else None
