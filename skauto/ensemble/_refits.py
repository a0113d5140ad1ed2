"""Fit members of an ensemble on the engine, as far as the time allows."""

import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

from skauto.engines import Engine
from skauto.evaluation import RefitTask
from skauto.evaluation._pipeline import Steps
from skauto.history import History, Trial
from skauto.space import Configuration
from skauto.utils import Budget

# While none of the members is fitted, the time limit may be exceeded by so many seconds and so
# much of itself.
_GRACE = 1.0
_GRACE_SHARE = 0.03


class Refits:
    """Members that are fitted, and the time that is left to fit more.

    Parameters
    ----------
    history : History
        All trials.
    engine : Engine
        Idle; runs the fits.
    budget : Budget
        Of the whole ``fit``.
    task : callable
        ``task(trial, fold)`` is what the engine is to run.
    folds : list of int or None
        Each member is fitted once for each entry: on the training rows of the fold, on all rows
        for None.
    known : mapping of Configuration to list of (str, estimator), default={}
        Fitted steps that serve as they are.

    Attributes
    ----------
    steps : dict of int to list
        Fitted steps of each member, one entry a model, by number of the trial.
    asked : list of int
        Numbers of all trials that were to be fitted.
    """

    def __init__(
        self,
        history: History,
        engine: Engine,
        budget: Budget,
        task: Callable[[Trial, int | None], RefitTask],
        folds: list[int | None],
        known: Mapping[Configuration, Steps] = MappingProxyType({}),
    ) -> None:
        self.history = history
        self.engine = engine
        self.budget = budget
        self.task = task
        self.folds = folds
        self.known = known
        self.steps: dict[int, list[Any]] = {}
        self.asked: list[int] = []

    @property
    def missing(self) -> list[int]:
        """Numbers of the trials that were not fitted in time."""
        return [number for number in self.asked if number not in self.steps]

    def fit(self, numbers: Iterable[int]) -> None:
        """Fit members that were not asked for before, as far as the time allows.

        While none of them is fitted, the time limit may be exceeded by a second and 3 percent: a
        model a moment late is better than none.

        Parameters
        ----------
        numbers : iterable of int
            Numbers of the trials.
        """
        new = [number for number in numbers if number not in self.asked]
        self.asked += new
        for number in new:
            if self.history[number].configuration in self.known:
                self.steps[number] = [self.known[self.history[number].configuration]]
                continue
            for fold in self.folds:
                self.engine.submit((number, fold), (self.task(self.history[number], fold),))
        limit = self.budget.time_limit
        grace = 0.0 if limit is None else _GRACE + _GRACE_SHARE * limit
        ready = any(number in self.steps for number in new)
        fitted: dict[int, list[Any]] = {}
        while self.engine.n_running:
            late = 0.0 if fitted or ready else grace - self.budget.overrun
            left = self.budget.remaining + late
            if left <= 0:
                break
            for key, outcome in self.engine.wait(None if math.isinf(left) else left):
                number, _ = cast(tuple[int, int | None], key)
                if outcome.status == "ok":
                    fitted.setdefault(number, []).append(outcome.value)
        self.engine.cancel()
        self.steps |= fitted
