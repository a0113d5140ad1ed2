"""A running trial: its remaining tasks and the results of the finished ones."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skauto.constraints._gate import Gate
from skauto.data import TrainingData
from skauto.engines import Outcome
from skauto.evaluation._pipeline import Reuse
from skauto.evaluation._worker import FoldResult, FoldTask, PipelineWorker, Task
from skauto.history import History, OutOfFold, Proposal, Status, Trial


class JobRules(Protocol):
    """What a job asks of its evaluator, see `PipelineEvaluator`."""

    function: PipelineWorker
    data: TrainingData
    trial_time_limit: float | None
    gate: Gate
    reuses: list[Reuse]

    @property
    def n_folds(self) -> int:
        """Number of folds of a trial."""

    def task_limit(self, task: Task) -> float | None:
        """Seconds after which a task is killed."""

    def observe(self, task: Task, results: Sequence[FoldResult]) -> None:
        """Take note of a finished task."""

    def observe_timeout(self, task: Task, seconds: float) -> None:
        """Take note of a task that was killed after some seconds."""

    def promotes(self, job: TrialJob, history: History, n_known: int) -> bool:
        """Decide whether a trial is promoted to its next rung."""

    def loss(self, scores: Sequence[float]) -> float:
        """Convert the scores of the folds into the loss."""

    def pooled_loss(self, predictions: NDArray[Any]) -> float:
        """Loss of the out-of-fold predictions of all folds together."""


class TrialJob:
    """Plan the tasks of a trial rung by rung and collect their results.

    A rung is a mapping of tasks by key. It starts when the previous rung is complete and the trial
    is promoted. `waiting` are the tasks to submit next, and `rungs` those of further rungs.
    """

    def __init__(
        self,
        evaluator: JobRules,
        proposal: Proposal,
        history: History,
        rungs: list[dict[Any, Task]],
    ) -> None:
        self.evaluator = evaluator
        self.proposal = proposal
        self.status: Status = "ok"
        self.error = ""
        self.seconds = 0.0
        self.cpu_time = 0.0
        self.results: dict[int, FoldResult] = {}  # by fold
        self.latest: tuple[float, FoldResult]  # fraction of the rows and result of the last task
        self._history = history
        # Without a time limit, ignore trials completed since the proposal: they depend on timing.
        self._n_known = len(history) if history.time_limit is None else None
        self.rungs = rungs
        self._running: dict[Any, Task] = {}
        self.waiting = rungs.pop(0)

    def next_parts(self) -> list[tuple[Hashable, tuple[Task], float | None]]:
        """Tasks to submit now: key, arguments of the engine's function, maximum seconds."""
        tasks, self.waiting = self.waiting, {}
        self._running.update(tasks)
        return [(part, (task,), self._time_limit(task)) for part, task in tasks.items()]

    def _time_limit(self, task: Task) -> float | None:
        limit = self.evaluator.trial_time_limit
        of_task = self.evaluator.task_limit(task)
        limits = [of_task, None if limit is None else limit - self.seconds]
        return min((max(0.0, value) for value in limits if value is not None), default=None)

    def receive(self, part: Hashable, outcome: Outcome) -> None:
        """Store the outcome of a task, and start the next rung or end the trial."""
        task = self._running.pop(part)
        self.seconds += outcome.seconds
        if outcome.status != "ok":
            self.cpu_time += outcome.seconds
            if outcome.status == "timeout":
                self.evaluator.observe_timeout(task, outcome.seconds)
            self._end(outcome.status, outcome.error)
            return
        results = outcome.value if isinstance(outcome.value, list) else [outcome.value]
        self.evaluator.observe(task, results)
        self.cpu_time += sum(result.cpu_time for result in results)
        self.evaluator.reuses.extend(r.reuse for r in results if r.reuse is not None)
        if isinstance(task, FoldTask):
            self.latest = task.share, results[0]
            if not task.preview:
                self.results[task.fold] = results[0]
        else:
            self.results.update(enumerate(results))
        if self._exceeds_limit():
            return
        if not self._running and not self.waiting and self.rungs:
            known = len(self._history) if self._n_known is None else self._n_known
            if self.evaluator.promotes(self, self._history, known):
                self.waiting = self.rungs.pop(0)
            else:
                self._end("stopped", "")

    def skip(self, reason: str) -> None:
        """Do not start the trial; the leaderboard shows the reason."""
        self.waiting = {}
        self._end("skipped", reason)

    @property
    def done(self) -> bool:
        """Whether the trial needs no further task."""
        return self.status != "ok" or len(self.results) == self.evaluator.n_folds

    def trial(self, number: int, started: float, ended: float) -> Trial:
        """Return the trial; its losses are infinite unless at least one fold was scored."""
        status, error, loss, tie_break = self.status, self.error, math.inf, 0.0
        fidelity = self.proposal.fidelity
        results = [self.results[fold] for fold in sorted(self.results)]
        predictions = self._out_of_fold() if status in ("ok", "stopped") and results else None
        if status == "stopped" and not results:
            fidelity, only = self.latest
            results = [only]
        scores = _by_name([result.scores for result in results])
        if status in ("ok", "stopped"):
            loss = self.evaluator.loss(next(iter(scores.values())))
        if status == "ok" and predictions is not None:
            tie_break = self._log_loss(predictions)
            if not math.isfinite(loss):
                loss = self.evaluator.pooled_loss(predictions)
            if not math.isfinite(loss):
                status, error = "failed", "The score is not a finite number on any fold."
        measured = _by_name([result.constraints for result in results])
        whole = predictions if status == "ok" else None
        constraints = self.evaluator.gate.estimates(measured, whole, fidelity)
        minimized = self._history.objectives[1:]
        others = tuple(constraints.get(key, math.inf) for key in minimized)
        undefined = [key for key, v in zip(minimized, others, strict=True) if not math.isfinite(v)]
        if status == "ok" and undefined:
            status, error = "failed", f"{undefined[0]!r} is not a finite number on any fold."
        rounds = [result.rounds for result in results if result.rounds is not None]
        return Trial(
            number=number,
            configuration=self.proposal.configuration,
            status=status,
            losses=(loss, *others),
            constraints=constraints,
            fold_constraints=measured,
            tie_break=tie_break,
            fidelity=fidelity,
            cost=self.seconds,
            cpu_time=self.cpu_time,
            started=started,
            ended=ended,
            error=error,
            fold_scores=scores,
            fit_times=tuple(result.fit_time for result in results),
            score_times=tuple(result.score_time for result in results),
            rounds=tuple(rounds),
            predictions=predictions,
            origin=self.proposal.origin,
            info=self.proposal.info,
        )

    def _exceeds_limit(self) -> bool:
        """End the trial after its first fold if all folds would exceed its time limit."""
        limit, n_folds = self.evaluator.trial_time_limit, self.evaluator.n_folds
        if limit is None or len(self.results) != 1 or n_folds == 1:
            return False
        if self.seconds * n_folds <= limit:
            return False
        self._end(
            "timeout",
            f"The first of {n_folds} folds took {self.seconds:.3g} s: all would exceed the limit "
            f"of {limit:.3g} s a trial.",
        )
        return True

    def _end(self, status: Status, error: str) -> None:
        if self.status == "ok":
            self.status, self.error = status, error

    def _out_of_fold(self) -> NDArray[np.float32]:
        """Out-of-fold probabilities, averaged in rows that several folds predicted."""
        data = self.evaluator.data
        total = np.zeros((len(data.y), data.n_classes), dtype=np.float32)
        count = np.zeros(len(data.y), dtype=np.float32)
        for fold in sorted(self.results):  # rounding depends on the order
            _, test = self.evaluator.function.rows(fold, self.proposal.fidelity)
            total[test] += self.results[fold].probabilities
            count[test] += 1
        with np.errstate(invalid="ignore"):
            return np.asarray(total / count[:, None])

    def _log_loss(self, predictions: NDArray[np.float32]) -> float:
        """Log loss, which breaks ties between equal losses."""
        data = self.evaluator.data
        rows = OutOfFold(predictions).rows
        truth = np.maximum(predictions[rows, data.y[rows]], np.finfo(np.float32).eps)
        return float(-np.average(np.log(truth), weights=data.weights_of(rows)))


def _by_name(rows: list[Any]) -> dict[str, tuple[float, ...]]:
    """Turn a list of mappings, one per fold, into a mapping of tuples."""
    return {name: tuple(row[name] for row in rows) for name in (rows[0] if rows else ())}
