"""What every search strategy is: asked for proposals, told of trials, dropped when done."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from skauto.history import History, Proposal, Trial
from skauto.space import Configuration, SearchSpace
from skauto.utils import BoolArray, FloatArray, IntArray

# How many known proposals in a row a generator may yield before a random one takes their place.
_MAX_REPEATS = 100
# Sizes of the samples among which something new is looked for, one after the other.
_SAMPLE_SIZES = (1, 16, 256, 4096)


@dataclass(frozen=True, eq=False)
class Observations:
    """Trials as arrays, for surrogates: one row a trial, oldest first.

    Parameters
    ----------
    trials : tuple of Trial
        The trials themselves.
    vectors : ndarray of shape (n, n_dimensions)
        Their configurations as the space encodes them; NaN where inactive.
    losses : ndarray of shape (n, n_objectives)
        Finite losses; a failed trial has the worst finite loss of each objective (1.0 if none).
    ok : ndarray of bool of shape (n,)
        Which trials measured their losses.
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
    - ``self._is_known(configuration)``, whether it was evaluated or is being evaluated;
    - ``self._first_new(vectors)``, the first row that is not known, as a configuration;
    - ``self._sample_new()``, a random configuration that is not known;
    - ``self._trial_of(history, configuration)``, its trial, None before it is finished.

    Anything else that it remembers between suggestions it sets as attributes, best in the hook
    ``_start``. ``stop`` deletes what was set since ``start``, so that the object pickles; names
    with a trailing underscore stay, as the record of the search.

    A strategy that seeks the Pareto front of several objectives says so by ``multi_objective =
    True`` in its class: then estimators give it their constraints as objectives too.

    See Also
    --------
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
        self.stop()
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self._settled = frozenset(vars(self))
        self._space = space
        self._rng = rng
        self._memory = _Memory(space)
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
        return self._suggest(history, tuple(pending))

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
        if hasattr(self, "_settled"):
            dropped = set(vars(self)) - self._settled
            for name in dropped:
                if not name.endswith("_"):
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

    @abstractmethod
    def _run(self, history: History) -> Iterator[Proposal]:
        """Hook for subclasses: yield proposals, reading the history in between."""

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        self._pending = pending
        if not hasattr(self, "_running"):
            self._running = self._run(history)
        for _ in range(_MAX_REPEATS):
            proposal = next(self._running, None)
            if proposal is None or not self._is_known(proposal.configuration, proposal.fidelity):
                return proposal
        # The generator waits for something that is pending, or the space is exhausted.
        configuration = self._sample_new()
        return None if configuration is None else Proposal(configuration, origin="random")


class _Memory:
    """What is known about a search, kept up with its history: every trial is read once."""

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        self.finished: dict[tuple[Configuration, float], int] = {}
        self.pending: set[tuple[Configuration, float]] = set()
        self._n_read = 0
        self._n_encoded = 0
        self._numbers: list[int] = []  # trials that lie in the space
        self._rows: list[FloatArray] = []  # and their vectors

    def update(self, history: History, pending: Sequence[Proposal]) -> None:
        """Read the trials that were added since the last time."""
        for number in range(self._n_read, len(history)):
            trial = history[number]
            self.finished.setdefault((trial.configuration, trial.fidelity), number)
        self._n_read = len(history)
        self.pending = {(proposal.configuration, proposal.fidelity) for proposal in pending}

    def observations(self, history: History, fidelity: float | None) -> Observations:
        """Trials in the space as arrays; failures at the worst finite loss of these trials."""
        self._encode_new(history)
        chosen = [
            (history[number], row)
            for number, row in zip(self._numbers, self._rows, strict=True)
            if fidelity is None or history[number].fidelity == fidelity
        ]
        trials = tuple(trial for trial, _ in chosen)
        n_objectives = len(history.objectives)
        losses = np.array([_measured(trial) for trial in trials]).reshape(-1, n_objectives)
        ok = np.isfinite(losses).all(axis=1)
        worst = losses[ok].max(axis=0) if ok.any() else np.ones(n_objectives)
        losses[~ok] = worst
        return Observations(
            trials=trials,
            vectors=np.array([row for _, row in chosen]).reshape(-1, self.space.n_dimensions),
            losses=losses,
            ok=ok,
            costs=np.array([trial.cost for trial in trials], dtype=np.float64),
            fidelities=np.array([trial.fidelity for trial in trials], dtype=np.float64),
        )

    def encode(self, configuration: Configuration) -> FloatArray | None:
        """Vector of a configuration, None if it lies outside of the space."""
        try:
            return self.space.encode([configuration])[0]
        except ValueError:
            return None

    def _encode_new(self, history: History) -> None:
        for number in range(self._n_encoded, len(history)):
            row = self.encode(history[number].configuration)
            if row is not None:
                self._numbers.append(number)
                self._rows.append(row)
        self._n_encoded = len(history)


def _measured(trial: Trial) -> tuple[float, ...]:
    """Losses of a trial, infinite unless measured; a poor first fold is a measurement."""
    if trial.ok or trial.status == "stopped":
        return trial.losses
    return (np.inf,) * len(trial.losses)
