"""The loop: ask the strategy, have the proposal evaluated, tell it, until the budget is spent."""

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from skauto.engines import Engine, Outcome, make_engine, thread_pools
from skauto.evaluation import ObjectiveEvaluator
from skauto.history import Goal, History, Proposal, Trial
from skauto.space import Configuration, SearchSpace
from skauto.strategies import Strategy, get_strategy
from skauto.utils import Budget

# Without a time limit, proposal k is made when exactly the trials up to k - LOOK_AHEAD are known,
# however many workers there are: the same trials come out for any n_jobs.
LOOK_AHEAD = 4
# After this number of skipped trials in a row, the time left pays for nothing that is proposed.
MAX_SKIPPED = 20


class Job(Protocol):
    """A trial on its way: plans its parts and collects what came of them."""

    proposal: Proposal

    @property
    def time_limit(self) -> float | None:
        """Seconds that one more part may take."""

    @property
    def done(self) -> bool:
        """Whether nothing more has to run."""

    def next_parts(self) -> list[Hashable]:
        """Give the keys of the parts to submit now."""

    def args(self, part: Hashable) -> tuple[Any, ...]:
        """Give the arguments of the engine's function for a part."""

    def receive(self, part: Hashable, outcome: Outcome) -> None:
        """Take what came of a part."""

    def unfinished(self) -> list[Hashable]:
        """Give the keys of the parts that are still running."""

    def trial(self, number: int, started: float, ended: float) -> Trial:
        """Give the frozen record."""


class Evaluator(Protocol):
    """Turns proposals into jobs."""

    def open(self, proposal: Proposal, history: History) -> Job:
        """Begin a trial."""


class Search:
    """One run of the loop.

    Parameters
    ----------
    strategy : Strategy
        Started by ``run`` and stopped at its end.
    space : SearchSpace
        What may be tried.
    evaluator : Evaluator
        Its ``open(proposal, history)`` begins a trial (see ``PipelineEvaluator``).
    engine : Engine
        Runs the evaluator's function.
    history : History
        Trials are appended to it; it may already hold some.
    budget : Budget
        With a time limit, a trial counts as soon as it ends (asynchronous); without one, in the
        order of the proposals, so that results do not depend on timing or on ``n_jobs``.
    initial : sequence of Configuration, default=()
        Tried before the strategy is asked.
    look_ahead : int, default=None
        Number of trials under way at once; None: LOOK_AHEAD, or one more than the engine has
        workers where time bounds the search.
    reserve : callable, default=None
        ``reserve(history)`` gives the seconds to keep for what comes after the search.
    record : callable, default=None
        Called with each trial the moment it ends, which may be before earlier ones have ended
        and it is appended.
    on_start : callable, default=None
        Called with each proposal before it is submitted.
    on_trial : callable, default=None
        Called with each appended trial; the search ends when it returns True.
    """

    def __init__(
        self,
        strategy: Strategy,
        space: SearchSpace,
        evaluator: Evaluator,
        engine: Engine,
        history: History,
        budget: Budget,
        *,
        initial: Sequence[Configuration] = (),
        look_ahead: int | None = None,
        reserve: Callable[[History], float] | None = None,
        record: Callable[[Trial], None] | None = None,
        on_start: Callable[[Proposal], None] | None = None,
        on_trial: Callable[[Trial], bool] | None = None,
    ) -> None:
        self.strategy = strategy
        self.space = space
        self.evaluator = evaluator
        self.engine = engine
        self.history = history
        self.budget = budget
        self.initial = list(initial)
        self.reserve = reserve
        self.record = record
        self.on_start = on_start
        self.on_trial = on_trial
        self.asynchronous = budget.time_limit is not None
        self.look_ahead = look_ahead or (
            engine.n_workers + 1 if self.asynchronous else max(LOOK_AHEAD, engine.n_workers)
        )
        # The clock of a search that is continued goes on from where it stood.
        self._elapsed_before = history.elapsed
        self._running: dict[int, _Running] = {}  # by key, in the order of the proposals
        self._next_key = 0
        self._n_before = len(history)
        self._n_appended = 0
        self._n_skipped = 0
        self._exhausted = False
        self._ended = False

    def run(self, rng: np.random.Generator) -> bool:
        """Search until the budget is spent, nothing is left to propose, or Ctrl-C.

        Parameters
        ----------
        rng : numpy.random.Generator
            Randomness of the strategy.

        Returns
        -------
        interrupted : bool
            Whether a KeyboardInterrupt ended it; what was found is in the history.
        """
        self.strategy.start(self.space, rng)
        try:
            self._propose()
            while self._running and not self._ended and self._time_left() > 0:
                for (key, part), outcome in self.engine.wait(timeout=self._timeout()):
                    self._receive(key, part, outcome)
                self._append_finished()
        except KeyboardInterrupt:
            return True
        finally:
            self.engine.cancel()
            self.strategy.stop()
        return False

    @property
    def _now(self) -> float:
        return self._elapsed_before + self.budget.elapsed

    def _time_left(self) -> float:
        kept = self.reserve(self.history) if self.reserve and self.asynchronous else 0.0
        return self.budget.remaining - kept

    def _timeout(self) -> float | None:
        left = self._time_left()
        return None if math.isinf(left) else max(0.0, left)

    def _propose(self) -> None:
        """Fill the look-ahead with new trials."""
        while not self._exhausted and not self._ended and len(self._running) < self.look_ahead:
            n_made = self._n_appended + len(self._running)
            if self.budget.max_evals is not None and n_made >= self.budget.max_evals:
                return
            if self._time_left() <= 0:
                return
            proposal = self._next_proposal()
            if proposal is None:
                # A strategy may run dry only because what is pending is all that is left.
                self._exhausted = not self._running
                return
            if self.on_start:
                self.on_start(proposal)
            job = self.evaluator.open(proposal, self.history)
            self._running[self._next_key] = _Running(job, self._now)
            if job.done:
                self._finish(self._next_key)
            self._submit(self._next_key, job)
            self._next_key += 1

    def _next_proposal(self) -> Proposal | None:
        if self.initial:
            return Proposal(self.initial.pop(0), origin="initial")
        pending = [running.job.proposal for running in self._running.values()]
        with thread_pools().limit(limits=1):  # the cores are the workers'
            return self.strategy.suggest(self.history, pending)

    def _submit(self, key: int, job: Job) -> None:
        for part in job.next_parts():
            self.engine.submit((key, part), job.args(part), job.time_limit)

    def _receive(self, key: int, part: Hashable, outcome: Outcome) -> None:
        if key not in self._running:
            return
        running = self._running[key]
        if running.trial is not None:
            return
        job = running.job
        job.receive(part, outcome)
        ended = self._now - (time.time() - outcome.ended)
        running.runs.append((ended - outcome.seconds, ended))
        if not job.done:
            self._submit(key, job)
            return
        self.engine.cancel([(key, other) for other in job.unfinished()])
        self._finish(key)

    def _finish(self, key: int) -> None:
        """Make the record of a trial whose job is done."""
        running = self._running[key]
        job = running.job
        trial = job.trial(self._n_before + key, running.started, self._now)
        running.trial = replace(trial, runs=tuple(running.runs))
        if self.record:
            self.record(running.trial)

    def _append_finished(self) -> None:
        """Append what is complete, one by one, and propose anew after each."""
        while not self._ended:
            key = self._next_finished()
            if key is None:
                break
            finished = self._running.pop(key).trial
            assert finished is not None
            trial = replace(finished, number=len(self.history))
            self.history.append(trial)
            self._n_appended += 1
            self.strategy.observe(trial)
            self._n_skipped = self._n_skipped + 1 if trial.status == "skipped" else 0
            self._exhausted = self._exhausted or self._n_skipped >= MAX_SKIPPED
            self._ended = bool(self.on_trial and self.on_trial(trial))
            self._propose()
        self._propose()

    def _next_finished(self) -> int | None:
        for key, running in self._running.items():
            if running.trial is not None:
                return key
            if not self.asynchronous:
                return None
        return None


@dataclass
class _Running:
    """A trial under way; it waits here when it ended before an earlier one."""

    job: Job
    started: float
    runs: list[tuple[float, float]] = field(default_factory=list)
    trial: Trial | None = None


@dataclass(frozen=True)
class SearchResult:
    """What ``minimize`` found.

    Attributes
    ----------
    history : History
        All trials.
    configuration : Configuration or None
        The best one; None when no trial succeeded.
    loss : float
        Its loss; infinite when no trial succeeded.
    strategy : Strategy
        A copy of the one given, with what it recorded, such as ``tree_`` of MOSAIC.
    """

    history: History
    configuration: Configuration | None
    loss: float
    strategy: Strategy


def minimize(
    objective: Callable[..., Any],
    space: SearchSpace,
    *,
    strategy: str | Strategy = "forest_bo",
    objectives: Sequence[str] = ("loss",),
    limits: Mapping[str, float] | None = None,
    max_evals: int | None = None,
    time_limit: float | None = None,
    initial: Sequence[Configuration] = (),
    trial_time_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SearchResult:
    """Minimise a Python callable over a search space with any strategy.

    Parameters
    ----------
    objective : callable
        ``objective(configuration)`` returns the loss, or a mapping with a value for each name in
        ``objectives`` and ``limits``. If it has a parameter ``fidelity``, it is given the share of
        the full evaluation that the strategy asks for. An exception is a failed trial.
    space : SearchSpace
        What may be tried.
    strategy : str or Strategy, default="forest_bo"
        How to search.
    objectives : sequence of str, default=("loss",)
        Names of the losses, all minimised.
    limits : mapping of str to float, default=None
        Upper limits of constraints by name.
    max_evals : int, default=None
        Number of trials; 100 when ``time_limit`` is None too.
    time_limit : float, default=None
        Seconds of wall clock. Evaluations then run in a process of their own, and one that still
        runs at the limit is killed.
    initial : sequence of Configuration, default=()
        Tried first.
    trial_time_limit : float, default=None
        Seconds that one call of the objective may take before it is killed.
    n_jobs : int, default=None
        Number of worker processes, as everywhere in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same trials in every call (without a time limit).

    Returns
    -------
    result : SearchResult
        History, best configuration and its loss.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from skauto import minimize
    >>> from skauto.space import SearchSpace
    >>> space = SearchSpace(["curve"])
    >>> space = space.add("curve", "parabola", parameters={"x": uniform(-1, 2)})
    >>> result = minimize(
    ...     lambda configuration: configuration.parameters("curve")["x"] ** 2,
    ...     space, strategy="random", max_evals=50, random_state=0,
    ... )
    >>> result.loss < 0.01
    True
    """
    if max_evals is None and time_limit is None:
        max_evals = 100
    strategy = get_strategy(strategy)
    budget = Budget(max_evals, time_limit)
    goal = Goal(objectives, limits or {}, max_evals=max_evals, time_limit=time_limit)
    history = History(goal)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    evaluator = ObjectiveEvaluator(
        objective, history.objectives, tuple(history.limits), trial_time_limit=trial_time_limit
    )
    isolate = time_limit is not None or trial_time_limit is not None
    with make_engine(evaluator.function, n_jobs=n_jobs, isolate=isolate) as engine:
        Search(
            strategy,
            space,
            evaluator,
            engine,
            history,
            budget,
            initial=initial,
            look_ahead=engine.n_workers,
        ).run(rng)
    best = history.incumbent
    if best is None:
        return SearchResult(history, None, math.inf, strategy)
    return SearchResult(history, best.configuration, best.loss, strategy)
