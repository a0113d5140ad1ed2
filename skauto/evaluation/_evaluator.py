"""Evaluate proposals as pipelines, and aggregate the folds of each trial."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skauto.constraints._gate import Gate
from skauto.evaluation._job import TrialJob
from skauto.evaluation._pipeline import Reuse
from skauto.evaluation._rungs import RungPlanner, is_priced
from skauto.evaluation._worker import FoldResult, FoldTask, OutOfBagTask, PipelineWorker, Task
from skauto.history import History, OutOfFold, Proposal
from skauto.metalearning import PriceList, Shape
from skauto.schedule import TaskSchedule
from skauto.space import Configuration
from skauto.utils import Budget, scorer_is_loss


class PipelineEvaluator(RungPlanner):
    """Evaluate configurations as pipelines by their out-of-fold scores.

    Trials are evaluated in rungs, see `RungPlanner`. The time limit of a trial is the sum over its
    folds. With `out_of_bag`, forests of bootstrap samples are fitted once and validated out of
    bag. The gate estimates the constraint values of trials. Under a time limit, the prices predict
    the seconds of tasks within the budget of the whole ``fit``; None starts every trial.
    """

    def __init__(
        self,
        function: PipelineWorker,
        *,
        trial_time_limit: float | None = None,
        out_of_bag: bool = True,
        gate: Gate | None = None,
        prices: PriceList | None = None,
        budget: Budget | None = None,
        n_workers: int = 1,
    ) -> None:
        schedule = TaskSchedule(
            Shape.of(function.data), prices, Budget() if budget is None else budget, n_workers
        )
        super().__init__(function, gate or Gate(), schedule, out_of_bag=out_of_bag)
        self.constraints = function.constraints
        self.scorer = next(iter(function.scorers.values()), None)  # the search maximizes the first
        self.trial_time_limit = trial_time_limit
        self.reuses: list[Reuse] = []
        # Fitted pipelines of trials on a single hold-out split, kept under a time limit, because
        # there may be no time to refit the members on all rows.
        self.models: dict[Configuration, Pipeline] = {}

    def open(self, proposal: Proposal, history: History) -> TrialJob:
        """Begin a trial; the job plans its tasks and collects their results."""
        job = TrialJob(self, proposal, history, self.rungs(proposal, history))
        if history.time_limit is not None:
            self.make_affordable(job)
        return job

    def observe(self, task: Task, results: Sequence[FoldResult]) -> None:
        """Keep the fitted model of a finished task and update the price list with its seconds."""
        if isinstance(task, FoldTask | OutOfBagTask) and results[0].pipeline is not None:
            self.models[task.configuration] = results[0].pipeline
        if is_priced(task):
            seconds = sum(result.cpu_time for result in results)
            self.schedule.observe(task.configuration, self.rows_of(task), seconds)

    def observe_timeout(self, task: Task, seconds: float) -> None:
        """Raise the predicted seconds of a task to those after which it was killed."""
        if is_priced(task):
            self.schedule.observe_timeout(task.configuration, self.rows_of(task), seconds)

    def task_limit(self, task: Task) -> float | None:
        """Seconds after which a task is killed; None without a limit."""
        if not is_priced(task):
            return None
        preview = isinstance(task, FoldTask) and task.preview
        return self.schedule.limit(task.configuration, self.rows_of(task), preview=preview)

    def loss(self, scores: Sequence[float]) -> float:
        """Convert the fold scores of the scorer into the loss that is minimized.

        It is the optimum of the scorer (1, or 0 for negated losses) minus the mean score over the
        folds where it is not NaN; infinite if it is NaN on all folds.
        """
        values = np.array(scores)
        values = values[~np.isnan(values)]
        optimum = 0.0 if scorer_is_loss(self.scorer) else 1.0
        return optimum - float(values.mean()) if values.size else math.inf

    def pooled_loss(self, predictions: NDArray[Any]) -> float:
        """Loss of the pooled out-of-fold predictions, for scores that are NaN on every fold."""
        rows = OutOfFold(predictions).rows
        return self.loss([self.function.score(self.scorer, predictions[rows], rows)])

    def cache_report(self) -> dict[str, float]:
        """Summarize the cache: preprocessing steps, reused steps, hit rate, seconds saved."""
        n_steps = sum(reuse.n_steps for reuse in self.reuses)
        n_reused = sum(reuse.n_reused for reuse in self.reuses)
        return {
            "n_steps": n_steps,
            "n_reused": n_reused,
            "hit_rate": n_reused / n_steps if n_steps else 0.0,
            "seconds_saved": sum(reuse.seconds_saved for reuse in self.reuses),
        }
