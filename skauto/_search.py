"""The search loop: the strategy proposes, the engine evaluates, the history records."""

import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from skauto.engines import Engine, Outcome, make_engine
from skauto.evaluation import ObjectiveEvaluator
from skauto.history import Goal, History, Proposal, Trial
from skauto.space import Configuration, SearchSpace
from skauto.strategies import STRATEGIES, RandomSearch, Strategy, get_strategy
from skauto.utils import Budget, Interval, single_thread

# Without a time limit, proposal k is made when exactly the trials up to k - LOOK_AHEAD are known.
# The trials are therefore the same for any n_jobs.
LOOK_AHEAD = 4
# The search ends after this many skipped trials in a row.
MAX_SKIPPED = 20
# Pairs of readings of two clocks, of which the quickest is used.
N_CLOCK_READINGS = 5


class Job(Protocol):
    """A running trial: plans its parts and collects their outcomes."""

    proposal: Proposal

    @property
    def done(self) -> bool:
        """Whether the trial needs no further part."""

    def next_parts(
        self, seconds_left: float
    ) -> Sequence[tuple[Hashable, tuple[Any, ...], float | None]]:
        """Return the parts to submit now: key, arguments of the function, maximum seconds.

        The search has some seconds left.
        """

    def receive(self, part: Hashable, outcome: Outcome, seconds_left: float) -> None:
        """Store the outcome of a part; the search has some seconds left."""

    def trial(self, number: int, started: float, ended: float) -> Trial:
        """Return the trial, with its number and the seconds since the search began."""


class Evaluator(Protocol):
    """Evaluates proposals."""

    def open(self, proposal: Proposal, history: History) -> Job:
        """Begin a trial."""


@dataclass(eq=False)
class Search:
    """One run of the search loop.

    With a time limit, trials are appended to the history as soon as they end (asynchronous).
    Without one, they are appended in the order of the proposals, so that results do not depend on
    timing or on ``n_jobs``. The history may hold earlier trials.

    The trials `known` are those of a search without a time limit that was interrupted, with the
    numbers of their proposals. The proposals are made again, and these trials are not evaluated
    again. If a proposal is another one, the other known trials are appended at once.

    The configurations `initial` are evaluated first, and ``variant(history)``, if it is not None,
    before any other. At most `look_ahead` trials are pending. None
    means one more than the number of workers with a time limit, and LOOK_AHEAD or the number of
    workers, if larger, without one.

    ``reserve(history)`` returns the seconds to keep for refitting after the search. `record` is
    called with each trial as soon as it ends, possibly before it is appended, `on_start` with each
    proposal before it is submitted, and `on_trial` with each appended trial. The search ends when
    `on_trial` returns True.
    """

    strategy: Strategy
    space: SearchSpace
    evaluator: Evaluator
    engine: Engine
    history: History
    budget: Budget
    _: KW_ONLY
    known: Sequence[Trial] = ()
    initial: Sequence[Configuration] = ()
    variant: Callable[[History], Configuration | None] | None = None
    look_ahead: int | None = None
    reserve: Callable[[History], float] | None = None
    record: Callable[[Trial], None] | None = None
    on_start: Callable[[Proposal], None] | None = None
    on_trial: Callable[[Trial], bool] | None = None

    def __post_init__(self) -> None:
        n_workers = self.engine.n_workers
        self.asynchronous = self.budget.time_limit is not None
        self._most_pending = self.look_ahead or (
            n_workers + 1 if self.asynchronous else max(LOOK_AHEAD, n_workers)
        )
        self._initial = list(self.initial)
        self._known = list(self.known)
        ends = (trial.ended for trial in self.known)
        self._elapsed_before = max(ends, default=self.history.elapsed)  # of a resumed search
        self._running: dict[int, _Running] = {}  # by key, in the order of the proposals
        self._next_key = 0
        self._n_before = len(self.history)
        self._n_skipped = 0
        self._exhausted = False
        self._ended = False
        self._reserved = 0.0  # seconds, as of the last call of `reserve`

    def run(self, rng: np.random.Generator) -> bool:
        """Search until the budget is spent, no proposal is left, or a KeyboardInterrupt.

        The generator is that of the strategy. Return whether a KeyboardInterrupt ended the search.
        """
        self.strategy.start(self.space, rng)
        try:
            self._propose()
            while self._running and not self._ended and self._time_left() > 0:
                for (key, part), outcome in self.engine.wait(timeout=self._time_left()):
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

    def _started_at(self) -> float:
        """Time of the start of the search by `time.time()`.

        The process may be interrupted between two readings of clocks. Of several pairs of
        readings, the one that took the least time is used.
        """
        pairs = []
        for _ in range(N_CLOCK_READINGS):
            before, wall, after = self._now, time.time(), self._now
            pairs.append((after - before, wall - before))
        return min(pairs)[1]

    def _time_left(self) -> float:
        if self.reserve and self.asynchronous:
            self._reserved = self.reserve(self.history)
        return self._seconds_left()

    def _seconds_left(self) -> float:
        return max(0.0, self.budget.remaining - self._reserved)

    def _propose(self) -> None:
        """Submit new trials until `look_ahead` trials are pending."""
        while not self._exhausted and not self._ended and len(self._running) < self._most_pending:
            left = self.history.remaining_evals
            if (left is not None and len(self._running) >= left) or self._time_left() <= 0:
                return
            proposal = self._next_proposal()
            if proposal is None:
                # With pending trials, the strategy may have proposals again later.
                self._exhausted = not self._running
                return
            if self.on_start:
                self.on_start(proposal)
            key, known = self._next_key, self._take_known(proposal)
            job = self.evaluator.open(proposal, self.history)
            self._running[key] = _Running(job, self._now, trial=known)
            if job.done and known is None:
                self._finish(key)
            if self._running[key].trial is None:
                self._submit(key)
            self._next_key += 1

    def _take_known(self, proposal: Proposal) -> Trial | None:
        """Return the known trial of the next proposal; None if it was not finished."""
        due = [trial for trial in self._known if trial.number <= self._next_key]
        what = proposal.configuration, proposal.fidelity
        same = [trial for trial in due if (trial.configuration, trial.fidelity) == what]
        for trial in same[:1]:
            self._known.remove(trial)
        if due[1:] or due and not same:  # the proposals differ from those of the known trials
            for trial in self._known:
                self.history.append(replace(trial, number=len(self.history)))
            self._known = []
        return replace(same[0], origin=proposal.origin, info=proposal.info) if same else None

    def _next_proposal(self) -> Proposal | None:
        variant = self.variant(self.history) if self.variant else None
        if variant is not None:
            return Proposal(variant, origin="variant")
        if self._initial:
            return Proposal(self._initial.pop(0), origin="initial")
        pending = [running.job.proposal for running in self._running.values()]
        with single_thread():  # leave the cores to the workers
            return self.strategy.ask(self.history, pending)

    def _submit(self, key: int) -> None:
        running = self._running[key]
        for part, args, time_limit in running.job.next_parts(self._seconds_left()):
            running.parts.add(part)
            self.engine.submit((key, part), args, time_limit)

    def _receive(self, key: int, part: Hashable, outcome: Outcome) -> None:
        if key not in self._running:
            return
        running = self._running[key]
        if running.trial is not None:
            return
        running.parts.remove(part)
        running.job.receive(part, outcome, self._seconds_left())
        ended = outcome.ended - self._started_at()
        running.runs.append((ended - outcome.seconds, ended))
        if running.job.done:
            self.engine.cancel([(key, other) for other in running.parts])
            self._finish(key)
        else:
            self._submit(key)

    def _finish(self, key: int) -> None:
        running = self._running[key]
        trial = running.job.trial(self._n_before + key, running.started, self._now)
        running.trial = replace(trial, runs=tuple(running.runs))
        if self.record:
            self.record(running.trial)

    def _append_finished(self) -> None:
        """Append finished trials one by one, and propose after each."""
        while not self._ended:
            key = self._next_finished()
            if key is None:
                break
            finished = self._running.pop(key).trial
            assert finished is not None
            trial = replace(finished, number=len(self.history))
            self.history.append(trial)
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
    """A pending trial, or a finished one that waits for earlier ones."""

    job: Job
    started: float
    parts: set[Hashable] = field(default_factory=set)  # submitted and not yet received
    runs: list[tuple[float, float]] = field(default_factory=list)
    trial: Trial | None = None


@dataclass(frozen=True)
class SearchResult:
    """Result of ``minimize``.

    Attributes
    ----------
    history : History
        All trials.
    configuration : Configuration or None
        Incumbent: the best configuration of the trials that succeeded and keep all limits; None
        if there is none.
    loss : float
        Loss of the incumbent; infinite if there is none.
    strategy : Strategy
        Clone of the strategy, with its attributes such as ``tree_`` of MOSAIC.
    """

    history: History
    configuration: Configuration | None
    loss: float
    strategy: Strategy


def minimize(
    objective: Callable[..., Any],
    space: SearchSpace,
    *,
    strategy: str | Strategy = "auto",
    objectives: Sequence[str] = ("loss",),
    limits: Mapping[str, float] | None = None,
    max_evals: int | None = None,
    time_limit: float | None = None,
    initial: Sequence[Configuration] = (),
    trial_time_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> SearchResult:
    """Minimize a Python callable over a search space.

    Parameters
    ----------
    objective : callable
        ``objective(configuration)`` returns the loss, or a mapping with a value for each name in
        ``objectives`` and ``limits``. If it has a parameter ``fidelity``, this is the fraction of
        the full evaluation that the strategy requests. If it raises, the trial fails.
    space : SearchSpace
        Search space.
    strategy : str or Strategy, default="auto"
        Search strategy. "auto" is ``"parego"`` for several objectives and ``"admm"`` with a finite
        limit, because most others ignore limits while they search. Otherwise it is
        ``"joint_gp"``, whose time for a proposal grows with the number of trials; with thousands
        of them, ``"forest_bo"`` and ``"tpe"`` are faster.
    objectives : sequence of str, default=("loss",)
        Names of the losses, all minimized. More than one needs a strategy for several objectives,
        ``"parego"`` or ``"fang_hpo"``, or ``"random"``.
    limits : mapping of str to float, default=None
        Upper limits of constraints by name; infinite to record a value without limiting it. The
        incumbent keeps all of them.
    max_evals : int, default=None
        Number of trials; 100 if ``time_limit`` is also None.
    time_limit : float, default=None
        Wall-clock seconds. Evaluations then run in worker processes, and those that exceed the
        limit are killed.
    initial : sequence of Configuration, default=()
        Configurations of the space to evaluate first.
    trial_time_limit : float, default=None
        Maximum seconds of one call of the objective, which is killed after them.
    n_jobs : int, default=None
        Number of worker processes, as in scikit-learn.
    random_state : int, RandomState instance or None, default=None
        Pass an int for reproducible trials (without a time limit).

    Returns
    -------
    result : SearchResult
        History, incumbent and its loss.

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
    _check_seconds_and_trials(
        max_evals=max_evals, time_limit=time_limit, trial_time_limit=trial_time_limit
    )
    limits = _read_limits(limits)
    strategy = _read_strategy(strategy, _read_objectives(objectives), limits)
    initial = _read_initial(initial, space)
    budget = Budget(time_limit)
    goal = Goal(objectives, limits, max_evals=max_evals, time_limit=time_limit)
    history = History(goal)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    evaluator = ObjectiveEvaluator(objective, goal, trial_time_limit)
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


def _check_seconds_and_trials(**values: float | None) -> None:
    """Raise unless each argument of `minimize` is a positive number, or None for no limit."""
    seconds = Interval(Real, 0, None, closed="neither")
    for name, value in values.items():
        allowed = Interval(Integral, 1, None, closed="left") if name == "max_evals" else seconds
        if value is not None and not allowed.is_satisfied_by(value):
            raise ValueError(
                f"The '{name}' of minimize must be {allowed}, or None for no limit. "
                f"Got {value!r} instead."
            )


def _read_limits(limits: Any) -> Mapping[str, float]:
    """Return the limits by name; raise unless they are numbers."""
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        raise TypeError(
            "The 'limits' of minimize must map names to upper limits, such as {'seconds': 0.1}. "
            f"Got {limits!r} instead."
        )
    for name, limit in limits.items():
        if not isinstance(name, str) or not isinstance(limit, Real) or math.isnan(limit):
            raise ValueError(
                "The 'limits' of minimize must map names to numbers that are not NaN. "
                f"Got {name!r}: {limit!r} instead."
            )
    return limits


def _read_objectives(objectives: Any) -> Sequence[str]:
    """Return the names of the objectives; raise unless they are legal."""
    is_sequence = isinstance(objectives, Sequence) and not isinstance(objectives, str)
    if not (
        is_sequence
        and objectives
        and all(isinstance(name, str) for name in objectives)
        and len(set(objectives)) == len(objectives)
    ):
        raise ValueError(
            "The 'objectives' of minimize must be one or more different names, such as "
            f"('loss',). Got {objectives!r} instead."
        )
    return objectives


def _read_strategy(
    strategy: Any, objectives: Sequence[str], limits: Mapping[str, float]
) -> Strategy:
    """Return the strategy object; raise unless it minimizes all objectives."""
    if strategy == "auto":
        limited = any(limit < math.inf for limit in limits.values())
        strategy = "parego" if len(objectives) > 1 else "admm" if limited else "joint_gp"
    strategy = get_strategy(strategy, also=("auto",))
    if len(objectives) > 1 and not (
        strategy.multi_objective or isinstance(strategy, RandomSearch)
    ):
        several = sorted(name for name, kind in STRATEGIES.items() if kind.multi_objective)
        raise ValueError(
            f"The strategy {type(strategy).__name__} minimizes only one of the 'objectives' "
            f"{list(objectives)}. Pass one of {several} or 'random' as 'strategy', or one "
            "objective and the other names in 'limits'."
        )
    return strategy


def _read_initial(initial: Any, space: SearchSpace) -> list[Configuration]:
    """Return the initial configurations as a list; raise unless all lie in the space."""
    if not isinstance(space, SearchSpace):
        raise TypeError(
            "The 'space' of minimize must be a SearchSpace, for example that of "
            f"skauto.space.get_space('default'). Got {space!r} instead."
        )
    if not isinstance(initial, Iterable):
        raise TypeError(
            "The 'initial' of minimize must be a sequence of Configuration objects, "
            f"which may be empty. Got {initial!r} instead."
        )
    configurations = list(initial)
    for configuration in configurations:
        try:
            space.validate(configuration)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"The 'initial' of minimize must lie in the space: {error}"
            ) from error
    return configurations
