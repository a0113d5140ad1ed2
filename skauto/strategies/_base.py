"""What every search strategy is: asked for proposals, told of trials, dropped when done."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from skauto.history import History, Proposal, Trial
from skauto.space import Configuration, SearchSpace
from skauto.utils import BoolArray, FloatArray, GrowingArray, IntArray

# How many known proposals in a row a generator may yield before a random one takes their place.
_MAX_REPEATS = 100
# Sizes of the samples among which something new is looked for, one after the other.
_SAMPLE_SIZES = (1, 16, 256, 4096)


@dataclass(frozen=True, eq=False)
class Observations:
    """Trials as arrays, for surrogates: one row a trial, oldest first.

    Trials that were stopped at a rung count as observations of the full evaluation; trials that
    were skipped are left out.

    Parameters
    ----------
    trials : tuple of Trial
        The trials themselves.
    vectors : ndarray of shape (n, n_dimensions)
        Their configurations as the space encodes them; NaN where inactive.
    losses : ndarray of shape (n, n_objectives)
        Finite losses. A failed trial has the worst finite loss of each objective (1.0 if none). A
        stopped trial has the loss of its last rung plus the mean difference between all folds and
        the first one over the complete trials.
    ok : ndarray of bool of shape (n,)
        Which trials measured their losses on all folds.
    costs : ndarray of shape (n,)
        Seconds that each evaluation took.
    fidelities : ndarray of shape (n,)
        Share of the rows that each trial used.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.strategies import Observations
    >>> observations = Observations(
    ...     trials=(),
    ...     vectors=np.zeros((2, 3)),
    ...     losses=np.array([[0.5], [0.2]]),
    ...     ok=np.ones(2, dtype=bool),
    ...     costs=np.ones(2),
    ...     fidelities=np.ones(2),
    ... )
    >>> len(observations), observations.y
    (2, array([0.5, 0.2]))
    """

    trials: tuple[Trial, ...]
    vectors: FloatArray
    losses: FloatArray
    ok: BoolArray
    costs: FloatArray
    fidelities: FloatArray

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def y(self) -> FloatArray:
        """The first of the losses, the one that a single-objective search minimises."""
        return self.losses[:, 0]


class Strategy(BaseEstimator, ABC):
    """Base class of search strategies.

    A subclass stores its settings in its constructor, as any scikit-learn estimator, and writes
    ``_suggest(history, pending)``, which returns a :class:`~skauto.history.Proposal` or None.
    There it has

    - ``self._space`` and ``self._rng``, what the search was started with;
    - ``self._observations(history)``, the trials as arrays (each trial is encoded once);
    - ``self._encode(configurations)``, those of them that lie in the space, as vectors;
    - ``self._pending``, what is being evaluated, and ``self._running()``, the same as vectors;
    - ``self._proposal(configuration, origin)``, a proposal, or None for None;
    - ``self._is_known(configuration)``, whether it was evaluated or is being evaluated;
    - ``self._are_new(vectors)``, which rows are not known;
    - ``self._first_new(vectors)``, the first row that is not known, as a configuration;
    - ``self._sample_new()``, a random configuration that is not known;
    - ``self._trial_of(history, configuration)``, its trial, None before it is finished.

    Anything else that it remembers between suggestions it sets as attributes, best in the hook
    ``_start``. The name of such an attribute begins with an underscore, and ``stop`` deletes all
    of these, so that the object pickles. Names with a trailing underscore stay, as the record of
    the search.

    A strategy that seeks the Pareto front of several objectives says so by ``multi_objective =
    True`` in its class: then estimators give it their constraints as objectives too.

    See Also
    --------
    BayesianStrategy : For an initial design that is followed by a model.
    GeneratorStrategy : For methods of several stages, written as one generator.

    Examples
    --------
    A strategy that tries the neighbours of the best:

    >>> from skauto import minimize
    >>> from skauto.history import Proposal
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import Strategy
    >>> class HillClimbing(Strategy):
    ...     def _suggest(self, history, pending):
    ...         configuration = None
    ...         if history.incumbent is not None:
    ...             best = self._space.encode([history.incumbent.configuration])[0]
    ...             configuration = self._first_new(self._space.neighbors(best, self._rng))
    ...         configuration = configuration or self._sample_new()
    ...         return configuration and Proposal(configuration)
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy=HillClimbing(), max_evals=30)
    >>> len(result.history)
    30
    """

    multi_objective = False

    def start(self, space: SearchSpace, rng: np.random.Generator) -> Self:
        """Begin a search; whatever an earlier one left behind is forgotten.

        Parameters
        ----------
        space : SearchSpace
            Where to search.
        rng : numpy.random.Generator
            Source of all randomness of the search.

        Returns
        -------
        self : Strategy
        """
        self._forget(lambda name: name.startswith("_") or name.endswith("_"))
        self._space = space
        self._rng = rng
        self._memory = _Memory(space)
        self._pending: tuple[Proposal, ...] = ()
        self._start()
        return self

    def suggest(self, history: History, pending: Sequence[Proposal] = ()) -> Proposal | None:
        """Propose what to evaluate next.

        Parameters
        ----------
        history : History
            All finished trials; the same object throughout a search. Trials that lie outside of
            the space are passed over.
        pending : sequence of Proposal, default=()
            What is being evaluated. It is neither waited for nor proposed again.

        Returns
        -------
        proposal : Proposal or None
            None when nothing is left to propose.
        """
        if not hasattr(self, "_memory"):
            raise RuntimeError(
                f"This {type(self).__name__} has not been started: call start(space, rng) before "
                "suggest."
            )
        self._memory.update(history, pending)
        self._pending = tuple(pending)
        return self._suggest(history, self._pending)

    def observe(self, trial: Trial) -> None:
        """Take note of a finished trial, right after it was appended to the history.

        Most strategies need not: they read the history when they are asked.

        Parameters
        ----------
        trial : Trial
            The finished trial.
        """

    def stop(self) -> None:
        """End the search: drop its state; settings and records (trailing underscore) stay."""
        self._forget(lambda name: name.startswith("_") and not name.endswith("_"))

    def _forget(self, chosen: Callable[[str], bool]) -> None:
        for name in [name for name in vars(self) if chosen(name)]:
            delattr(self, name)

    def _start(self) -> None:
        """Hook for subclasses: prepare the state of a search."""

    @abstractmethod
    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        """Hook for subclasses: what to evaluate next, None when nothing is left."""

    def _observations(self, history: History, fidelity: float | None = 1.0) -> Observations:
        """Finished trials as arrays: those of one fidelity, or of all (None)."""
        return self._memory.observations(history, fidelity)

    def _encode(self, configurations: Sequence[Configuration]) -> FloatArray:
        """Vectors (n, n_dimensions) of the configurations that lie in the space."""
        rows = [self._memory.encode(configuration) for configuration in configurations]
        return np.array([row for row in rows if row is not None]).reshape(
            -1, self._space.n_dimensions
        )

    def _running(self, fidelity: float | None = 1.0) -> FloatArray:
        """Vectors (n, n_dimensions) of what is being evaluated, at one fidelity or at any."""
        wanted = [p for p in self._pending if fidelity is None or p.fidelity == fidelity]
        return self._encode([proposal.configuration for proposal in wanted])

    def _proposal(self, configuration: Configuration | None, origin: str) -> Proposal | None:
        """Propose a configuration on all the rows; None for None."""
        return None if configuration is None else Proposal(configuration, origin=origin)

    def _is_known(self, configuration: Configuration, fidelity: float = 1.0) -> bool:
        """Whether it was evaluated, or is being evaluated, at this fidelity."""
        key = (configuration, fidelity)
        return key in self._memory.finished or key in self._memory.pending

    def _trial_of(
        self, history: History, configuration: Configuration, fidelity: float = 1.0
    ) -> Trial | None:
        """First trial of a configuration; None while it is being evaluated, or never was."""
        number = self._memory.finished.get((configuration, fidelity))
        return None if number is None else history[number]

    def _are_new(self, vectors: FloatArray, fidelity: float = 1.0) -> BoolArray:
        """Which rows of vectors (n, n_dimensions) are not known; a row repeated counts once."""
        seen = self._memory.keys_of(fidelity) | {row.tobytes() for row in self._running(fidelity)}
        new = np.zeros(len(vectors), dtype=bool)
        for i, row in enumerate(np.ascontiguousarray(vectors)):
            key = row.tobytes()
            if key not in seen:
                new[i] = True
                seen.add(key)
        return new

    def _first_new(self, vectors: FloatArray, fidelity: float = 1.0) -> Configuration | None:
        """Decode the first row of vectors (n, n_dimensions) that is not known; None if none."""
        tested = set()
        for vector in vectors:
            key = vector.tobytes()
            if key in tested:
                continue
            tested.add(key)
            configuration = self._space.decode(vector)
            if not self._is_known(configuration, fidelity):
                return configuration
        return None

    def _sample_new(
        self, structures: IntArray | None = None, fidelity: float = 1.0
    ) -> Configuration | None:
        """Random configuration that is not known, of the given structures (k, n_steps).

        None when none of some thousand draws is new: a small space is exhausted.
        """
        for size in _SAMPLE_SIZES:
            vectors = self._space.sample(size, self._rng, structures=structures)
            configuration = self._first_new(vectors, fidelity)
            if configuration is not None:
                return configuration
        return None


class GeneratorStrategy(Strategy):
    """Base class of strategies that read from top to bottom like the paper they come from.

    A subclass writes ``_run(history)``, a generator that yields proposals. It is resumed when the
    next proposal is asked for; by then the trial of the last one is in the history, unless it is
    still being evaluated (``self._trial_of`` tells, ``self._pending`` holds what is running).
    A generator must therefore be able to go on without a result that it would like to have.

    A proposal that is known already is not evaluated again: the generator is resumed at once and
    finds the trial in the history. When the generator ends, so does the search.

    Examples
    --------
    Every algorithm with its defaults, then random configurations of the best:

    >>> from skauto import minimize
    >>> from skauto.history import Proposal
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import GeneratorStrategy
    >>> class BestOfDefaults(GeneratorStrategy):
    ...     def _run(self, history):
    ...         for structure in self._space.structures:
    ...             yield Proposal(self._space.default(structure))
    ...         observations = self._observations(history)
    ...         best = observations.vectors[observations.y.argmin()]
    ...         n_steps = len(self._space.steps)
    ...         while configuration := self._sample_new(best[None, :n_steps].astype(int)):
    ...             yield Proposal(configuration)
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy=BestOfDefaults(), max_evals=30)
    >>> len({trial.configuration.structure for trial in result.history[-10:]})
    1
    """

    def start(self, space: SearchSpace, rng: np.random.Generator) -> Self:
        """Begin a search; whatever an earlier one left behind is forgotten.

        Parameters
        ----------
        space : SearchSpace
            Where to search.
        rng : numpy.random.Generator
            Source of all randomness of the search.

        Returns
        -------
        self : GeneratorStrategy
        """
        super().start(space, rng)
        self._generator: Iterator[Proposal] | None = None
        return self

    @abstractmethod
    def _run(self, history: History) -> Iterator[Proposal]:
        """Hook for subclasses: yield proposals, reading the history in between."""

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        if self._generator is None:
            self._generator = self._run(history)
        for _ in range(_MAX_REPEATS):
            proposal = next(self._generator, None)
            if proposal is None or not self._is_known(proposal.configuration, proposal.fidelity):
                return proposal
        # The generator waits for something that is pending, or the space is exhausted.
        return self._proposal(self._sample_new(), "random")


class _Memory:
    """What is known about a search, kept up with its history: every trial is read once."""

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        self.finished: dict[tuple[Configuration, float], int] = {}
        self.pending: set[tuple[Configuration, float]] = set()
        self._n_read = 0
        self._records: dict[float | None, _Record] = {}  # by fidelity; None holds all trials

    def update(self, history: History, pending: Sequence[Proposal]) -> None:
        """Read what is new in the history, and what is being evaluated."""
        self._read(history)
        self.pending = {(proposal.configuration, proposal.fidelity) for proposal in pending}

    def observations(self, history: History, fidelity: float | None) -> Observations:
        """Trials in the space as arrays; failures at the worst finite loss of these trials."""
        self._read(history)
        return self._record(fidelity).observations(len(history.objectives))

    def _read(self, history: History) -> None:
        """Add the trials that were finished since the last time."""
        for number in range(self._n_read, len(history)):
            trial = history[number]
            # A trial that a rung on a part of the rows ended tells of the full evaluation.
            fidelity = 1.0 if trial.status == "stopped" else trial.fidelity
            self.finished.setdefault((trial.configuration, fidelity), number)
            row = self.encode(trial.configuration)
            if row is not None and trial.status != "skipped":
                self._record(fidelity).append(trial, row)
                self._record(None).append(trial, row)
        self._n_read = len(history)

    def row_of(self, configuration: Configuration, fidelity: float) -> int | None:
        """Row of a configuration among the observations of a fidelity, None if it has none."""
        return self._record(fidelity).rows.get(configuration)

    def keys_of(self, fidelity: float) -> set[bytes]:
        """Vectors of the trials of a fidelity, as bytes."""
        return set(self._record(fidelity).keys)

    def encode(self, configuration: Configuration) -> FloatArray | None:
        """Vector of a configuration, None if it lies outside of the space."""
        try:
            return self.space.encode([configuration])[0]
        except ValueError:
            return None

    def _record(self, fidelity: float | None) -> "_Record":
        if fidelity not in self._records:
            self._records[fidelity] = _Record(self.space.n_dimensions)
        return self._records[fidelity]


class _Record:
    """Trials of one fidelity as growing arrays; what depends on all trials is made when asked."""

    def __init__(self, n_dimensions: int) -> None:
        self.rows: dict[Configuration, int] = {}  # first trial of each configuration
        self.keys: set[bytes] = set()
        self._trials: list[Trial] = []
        self._empty = np.empty((0, n_dimensions))
        self._vectors = GrowingArray()
        self._losses = GrowingArray()
        self._numbers = GrowingArray()  # cost, fidelity, ok
        self._fold_effects: list[float] = []
        self._observations: Observations | None = None

    def append(self, trial: Trial, vector: FloatArray) -> None:
        """Add a trial."""
        self.rows.setdefault(trial.configuration, len(self._trials))
        self._trials.append(trial)
        self._vectors.append(vector)
        self.keys.add(vector.tobytes())
        measured = trial.ok or trial.status == "stopped"
        losses = trial.losses if measured else (np.inf,) * len(trial.losses)
        self._losses.append(np.array(losses, dtype=np.float64))
        finite = measured and bool(np.isfinite(losses).all())
        ok = finite and trial.status == "ok"
        self._numbers.append(np.array([trial.cost, trial.fidelity, ok, finite]))
        effect = _first_fold_effect(trial)
        if ok and np.isfinite(effect):
            self._fold_effects.append(effect)
        self._observations = None

    def observations(self, n_objectives: int) -> Observations:
        """All trials so far; made anew only when there are more of them."""
        if self._observations is None:
            self._observations = self._make(n_objectives)
        return self._observations

    def _make(self, n_objectives: int) -> Observations:
        if not self._trials:
            nothing = np.empty(0)
            losses = np.empty((0, n_objectives))
            return Observations((), self._empty, losses, nothing > 0, nothing, nothing)
        costs, fidelities, ok, finite = self._numbers.values.T
        losses = self._losses.values.copy()
        stopped = (finite > 0) & (ok == 0)
        if stopped.any() and self._fold_effects:
            losses[stopped, 0] += np.mean(self._fold_effects)
        worst = losses[finite > 0].max(axis=0) if finite.any() else np.ones(n_objectives)
        losses[finite == 0] = worst
        return Observations(
            trials=tuple(self._trials),
            vectors=self._vectors.values,
            losses=losses,
            ok=ok > 0,
            costs=costs,
            fidelities=fidelities,
        )


def _first_fold_effect(trial: Trial) -> float:
    """Loss of all folds minus that of the first one, by the first scorer; NaN if unknown."""
    scores = np.array(next(iter(trial.fold_scores.values()), ()))
    known = scores[~np.isnan(scores)]
    return float(scores[0] - known.mean()) if len(known) > 1 else np.nan
