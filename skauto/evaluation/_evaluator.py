"""A proposal becomes a trial: its rungs are planned, collected and summed up."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.constraints import Constraint, Gate
from skauto.data import TrainingData
from skauto.evaluation._job import TrialJob
from skauto.evaluation._ladder import Ladder
from skauto.evaluation._pipeline import Reuse, Steps
from skauto.evaluation._worker import FoldResult, FoldTask, OutOfBagTask, PipelineWorker, Task
from skauto.history import History, Proposal
from skauto.metalearning import PriceList, Shape
from skauto.space import Configuration

# On more training rows than this, a trial under a time limit starts on a share of them.
_MANY_ROWS = 40_000
_FIRST_ROWS = 10_000
# A share of the rows is not cut below this number.
_LEAST_ROWS = 2_000
# Share of the seconds left that one task may be predicted to take.
_AFFORDABLE = 0.25


class PipelineEvaluator:
    """Evaluate configurations as pipelines by their out-of-fold scores.

    Parameters
    ----------
    function : PipelineWorker
        What an engine calls for each task.
    trial_time_limit : float, default=None
        Seconds that all folds of a trial may take together.
    ladder : bool, default=True
        Whether trials climb rungs (a share of the rows, the first fold, the other folds) and stop
        where the `Ladder` does not promote them. Only in searches for one objective without
        limits.
    out_of_bag : bool, default=True
        Whether forests of bootstrap samples are fitted once and validated out of bag.
    gate : Gate, default=None
        Gives the values of trials that are held against limits; None without constraints.
    prices : PriceList, default=None
        Predicts the seconds of tasks, under a time limit. None starts every trial.
    seconds_left : callable, default=None
        ``seconds_left()`` gives the seconds that the search may still take.

    Attributes
    ----------
    models : dict of Configuration to list of (str, estimator)
        Fitted steps of the trials, under a time limit where a single part of the rows is held
        out: to refit them on all rows would double the seconds of a trial.
    """

    def __init__(
        self,
        function: PipelineWorker,
        *,
        trial_time_limit: float | None = None,
        ladder: bool = True,
        out_of_bag: bool = True,
        gate: Gate | None = None,
        prices: PriceList | None = None,
        seconds_left: Callable[[], float] | None = None,
    ) -> None:
        self.function = function
        self.trial_time_limit = trial_time_limit
        self.climbs = ladder
        self.out_of_bag = out_of_bag and not function.constraints
        self.gate = Gate() if gate is None else gate
        self.prices = prices
        self.seconds_left = seconds_left
        self.reuses: list[Reuse] = []
        self.models: dict[Configuration, Steps] = {}
        self._shape = Shape.of(function.data)
        self._ladder: Ladder | None = None

    @property
    def data(self) -> TrainingData:
        """Rows, classes and folds."""
        return self.function.data

    @property
    def constraints(self) -> list[Constraint]:
        """What is measured besides the scores."""
        return self.function.constraints

    @property
    def scorers(self) -> Mapping[str, Any]:
        """Scorers by name; the search maximises the first."""
        return self.function.scorers

    @property
    def n_folds(self) -> int:
        """Number of folds of a trial."""
        return len(self.data.splits)

    @property
    def primary(self) -> str:
        """Name of the scorer that the search maximises."""
        return next(iter(self.scorers))

    def open(self, proposal: Proposal, history: History) -> TrialJob:
        """Begin a trial.

        Parameters
        ----------
        proposal : Proposal
            What to evaluate.
        history : History
            Trials so far, with the goal of the search.

        Returns
        -------
        job : TrialJob
            Plans the tasks and collects their results.
        """
        rungs = self._rungs(proposal, history)
        job = TrialJob(self, proposal, history, rungs)
        if self.prices is not None and history.time_limit is not None:
            self._make_affordable(job, rungs)
        return job

    def promotes(self, job: TrialJob, history: History, n_known: int) -> bool:
        """Decide whether a trial goes on from the rung that it has completed.

        Parameters
        ----------
        job : TrialJob
            With the result of its first fold.
        history : History
            Trials so far.
        n_known : int
            How many of them count.

        Returns
        -------
        promoted : bool
        """
        if self._ladder is None:
            rows = self.data.splits[0][1]
            loss = history.goal.ensemble_loss
            assert loss is not None
            self._ladder = Ladder(self.data.y, rows, loss)
        share, result = job.latest
        family = job.proposal.configuration.structure[-1]
        if share < 1.0:
            self._ladder.note(job.proposal.configuration, share, result.probabilities)
        return self._ladder.promotes(history, n_known, family, share, result.probabilities)

    def observe(self, task: Task, result: FoldResult) -> None:
        """Keep the model of a fit that ended, and correct the price list by it.

        Parameters
        ----------
        task : Task
            What was done.
        result : FoldResult
            What it gave.
        """
        if isinstance(task, FoldTask) and result.steps is not None:
            self.models[task.configuration] = result.steps
        if self.prices is not None and isinstance(task, FoldTask) and task.fidelity == 1.0:
            shape = self._rows(task.share)
            self.prices.observe(task.configuration, shape, result.cpu_time)

    def task_limit(self) -> float | None:
        """Seconds after which a task is killed, because its price was predicted too low.

        Returns
        -------
        seconds : float or None
            Twice what a task may be predicted to take; None without a time limit.
        """
        if self.prices is None or self.seconds_left is None:
            return None
        return 2.0 * _AFFORDABLE * self.seconds_left()

    def price(self, configuration: Configuration, share: float = 1.0) -> float:
        """Predict the seconds of fitting and validating a configuration on one fold.

        Parameters
        ----------
        configuration : Configuration
            What would be fitted.
        share : float, default=1.0
            Share of the training rows.

        Returns
        -------
        seconds : float
            0 without a price list.
        """
        if self.prices is None:
            return 0.0
        return self.prices.seconds(configuration, self._rows(share))

    def loss(self, scores: Mapping[str, Sequence[float]]) -> float:
        """Turn the fold scores of the first scorer into the loss that is minimised.

        Parameters
        ----------
        scores : mapping of str to sequence of float
            Scores by scorer and fold.

        Returns
        -------
        loss : float
            Optimum of the scorer (1, or 0 for negated losses) minus the mean over the folds on
            which it is defined; infinite when it is defined on none.
        """
        values = np.array(scores[self.primary])
        values = values[~np.isnan(values)]
        optimum = 0.0 if getattr(self.scorers[self.primary], "_sign", 1) < 0 else 1.0
        return optimum - float(values.mean()) if values.size else math.inf

    def pooled_loss(self, predictions: NDArray[Any]) -> float:
        """Loss of all out-of-fold predictions at once, where no single fold defines a score.

        Parameters
        ----------
        predictions : ndarray of shape (n_samples, n_classes)
            NaN in rows that no fold predicted.

        Returns
        -------
        loss : float
            As ``loss``; infinite when the score is not defined on all rows either.
        """
        rows = np.flatnonzero(~np.isnan(predictions[:, 0]))
        score = self.function.score(self.scorers[self.primary], predictions[rows], rows)
        return self.loss({self.primary: (score,)})

    def cache_report(self) -> dict[str, float]:
        """Sum up what the cache of transformed data did.

        Returns
        -------
        report : dict of str to float
            Steps before classifiers, how many of them were not run, the ratio, and the seconds
            that this saved.
        """
        n_steps = sum(reuse.n_steps for reuse in self.reuses)
        n_reused = sum(reuse.n_reused for reuse in self.reuses)
        return {
            "n_steps": n_steps,
            "n_reused": n_reused,
            "hit_rate": n_reused / n_steps if n_steps else 0.0,
            "seconds_saved": sum(reuse.seconds_saved for reuse in self.reuses),
        }

    def _rows(self, share: float) -> Shape:
        return replace(self._shape, n_rows=max(1, round(share * self._shape.n_rows)))

    def _make_affordable(self, job: TrialJob, rungs: list[dict[Any, Task]]) -> None:
        """Start a trial on fewer rows where a fold is too expensive, or skip it."""
        assert self.seconds_left is not None
        configuration = job.proposal.configuration
        left = self.seconds_left()
        most = _AFFORDABLE * left
        first = next(iter(job.waiting.values()))
        share = first.share if isinstance(first, FoldTask) else 1.0
        price = self.price(configuration, share)
        if price <= most:
            return
        cheaper = share * most / price
        if self.climbs and cheaper * self._shape.n_rows >= _LEAST_ROWS:
            if share == 1.0:
                rungs.insert(0, job.waiting)
            job.waiting = {"share": FoldTask(configuration, 0, share=cheaper)}
        else:
            job.skip(f"A fold was predicted to take {price:.3g} s; {left:.3g} s are left.")

    def _rungs(self, proposal: Proposal, history: History) -> list[dict[Any, Task]]:
        """Tasks of each rung by key: that of a fold is its number."""
        configuration, fidelity = proposal.configuration, proposal.fidelity
        keep = self.n_folds == 1 and fidelity == 1.0 and history.time_limit is not None
        folds: dict[Any, Task] = {
            fold: FoldTask(configuration, fold, fidelity, keep=keep)
            for fold in range(self.n_folds)
        }
        if fidelity < 1.0 or not self.climbs or history.goal.ensemble_loss is None:
            return [folds]
        if len(history.objectives) > 1 or history.limits:
            return [folds]
        if self.out_of_bag and self.function.builder.validates_out_of_bag(configuration):
            return [{"out_of_bag": OutOfBagTask(configuration)}]
        rungs = [{0: folds.pop(0)}, folds] if self.n_folds > 1 else [folds]
        n_train = len(self.data.splits[0][0])
        if history.time_limit is not None and n_train > _MANY_ROWS:
            share = max(_FIRST_ROWS / n_train, 0.02)
            rungs.insert(0, {"share": FoldTask(configuration, 0, share=share)})
        return rungs
