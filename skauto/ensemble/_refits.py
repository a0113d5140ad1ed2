"""Refit members of an ensemble on the engine within the remaining time."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import cast

import numpy as np
from sklearn.pipeline import Pipeline

from skauto.data import TrainingData
from skauto.engines import Engine
from skauto.evaluation import RefitTask
from skauto.history import History, Trial
from skauto.schedule import grace
from skauto.space import Configuration
from skauto.utils import Budget


@dataclass(eq=False)
class Refits:
    """Refit members of the ensemble on an idle engine, within the budget of the whole ``fit``.

    Each member is fitted once per entry of `folds` by the task ``task(trial, fold)``: on the
    training rows of the fold, or on all rows for None. Members whose pipelines are `known` are
    refitted only if ``refit_time(trial)`` seconds suffice.

    `pipelines` are the fitted pipelines of each member, by trial number, and `requested` the
    numbers of all trials whose refit was requested. `errors` are those of failed refits; a refit
    that does not end in time is no failure.
    """

    history: History
    engine: Engine
    budget: Budget
    task: Callable[[Trial, int | None], RefitTask]
    folds: list[int | None]
    known: Mapping[Configuration, Pipeline]
    refit_time: Callable[[Trial], float]
    pipelines: dict[int, list[Pipeline]] = field(default_factory=dict)
    requested: list[int] = field(default_factory=list)
    errors: dict[int, str] = field(default_factory=dict)

    @property
    def missing(self) -> list[int]:
        """Numbers of the trials that were not fitted in time."""
        return [number for number in self.requested if number not in self.pipelines]

    @property
    def failed(self) -> set[int]:
        """Numbers of the trials without a model because their refit failed."""
        return self.errors.keys() - self.pipelines.keys()

    def fit(self, numbers: Iterable[int]) -> None:
        """Refit trials that were not requested before, within the remaining time.

        Until one of them is fitted, the time limit may be exceeded by a second and 3 percent.
        """
        new = [number for number in numbers if number not in self.requested]
        self.requested += new
        known = [number for number in new if self.history[number].configuration in self.known]
        self.pipelines |= {n: [self.known[self.history[n].configuration]] for n in known}
        affordable = self._affordable(known)
        self._submit([n for n in new if n not in known or n in affordable])
        waiting = [n for n in known if n not in affordable]
        ready = any(number in self.pipelines for number in new)
        fitted: dict[tuple[int, int | None], Pipeline] = {}
        while self.engine.n_running:
            late = 0.0
            if not (fitted or ready):
                late = grace(self.budget.time_limit) - self.budget.overrun
            left = self.budget.remaining + late
            if left <= 0:
                break
            for key, outcome in self.engine.wait(left):
                number, fold = cast(tuple[int, int | None], key)
                if outcome.status == "ok":
                    fitted[number, fold] = outcome.value
                elif outcome.status != "timeout":
                    self.errors.setdefault(number, outcome.error)
            if not self.engine.n_running:  # refits may take less than predicted
                affordable = self._affordable(waiting)
                self._submit(affordable)
                waiting = [n for n in waiting if n not in affordable]
        self.engine.cancel()
        for number in new:  # not in the order of completion, which rounding would depend on
            pipelines = [fitted[number, fold] for fold in self.folds if (number, fold) in fitted]
            if pipelines:
                self.pipelines[number] = pipelines

    def _submit(self, numbers: list[int]) -> None:
        for number, fold in product(numbers, self.folds):
            self.engine.submit((number, fold), (self.task(self.history[number], fold),))

    def _affordable(self, known: list[int]) -> list[int]:
        """Members with a fitted model that can be refitted on all rows in time."""
        chosen, spent = [], 0.0
        left = self.budget.remaining
        for number in known:
            seconds = self.refit_time(self.history[number])
            # The predicted time is 0 if the model was fitted on all rows.
            if 0.0 < seconds <= left and spent + seconds <= left * self.engine.n_workers:
                chosen.append(number)
                spent += seconds
        return chosen


def refit_task(trial: Trial, fold: int | None, data: TrainingData, n_seeds: int = 1) -> RefitTask:
    """Return the task of a refit; boosting rounds grow in proportion to the rows."""
    if not trial.rounds:
        return RefitTask(trial.configuration, fold, n_seeds=n_seeds)
    rounds = float(np.mean(trial.rounds))
    if fold is None:
        n_train = float(np.mean([train.size for train, _ in data.splits]))
        rounds *= len(data.y) / n_train
    elif len(trial.rounds) == len(data.splits):  # else a fold has a single class
        rounds = trial.rounds[fold]
    return RefitTask(trial.configuration, fold, max(1, round(rounds)), n_seeds)
