"""A running trial: its remaining tasks and the results of the finished ones."""

import math
import time
from collections.abc import Hashable
from dataclasses import dataclass, replace

from skauto.engines import Outcome
from skauto.evaluation._aggregate import TrialAggregator, TrialResults
from skauto.evaluation._rungs import Rung, RungPlanner
from skauto.evaluation._worker import FoldTask, Task
from skauto.history import History, Proposal, Trial
from skauto.schedule import seconds_of_rounds


@dataclass(eq=False)
class TrialJob:
    """Submit the tasks of a trial rung by rung and collect their results.

    A rung starts when the previous one is complete and the trial is promoted. The time limit is
    that of the sum over all folds. A trial without a rung that would end in time is skipped.
    """

    planner: RungPlanner
    aggregator: TrialAggregator
    proposal: Proposal
    history: History
    time_limit: float | None = None

    def __post_init__(self) -> None:
        self.results = TrialResults()
        # Without a time limit, ignore trials completed since the proposal: they depend on timing.
        self._n_known = len(self.history) if self.history.goal.time_limit is None else None
        rungs, reason = self.planner.plan(self.proposal, self.history)
        self._rungs = iter(rungs)
        self._next = next(self._rungs, None)
        self._running: Rung = {}
        self._waiting: Rung = {}
        if self._next is None:
            self.results.end("skipped", reason)
        else:
            self._start(self._next)

    def _start(self, rung: Rung) -> None:
        self._waiting = rung
        self._next = next(self._rungs, None)

    def next_parts(
        self, seconds_left: float = math.inf
    ) -> list[tuple[Hashable, tuple[Task], float | None]]:
        """Tasks to submit now: key, arguments of the engine's function, maximum seconds.

        The search has some `seconds_left`, and boosting ends before it.
        """
        ends = time.time() + seconds_of_rounds(seconds_left)
        tasks, self._waiting = self._waiting, {}
        self._running.update(tasks)
        parts: list[tuple[Hashable, tuple[Task], float | None]] = []
        for part, task in tasks.items():
            limit = self._seconds_of(task)
            if limit is not None and isinstance(task, FoldTask):
                task = replace(task, seconds=seconds_of_rounds(limit), ends=ends)
            parts.append((part, (task,), limit))
        return parts

    def _seconds_of(self, task: Task) -> float | None:
        limit = self.time_limit
        of_trial = None if limit is None else limit - self.results.seconds
        limits = [self.planner.task_limit(task), of_trial]
        return min((max(0.0, value) for value in limits if value is not None), default=None)

    def receive(self, part: Hashable, outcome: Outcome, seconds_left: float) -> None:
        """Store the outcome of a task, and start the next rung or end the trial.

        The search has some `seconds_left`.
        """
        task, results = self._running.pop(part), self.results
        results.seconds += outcome.seconds
        if outcome.status != "ok":
            results.cpu_time += outcome.seconds
            if outcome.status == "timeout":
                self.planner.observe(task, outcome.seconds, killed=True)
            results.end(outcome.status, outcome.error)
            return
        values = outcome.value if isinstance(outcome.value, list) else [outcome.value]
        seconds = sum(value.cpu_time for value in values)
        results.cpu_time += seconds
        self.planner.observe(task, seconds)
        self.aggregator.observe(task, values)
        if isinstance(task, FoldTask):
            results.latest = task.share, values[0]
            if not task.preview:
                results.folds[task.fold] = values[0]
        else:
            results.folds.update(enumerate(values))
        if not self._exceeds_limit() and not (self._running or self._waiting):
            self._promote(seconds_left)

    def _promote(self, seconds_left: float) -> None:
        """Start the next rung, or stop the trial."""
        if self._next is None:
            return
        assert self.results.latest is not None
        rung = self.planner.next_rung(
            self.proposal.configuration,
            self._next,
            self.results.latest,
            self.history,
            len(self.history) if self._n_known is None else self._n_known,
            seconds_left,
        )
        if rung is None:
            self.results.end("stopped", "")
        else:
            self._start(rung)

    @property
    def done(self) -> bool:
        return self.results.status != "ok" or len(self.results.folds) == self.planner.n_folds

    def trial(self, number: int, started: float, ended: float) -> Trial:
        return self.aggregator.trial(
            self.proposal, self.results, self.history, number=number, started=started, ended=ended
        )

    def _exceeds_limit(self) -> bool:
        """End the trial after its first fold if all folds would exceed its time limit."""
        limit, n_folds, results = self.time_limit, self.planner.n_folds, self.results
        if limit is None or len(results.folds) != 1 or n_folds == 1:
            return False
        if results.seconds * n_folds <= limit:
            return False
        results.end(
            "timeout",
            f"The first of {n_folds} folds took {results.seconds:.3g} s: all would exceed the "
            f"limit of {limit:.3g} s a trial.",
        )
        return True
