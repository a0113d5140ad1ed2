"""Turn the results of the folds of a trial into its losses and constraint values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skauto.constraints._checker import ConstraintChecker
from skauto.evaluation._stages import with_common_rounds
from skauto.evaluation._worker import FoldResult, PipelineWorker, Task
from skauto.history import History, OutOfFold, Proposal, Status, Trial
from skauto.space import Configuration
from skauto.utils import scorer_is_loss


@dataclass
class TrialResults:
    """What the tasks of a trial returned."""

    status: Status = "ok"
    error: str = ""
    seconds: float = 0.0
    cpu_time: float = 0.0
    folds: dict[int, FoldResult] = field(default_factory=dict)  # by fold
    latest: tuple[float, FoldResult] | None = None  # share of the rows, result of the last task

    def end(self, status: Status, error: str) -> None:
        """Set the status, unless the trial has ended before."""
        if self.status == "ok":
            self.status, self.error = status, error


class TrialAggregator:
    """Aggregates the folds of trials.

    The checker estimates constraint values. `models` are the fitted pipelines of trials on a
    single hold-out split, kept under a time limit, because there may be no time to refit the
    members on all rows.
    """

    def __init__(self, worker: PipelineWorker, checker: ConstraintChecker) -> None:
        self.worker = worker
        self.data = worker.data
        self.checker = checker
        self.scorer = next(iter(worker.scorers.values()), None)  # the search maximizes the first
        self.models: dict[Configuration, Pipeline] = {}

    def observe(self, task: Task, results: Sequence[FoldResult]) -> None:
        """Keep the fitted model of a finished task."""
        if results[0].pipeline is not None:
            self.models[task.configuration] = results[0].pipeline

    def loss(self, scores: Sequence[float]) -> float:
        """Convert the fold scores of the scorer into the loss that is minimized.

        It is the optimum of the scorer (1, or 0 for negated losses) minus the mean score over the
        folds where it is not NaN; infinite if it is NaN on all folds.
        """
        values = np.array(scores)
        values = values[~np.isnan(values)]
        optimum = 0.0 if scorer_is_loss(self.scorer) else 1.0
        return optimum - float(values.mean()) if values.size else math.inf

    def out_of_fold(self, folds: Mapping[int, FoldResult], fidelity: float) -> NDArray[np.float32]:
        """Out-of-fold probabilities, averaged in rows that several folds predicted."""
        data = self.data
        total = np.zeros((len(data.y), data.n_classes), dtype=np.float32)
        count = np.zeros(len(data.y), dtype=np.float32)
        for fold in sorted(folds):  # rounding depends on the order
            _, test = self.worker.rows(fold, fidelity)
            total[test] += folds[fold].probabilities
            count[test] += 1
        with np.errstate(invalid="ignore"):
            return np.asarray(total / count[:, None])

    def log_loss(self, predictions: NDArray[np.float32]) -> float:
        """Log loss, which breaks ties between equal losses."""
        rows = OutOfFold(predictions).rows
        truth = np.maximum(predictions[rows, self.data.y[rows]], np.finfo(np.float32).eps)
        return float(-np.average(np.log(truth), weights=self.data.weights_of(rows)))

    def trial(
        self,
        proposal: Proposal,
        results: TrialResults,
        history: History,
        *,
        number: int,
        started: float,
        ended: float,
    ) -> Trial:
        """Return the trial; its losses are infinite unless at least one fold was scored."""
        status, error = results.status, results.error
        fidelity, folds, predictions = self._collected(results, proposal.fidelity)
        scores = _by_name([result.scores for result in folds])
        measured = _by_name([result.constraints for result in folds])
        scored = status in ("ok", "stopped")
        loss = self.loss(next(iter(scores.values()))) if scored else math.inf
        complete, tie_break = predictions if status == "ok" else None, 0.0
        if complete is not None:
            tie_break = self.log_loss(complete)
            if not math.isfinite(loss):
                # The score is NaN on every fold: score the pooled predictions.
                rows = OutOfFold(complete).rows
                loss = self.loss([self.worker.score(self.scorer, complete[rows], rows)])
            if not math.isfinite(loss):
                status, error = "failed", "The score is not a finite number on any fold."
                complete = None
        constraints = self.checker.estimates(measured, complete, fidelity)
        minimized = history.goal.objectives[1:]
        others = tuple(constraints.get(key, math.inf) for key in minimized)
        undefined = [key for key, v in zip(minimized, others, strict=True) if not math.isfinite(v)]
        if status == "ok" and undefined:
            status, error = "failed", f"{undefined[0]!r} is not a finite number on any fold."
        return Trial(
            number=number,
            configuration=proposal.configuration,
            status=status,
            losses=(loss, *others),
            constraints=constraints,
            fold_constraints=measured,
            tie_break=tie_break,
            fidelity=fidelity,
            cost=results.seconds,
            cpu_time=results.cpu_time,
            started=started,
            ended=ended,
            error=error,
            fold_scores=scores,
            fit_times=tuple(result.fit_time for result in folds),
            score_times=tuple(result.score_time for result in folds),
            rounds=tuple(result.rounds for result in folds if result.rounds is not None),
            predictions=predictions,
            origin=proposal.origin,
            info=proposal.info,
        )

    def _collected(
        self, results: TrialResults, fidelity: float
    ) -> tuple[float, list[FoldResult], NDArray[np.float32] | None]:
        """Fidelity, results of the folds and out-of-fold predictions of a trial.

        A trial that was stopped before its first whole fold has the result of its last task.
        """
        by_fold = results.folds
        if results.status == "stopped" and not by_fold:
            assert results.latest is not None
            fidelity, only = results.latest
            return fidelity, [only], None
        if results.status == "ok" and fidelity == 1.0:
            by_fold = with_common_rounds(by_fold, self.worker)
        scored = results.status in ("ok", "stopped") and by_fold
        predictions = self.out_of_fold(by_fold, fidelity) if scored else None
        return fidelity, [by_fold[fold] for fold in sorted(by_fold)], predictions


def _by_name(rows: list[Any]) -> dict[str, tuple[float, ...]]:
    """Turn a list of mappings, one per fold, into a mapping of tuples."""
    return {name: tuple(row[name] for row in rows) for name in (rows[0] if rows else ())}
