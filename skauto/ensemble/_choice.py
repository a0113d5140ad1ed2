"""What is known of an ensemble before its members are refitted."""

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from skauto.constraints._base import limited_resources
from skauto.constraints._checker import ConstraintChecker
from skauto.ensemble._decide import DecisionChooser, DecisionPair
from skauto.ensemble._refits import Refits
from skauto.ensemble._select import MAX_ROWS, MemberSelector
from skauto.evaluation import PipelineEvaluator
from skauto.history import History, OutOfFold, Trial
from skauto.schedule import refit_seconds


class MemberChoice:
    """The members of an ensemble, its decision, and the predicted seconds of its refits.

    The evaluator holds the data and refits, and its checker measures constraints. The ensemble
    optimizes `scoring` and has `n_members`, counting repeated members, among the trials of the
    `pool`; their selection may be `bagged`. They are fitted on all rows, or without `refit` once
    per fold. Without `decisions`, an ensemble predicts the most probable class.
    """

    _selector_type = MemberSelector

    def __init__(
        self,
        evaluator: PipelineEvaluator,
        *,
        n_members: int,
        refit: bool,
        scoring: Any,
        pool: str | int = "best",
        bagged: bool = True,
        decisions: DecisionChooser | None = None,
    ) -> None:
        self.evaluator = evaluator
        self.data = evaluator.data
        self.checker = evaluator.checker
        self.refit = refit
        self.decisions = decisions or DecisionChooser(self.data, self.checker, "argmax")
        self.selector = self._selector_type(
            self.data,
            self.checker,
            n_members=n_members,
            scoring=scoring,
            candidates=pool,
            bagged=bagged,
            tunes_labels=self.decisions.decision != "argmax",
        )
        self._chosen: dict[tuple[tuple[int, float], ...], DecisionPair] = {}  # by weights

    def refit_time(self, trial: Trial) -> float:
        """Predict the processor seconds of refitting a trial by the fit times of its folds."""
        if self.is_fitted(trial) and (
            not self.refit or self.evaluator.planner.validates_out_of_bag(trial.configuration)
        ):
            return 0.0
        if not self.refit:
            return refit_seconds(sum(trial.fit_times))
        return self._seconds_of_one(trial) * self.n_seeds(trial)

    def n_seeds(self, trial: Trial) -> int:
        """Number of models with different seeds in the refit of a trial, see `TaskSchedule`.

        If seconds or bytes are limited, it is one.
        """
        builder = self.evaluator.worker.builder
        if self.may_grow or not builder.averages_seeds(trial.configuration):
            return 1
        schedule = self.evaluator.planner.schedule
        return schedule.n_seeds(self._seconds_of_one(trial), len(self.data.y))

    def _seconds_of_one(self, trial: Trial) -> float:
        """Predict the processor seconds of fitting one model of a trial on all rows."""
        n_train = float(np.mean([train.size for train, _ in self.data.splits]))
        return refit_seconds(trial.mean_fit_time, len(self.data.y), n_train)

    @property
    def may_grow(self) -> bool:
        """Whether a member may exceed a limit after its refit."""
        return self.refit and bool(limited_resources(self.checker.constraints))

    def is_fitted(self, trial: Trial) -> bool:
        return trial.configuration in self.evaluator.aggregator.models

    def time_to_fit(self, trial: Trial) -> float:
        """Predicted seconds until there is a fitted model of a trial."""
        return 0.0 if self.is_fitted(trial) else self.refit_time(trial)

    def select(
        self,
        history: History,
        processor_seconds: float = math.inf,
        seconds: float = math.inf,
        checker: ConstraintChecker | None = None,
        refits: Refits | None = None,
    ) -> dict[int, float]:
        """Weights of the selected members, see `MemberSelector.select`.

        Trials that `refits` has fitted take no time, and those that have failed are excluded.
        """
        fitted: Collection[int] = refits.pipelines if refits else ()
        failed: Collection[int] = refits.failed if refits else ()

        def time_to_fit(trial: Trial) -> float:
            return 0.0 if trial.number in fitted else self.time_to_fit(trial)

        return self.selector.select(
            history, time_to_fit, processor_seconds, seconds, checker, failed
        )

    def choose_decision(self, history: History, weights: dict[int, float]) -> DecisionPair:
        """Choose the decision of an ensemble (cached)."""
        key = tuple(weights.items())
        if key not in self._chosen:
            trials = [history[number] for number in weights]
            rows = OutOfFold(np.asarray(trials[0].predictions)).sample(MAX_ROWS)
            shares = np.array(list(weights.values()))
            loss = self.selector.score_loss(rows)
            self._chosen[key] = self.decisions.choose(trials, shares, rows, loss)
        return self._chosen[key]
