"""The rungs of a trial: which tasks it has, and whether it is promoted to the next ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from skauto.constraints._base import limited_resources
from skauto.constraints._checker import ConstraintChecker
from skauto.evaluation._promotion import RungPromotion
from skauto.evaluation._worker import FoldResult, FoldTask, OutOfBagTask, PipelineWorker, Task
from skauto.history import History, Proposal
from skauto.schedule import TaskSchedule
from skauto.space import Configuration

# Tasks by key, which are submitted together. The key of a fold is its number.
Rung = dict[Any, Task]
# Under limits on seconds or bytes, trials are stopped if the first fold exceeds one by more than
# this fraction, because measured seconds vary.
_MAX_EXCESS = 0.25


@dataclass(eq=False)
class RungPlanner:
    """Plans the rungs of trials, and decides which trials are promoted.

    With one objective and without limits, the rungs are a share of the rows, the first fold and
    the other folds; a trial is stopped where the `RungPromotion` does not promote it. With limits
    on seconds or bytes, it is stopped after the first fold if that exceeds them. The schedule
    decides by predicted seconds.
    """

    uses_rungs = True  # an ablation study evaluates without rungs

    worker: PipelineWorker
    checker: ConstraintChecker
    schedule: TaskSchedule
    out_of_bag: bool

    def __post_init__(self) -> None:
        self.data = self.worker.data
        self.out_of_bag &= not self.worker.constraints
        self._promotion: RungPromotion | None = None

    @property
    def n_folds(self) -> int:
        return len(self.data.splits)

    def validates_out_of_bag(self, configuration: Configuration) -> bool:
        """Whether a configuration is fitted once on all rows and validated out of bag."""
        return self.out_of_bag and self.worker.builder.validates_out_of_bag(configuration)

    def next_rung(
        self,
        configuration: Configuration,
        rung: Rung,
        latest: tuple[float, FoldResult],
        history: History,
        n_known: int,
        seconds_left: float,
    ) -> Rung | None:
        """Return the next rung of a trial, perhaps on fewer rows; None if it is stopped.

        `latest` are the share of the rows and the result of its last task. The trial is compared
        with the first `n_known` trials.
        """
        share, result = latest
        if history.goal.search_limits:
            return None if self._exceeds_limit(result, history, n_known) else rung
        if self._promotion is None:
            rows = self.data.splits[0][1]
            loss = history.goal.ensemble_loss
            assert loss is not None
            self._promotion = RungPromotion(self.data.y, rows, loss, self.data.sample_weight)
        if share < 1.0:
            self._promotion.record(configuration, share, result.probabilities)
        promoted = self._promotion.promotes(
            history, n_known, configuration.algorithm, share, result.probabilities
        )
        if not promoted:
            return None
        n_rows = map(self.rows_of, rung.values())
        if self.schedule.ends_in_time(configuration, n_rows, seconds_left):
            return rung
        needed = not any(trial.ok for trial in history)
        if self.n_folds > 1:
            return rung if needed else None
        fewer = self.schedule.larger_share(configuration, share, seconds_left, needed=needed)
        return None if fewer is None else {0: FoldTask(configuration, 0, share=fewer, keep=True)}

    def _exceeds_limit(self, result: FoldResult, history: History, n_known: int) -> bool:
        """Whether the first fold of a trial has too many seconds or bytes for any ensemble.

        The values before the refit are compared, and a refit may increase them. A trial that
        exceeds the limits less than every complete trial is continued.
        """
        excess = _excess(self.checker, result.constraints)
        complete = [t.constraints for t in history[:n_known] if t.complete]
        nearer = any(_excess(self.checker, values) <= excess for values in complete)
        return nearer and excess > _MAX_EXCESS

    def rows_of(self, task: Task) -> int:
        if isinstance(task, OutOfBagTask):
            return len(self.data.y)
        return self.schedule.rows(task.share if isinstance(task, FoldTask) else 1.0)

    def task_limit(self, task: Task) -> float | None:
        """Seconds after which a task is killed; None without a limit."""
        if not has_fit_time(task):
            return None
        preview = isinstance(task, FoldTask) and task.preview
        return self.schedule.limit(task.configuration, self.rows_of(task), preview=preview)

    def observe(self, task: Task, seconds: float, *, killed: bool = False) -> None:
        """Correct the predicted seconds by those of a task that was finished or killed."""
        if has_fit_time(task):
            rows = self.rows_of(task)
            self.schedule.observe(task.configuration, rows, seconds, killed=killed)

    def plan(self, proposal: Proposal, history: History) -> tuple[list[Rung], str]:
        """Return the rungs that the time allows; if there are none, the reason to skip the trial.

        A first rung that is too expensive has fewer rows.
        """
        configuration, rungs = proposal.configuration, self.rungs(proposal, history)
        if history.goal.time_limit is None:
            return rungs, ""
        first = next(iter(rungs[0].values()))
        share = first.share if isinstance(first, FoldTask) else 1.0
        n_rows = self.rows_of(first)
        only = list(map(len, rungs)) == [1]
        affordable = self.schedule.affordable_share(configuration, n_rows, share, only=only)
        if affordable == share:
            return rungs, ""
        if not self.uses_rungs or affordable == 0.0:
            seconds = self.schedule.seconds(configuration, n_rows)
            left = self.schedule.budget.remaining
            return [], (
                f"A fold was predicted to take {seconds:.3g} s, more than "
                f"{'half' if only else 'a quarter'} of the {left:.3g} s that are left."
            )
        fewer: Rung = {"share": FoldTask(configuration, 0, share=affordable, preview=True)}
        return [fewer, *(rungs if share == 1.0 else rungs[1:])], ""

    def rungs(self, proposal: Proposal, history: History) -> list[Rung]:
        """Tasks of each rung by key; the key of a fold is its number."""
        configuration, fidelity = proposal.configuration, proposal.fidelity
        keep = self.n_folds == 1 and fidelity == 1.0 and history.goal.time_limit is not None
        folds: Rung = {
            fold: FoldTask(configuration, fold, fidelity, keep=keep)
            for fold in range(self.n_folds)
        }
        if fidelity < 1.0 or not self.uses_rungs or history.goal.ensemble_loss is None:
            return [folds]
        if len(history.goal.objectives) > 1:
            return [folds]
        if history.goal.search_limits:
            several = bool(limited_resources(self.worker.constraints)) and self.n_folds > 1
            return [{0: folds.pop(0)}, folds] if several else [folds]
        rungs: list[Rung] = [{0: folds.pop(0)}, folds] if self.n_folds > 1 else [folds]
        if self.validates_out_of_bag(configuration):
            rungs = [{"out_of_bag": OutOfBagTask(configuration, keep)}]
        share = self.schedule.first_share(len(self.data.splits[0][0]))
        if history.goal.time_limit is not None and share is not None:
            rungs.insert(0, {"share": FoldTask(configuration, 0, share=share, preview=True)})
        return rungs


def _excess(checker: ConstraintChecker, values: Mapping[str, float]) -> float:
    """Largest relative excess of seconds or bytes over their limit; infinite if not measured."""
    limited = limited_resources(checker.constraints)
    excess = [(values.get(c.key, math.inf) - c.limit) / (abs(c.limit) or 1.0) for c in limited]
    return max(excess, default=-math.inf)


def has_fit_time(task: Task) -> TypeGuard[FoldTask | OutOfBagTask]:
    return isinstance(task, OutOfBagTask) or (isinstance(task, FoldTask) and task.fidelity == 1.0)
