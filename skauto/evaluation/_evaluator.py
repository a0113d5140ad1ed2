"""Evaluate proposals as pipelines: plan the rungs of each trial and aggregate its folds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skauto.constraints._base import limited_resources
from skauto.constraints._gate import Gate
from skauto.evaluation._job import TrialJob
from skauto.evaluation._ladder import Ladder
from skauto.evaluation._pipeline import Reuse
from skauto.evaluation._worker import FoldResult, FoldTask, OutOfBagTask, PipelineWorker, Task
from skauto.history import History, Proposal
from skauto.metalearning import PriceList, Shape
from skauto.space import Configuration
from skauto.utils import Budget, scorer_is_loss

# Under a time limit, the first rung takes `_FIRST_ROWS` training rows if there are more than this.
_MANY_ROWS = 40_000
_FIRST_ROWS = 10_000
# Minimum number of training rows of a rung.
_LEAST_ROWS = 2_000
# Under limits on seconds or bytes, trials are stopped if the first fold exceeds one by more than
# this fraction, because measured seconds vary.
_MAX_EXCESS = 0.25
# Maximum predicted seconds of a task, as a fraction of the seconds that are left.
_AFFORDABLE = 0.25


class PipelineEvaluator:
    """Evaluate configurations as pipelines by their out-of-fold scores.

    With one objective and without limits, a trial is evaluated in rungs (a fraction of the rows,
    the first fold, the other folds), and stopped at a rung where the `Ladder` does not promote it.
    With limits on seconds or bytes, it is stopped after the first fold if that exceeds them.

    The time limit of a trial is the sum over its folds. With `out_of_bag`, forests of bootstrap
    samples are fitted once and validated out of bag. The gate estimates the constraint values of
    trials. Under a time limit, the prices predict the seconds of tasks within the budget of the
    whole ``fit``; None starts every trial.
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
        self.function = function
        self.data = function.data
        self.constraints = function.constraints
        self.scorer = next(iter(function.scorers.values()), None)  # the search maximizes the first
        self.trial_time_limit = trial_time_limit
        self.uses_rungs = True  # an ablation study evaluates without rungs
        self.out_of_bag = out_of_bag and not function.constraints
        self.gate = Gate() if gate is None else gate
        self.prices = prices
        self.budget = Budget() if budget is None else budget
        self.n_workers = n_workers
        self.reuses: list[Reuse] = []
        # Fitted pipelines of trials on a single hold-out split, kept under a time limit, because
        # there may be no time to refit the members on all rows.
        self.models: dict[Configuration, Pipeline] = {}
        self._shape = Shape.of(function.data)
        self._ladder: Ladder | None = None

    @property
    def n_folds(self) -> int:
        """Number of folds of a trial."""
        return len(self.data.splits)

    def open(self, proposal: Proposal, history: History) -> TrialJob:
        """Begin a trial; the job plans its tasks and collects their results."""
        job = TrialJob(self, proposal, history, self._rungs(proposal, history))
        if self.prices is not None and history.time_limit is not None:
            self._make_affordable(job)
        return job

    def promotes(self, job: TrialJob, history: History, n_known: int) -> bool:
        """Decide whether a trial is promoted, compared with the first `n_known` trials."""
        if history.search_limits:
            return not self._exceeds_limit(job.latest[1], history, n_known)
        if self._ladder is None:
            rows = self.data.splits[0][1]
            loss = history.goal.ensemble_loss
            assert loss is not None
            self._ladder = Ladder(self.data.y, rows, loss, self.data.sample_weight)
        share, result = job.latest
        family = job.proposal.configuration.structure[-1]
        if share < 1.0:
            self._ladder.record(job.proposal.configuration, share, result.probabilities)
        promoted = self._ladder.promotes(history, n_known, family, share, result.probabilities)
        if promoted and self._too_late(job):
            return self._take_fewer_rows(job, needed=not any(trial.ok for trial in history))
        return promoted

    def _exceeds_limit(self, result: FoldResult, history: History, n_known: int) -> bool:
        """Whether the first fold of a trial has too many seconds or bytes for any ensemble.

        Before the refit, which may add to them. A trial that is nearer to the limits than all
        complete ones is needed if none keeps them.
        """
        excess = _excess(self.gate, result.constraints)
        complete = [t.constraints for t in history[:n_known] if t.ok and t.fidelity == 1.0]
        nearer = any(_excess(self.gate, values) <= excess for values in complete)
        return nearer and excess > _MAX_EXCESS

    def validates_out_of_bag(self, configuration: Configuration) -> bool:
        """Whether a configuration is fitted once on all rows and validated out of bag."""
        return self.out_of_bag and self.function.builder.validates_out_of_bag(configuration)

    def observe(self, task: Task, results: Sequence[FoldResult]) -> None:
        """Keep the fitted model of a finished task and update the price list with its seconds."""
        if isinstance(task, FoldTask | OutOfBagTask) and results[0].pipeline is not None:
            self.models[task.configuration] = results[0].pipeline
        if self.prices is not None and _is_priced(task):
            seconds = sum(result.cpu_time for result in results)
            self.prices.observe(task.configuration, self._task_shape(task), seconds)

    def observe_timeout(self, task: Task, seconds: float) -> None:
        """Raise the price of a task to the seconds after which it was killed."""
        if self.prices is not None and _is_priced(task):
            shape = self._task_shape(task)
            price = max(seconds, self.prices.seconds(task.configuration, shape))
            self.prices.observe(task.configuration, shape, price)

    def task_limit(self, task: Task) -> float | None:
        """Seconds after which a task is killed: half of those left, or twice its price if more.

        A preview, the first rung on a share of the rows, has a quarter of them.
        """
        if self.prices is None or not _is_priced(task):
            return None
        price = self.prices.seconds(task.configuration, self._task_shape(task))
        share = 1.0 if isinstance(task, FoldTask) and task.preview else 2.0
        return max(share * _AFFORDABLE * self.budget.remaining, 2.0 * price)

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
        rows = np.flatnonzero(~np.isnan(predictions[:, 0]))
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

    def _task_shape(self, task: Task) -> Shape:
        """Shape of the training set of a task."""
        if isinstance(task, OutOfBagTask):
            return replace(self._shape, n_rows=len(self.data.y))
        share = task.share if isinstance(task, FoldTask) else 1.0
        return replace(self._shape, n_rows=max(1, round(share * self._shape.n_rows)))

    def _too_late(self, job: TrialJob) -> bool:
        """Whether the next rung of a trial is predicted to end after the search."""
        if self.prices is None:
            return False
        seconds = sum(
            self.prices.seconds(job.proposal.configuration, self._task_shape(task))
            for task in job.rungs[0].values()
        )
        return seconds / min(self.n_workers, len(job.rungs[0])) > self.budget.search_remaining

    def _take_fewer_rows(self, job: TrialJob, *, needed: bool) -> bool:
        """Fit on the rows that are affordable if that is at least twice as many as before.

        A trial is `needed` as long as none is complete; then it takes at least as many as before.
        """
        assert self.prices is not None
        if self.n_folds > 1:
            return needed
        before = job.latest[0]
        whole = FoldTask(job.proposal.configuration, 0, keep=True)
        seconds = self.prices.seconds(whole.configuration, self._task_shape(whole))
        part = _AFFORDABLE if needed else 2.0 * _AFFORDABLE
        share = min(1.0, part * self.budget.search_remaining / seconds)
        if share < 2.0 * before and not needed:
            return False
        job.rungs[0] = {0: replace(whole, share=max(share, before))}
        return True

    def _make_affordable(self, job: TrialJob) -> None:
        """Start a trial on fewer rows if a fold is too expensive, or skip the trial."""
        assert self.prices is not None
        configuration = job.proposal.configuration
        left = self.budget.remaining
        most = _AFFORDABLE * left
        first = next(iter(job.waiting.values()))
        share = first.share if isinstance(first, FoldTask) else 1.0
        price = self.prices.seconds(configuration, self._task_shape(first))
        if price <= most:
            return
        cheaper = share * most / price
        if self.uses_rungs and cheaper * self._shape.n_rows >= _LEAST_ROWS:
            if share == 1.0:
                job.rungs.insert(0, job.waiting)
            job.waiting = {"share": FoldTask(configuration, 0, share=cheaper, preview=True)}
        else:
            job.skip(f"A fold was predicted to take {price:.3g} s; {left:.3g} s are left.")

    def _rungs(self, proposal: Proposal, history: History) -> list[dict[Any, Task]]:
        """Tasks of each rung by key; the key of a fold is its number."""
        configuration, fidelity = proposal.configuration, proposal.fidelity
        keep = self.n_folds == 1 and fidelity == 1.0 and history.time_limit is not None
        folds: dict[Any, Task] = {
            fold: FoldTask(configuration, fold, fidelity, keep=keep)
            for fold in range(self.n_folds)
        }
        if fidelity < 1.0 or not self.uses_rungs or history.goal.ensemble_loss is None:
            return [folds]
        if len(history.objectives) > 1:
            return [folds]
        if history.search_limits:
            several = bool(limited_resources(self.constraints)) and self.n_folds > 1
            return [{0: folds.pop(0)}, folds] if several else [folds]
        rungs: list[dict[Any, Task]] = [{0: folds.pop(0)}, folds] if self.n_folds > 1 else [folds]
        if self.validates_out_of_bag(configuration):
            rungs = [{"out_of_bag": OutOfBagTask(configuration, keep)}]
        n_train = len(self.data.splits[0][0])
        if history.time_limit is not None and n_train > _MANY_ROWS:
            share = max(_FIRST_ROWS / n_train, 0.02)
            rungs.insert(0, {"share": FoldTask(configuration, 0, share=share, preview=True)})
        return rungs


def _excess(gate: Gate, values: Mapping[str, float]) -> float:
    """Largest relative excess of seconds or bytes over their limit; infinite if not measured."""
    limited = limited_resources(gate.constraints)
    excess = [(values.get(c.key, math.inf) - c.limit) / (abs(c.limit) or 1.0) for c in limited]
    return max(excess, default=-math.inf)


def _is_priced(task: Task) -> TypeGuard[FoldTask | OutOfBagTask]:
    return isinstance(task, OutOfBagTask) or (isinstance(task, FoldTask) and task.fidelity == 1.0)
