"""Base classes of search strategies, with an ask-and-tell interface."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from skauto.history import History, Proposal, Trial
from skauto.space import Configuration, SearchSpace
from skauto.utils import BoolArray, FloatArray, IntArray

# After this many known proposals in a row, a generator's proposal is replaced by a random one.
_MAX_REPEATS = 100
# Sizes of the successive samples in which a new configuration is sought.
_SAMPLE_SIZES = (1, 16, 256, 4096)


@dataclass(frozen=True, eq=False)
class Observations:
    """Trials as arrays, for surrogates: one row per trial, oldest first.

    Trials stopped at a rung count as observations of the full evaluation. Skipped trials are
    excluded.

    Attributes
    ----------
    trials : tuple of Trial
        The trials.
    vectors : ndarray of shape (n, n_dimensions)
        Encoded configurations; NaN in inactive hyper-parameters.
    losses : ndarray of shape (n, n_objectives)
        Finite losses. A failed trial is imputed with the worst finite loss of each objective (1.0
        if there is none). A stopped trial has the loss of its last rung plus the mean difference
        between all folds and the first fold over the complete trials.
    ok : ndarray of bool of shape (n,)
        Whether the losses were measured on all folds.
    costs : ndarray of shape (n,)
        Seconds of each evaluation.
    """

    trials: tuple[Trial, ...]
    vectors: FloatArray
    losses: FloatArray
    ok: BoolArray
    costs: FloatArray

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def y(self) -> FloatArray:
        """First loss, which a single-objective search minimizes."""
        return self.losses[:, 0]


def _is_state(name: str) -> bool:
    return name.startswith("_") or name in ("space", "rng", "pending")


class Strategy(BaseEstimator, ABC):
    """Base class of search strategies.

    A subclass stores its settings in its constructor, like any scikit-learn estimator, and
    implements ``suggest(history, pending)``, which returns a :class:`~skauto.history.Proposal` or
    None. A configuration is *known* if it was evaluated or is a pending evaluation. The attributes
    ``self.space``, ``self.rng`` and ``self.pending`` are the search space, the random generator
    and the pending evaluations. The other methods are tools.

    Other run state is stored in attributes with a leading underscore. They are set in the hook
    ``_start`` and deleted by ``stop``, so that the object pickles. Attributes with a trailing
    underscore are kept.

    A strategy that searches for the Pareto front of several objectives sets ``multi_objective =
    True``. Estimators then pass their constraints as further objectives. One that selects
    ensembles as the estimator does, from the predictions of the trials, sets ``selects_ensemble =
    True``. The selection of the estimator is not bagged then, as its own is not.

    The user guide shows how to write a strategy.

    See Also
    --------
    BayesianStrategy : For an initial design followed by a surrogate.
    GeneratorStrategy : For methods of several stages, written as one generator.
    """

    multi_objective = False
    selects_ensemble = False

    def start(self, space: SearchSpace, rng: np.random.Generator) -> Self:
        """Begin a search with a random generator, and reset the state of an earlier one."""
        self._forget(lambda name: _is_state(name) or name.endswith("_"))
        self.space = space
        self.rng = rng
        self._memory = _Memory(space)
        self.pending: tuple[Proposal, ...] = ()
        self._start()
        return self

    def ask(self, history: History, pending: Sequence[Proposal] = ()) -> Proposal | None:
        """Propose the next configuration to evaluate; None if no proposal is left.

        The history holds the completed trials, and is the same object throughout a search. Trials
        outside the space are ignored. Pending evaluations are not proposed again.
        """
        if not hasattr(self, "_memory"):
            raise RuntimeError(
                f"This {type(self).__name__} has not been started: call start(space, rng) before "
                "ask."
            )
        self._memory.update(history, pending)
        self.pending = tuple(pending)
        return self.suggest(history, self.pending)

    def observe(self, trial: Trial) -> None:
        """Called with each trial after it was appended to the history; does nothing by default."""

    def stop(self) -> None:
        """End the search and delete its state; keep settings and attributes such as ``tree_``."""
        self._forget(lambda name: _is_state(name) and not name.endswith("_"))

    def _forget(self, chosen: Callable[[str], bool]) -> None:
        for name in [name for name in vars(self) if chosen(name)]:
            delattr(self, name)

    def _start(self) -> None:
        """Hook for subclasses: check settings and prepare the state of a search."""

    @abstractmethod
    def suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        """Hook for subclasses: return the next proposal, or None if none is left."""

    def observations(self, history: History, fidelity: float | None = 1.0) -> Observations:
        """Completed trials of one fidelity, or of all (None), as arrays."""
        return self._memory.observations(history, fidelity)

    def encode(self, configurations: Sequence[Configuration]) -> FloatArray:
        """Encode the configurations that lie in the space, as vectors (n, n_dimensions)."""
        rows = [self._memory.encode(configuration) for configuration in configurations]
        return np.array([row for row in rows if row is not None]).reshape(
            -1, self.space.n_dimensions
        )

    def pending_vectors(self, fidelity: float | None = 1.0) -> FloatArray:
        """Vectors (n, n_dimensions) of pending evaluations of one fidelity, or of all (None)."""
        wanted = [p for p in self.pending if fidelity is None or p.fidelity == fidelity]
        return self.encode([proposal.configuration for proposal in wanted])

    def proposal(
        self, configuration: Configuration | None, origin: str, **fields: Any
    ) -> Proposal | None:
        """Propose a configuration, by default on all rows; None for None."""
        return None if configuration is None else Proposal(configuration, origin=origin, **fields)

    def is_known(self, configuration: Configuration, fidelity: float = 1.0) -> bool:
        """Whether a configuration was evaluated, or is pending, at this fidelity."""
        key = (configuration, fidelity)
        return key in self._memory.finished or key in self._memory.pending

    def trial_of(
        self, history: History, configuration: Configuration, fidelity: float = 1.0
    ) -> Trial | None:
        """First completed trial of a configuration; None if there is none."""
        number = self._memory.finished.get((configuration, fidelity))
        return None if number is None else history[number]

    def are_new(self, vectors: FloatArray, fidelity: float = 1.0) -> BoolArray:
        """Which rows of vectors (n, n_dimensions) are not known; a repeated row is new once."""
        pending = {row.tobytes() for row in self.pending_vectors(fidelity)}
        seen = self._memory.record(fidelity).keys | pending
        new = np.zeros(len(vectors), dtype=bool)
        for i, row in enumerate(np.ascontiguousarray(vectors)):
            key = row.tobytes()
            if key not in seen:
                new[i] = True
                seen.add(key)
        return new

    def first_new(self, vectors: FloatArray, fidelity: float = 1.0) -> Configuration | None:
        """Decode the first row of vectors (n, n_dimensions) that is not known; None if none."""
        tested = set()
        for vector in vectors:
            key = vector.tobytes()
            if key in tested:
                continue
            tested.add(key)
            configuration = self.space.decode(vector)
            if not self.is_known(configuration, fidelity):
                return configuration
        return None

    def sample_new(
        self, structures: IntArray | None = None, fidelity: float = 1.0
    ) -> Configuration | None:
        """Sample a new configuration of structures (k, n_steps); None if it finds none."""
        for size in _SAMPLE_SIZES:
            vectors = self.space.sample(size, self.rng, structures=structures)
            configuration = self.first_new(vectors, fidelity)
            if configuration is not None:
                return configuration
        return None


class GeneratorStrategy(Strategy):
    """Base class of strategies that are written as one generator of proposals.

    A subclass implements ``_run(history)``, a generator that yields proposals. It is resumed when
    the next proposal is requested. Then the trial of the last proposal is in the history, unless
    it is still pending (see ``self.trial_of`` and ``self.pending``). A generator must therefore
    work without the latest results.

    A known configuration is not evaluated again: the generator is resumed at once and finds the
    trial in the history. The search ends when the generator ends.

    Examples
    --------
    Evaluate the default of every structure, then random configurations of the best structure:

    >>> from skauto import minimize
    >>> from skauto.history import Proposal
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import GeneratorStrategy
    >>> class BestOfDefaults(GeneratorStrategy):
    ...     def _run(self, history):
    ...         for structure in self.space.structures:
    ...             yield Proposal(self.space.default(structure))
    ...         observations = self.observations(history)
    ...         best = observations.vectors[observations.y.argmin()]
    ...         n_steps = len(self.space.steps)
    ...         while configuration := self.sample_new(best[None, :n_steps].astype(int)):
    ...             yield Proposal(configuration)
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy=BestOfDefaults(), max_evals=30)
    >>> len({trial.configuration.structure for trial in result.history[-10:]})
    1
    """

    _generator: Iterator[Proposal] | None = None  # `start` and `stop` reset it

    @abstractmethod
    def _run(self, history: History) -> Iterator[Proposal]:
        """Hook for subclasses: yield proposals, reading the history in between."""

    def suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        if self._generator is None:
            self._generator = self._run(history)
        for _ in range(_MAX_REPEATS):
            proposal = next(self._generator, None)
            if proposal is None or not self.is_known(proposal.configuration, proposal.fidelity):
                return proposal
        # The generator waits for a pending evaluation, or the space is exhausted.
        return self.proposal(self.sample_new(), "random")


class _Memory:
    """Encoded trials and pending evaluations of a search; every trial is read once."""

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        self.finished: dict[tuple[Configuration, float], int] = {}
        self.pending: set[tuple[Configuration, float]] = set()
        self._n_read = 0
        self._records: dict[float | None, _Record] = {}  # by fidelity; None holds all trials

    def update(self, history: History, pending: Sequence[Proposal]) -> None:
        self._read(history)
        self.pending = {(proposal.configuration, proposal.fidelity) for proposal in pending}

    def observations(self, history: History, fidelity: float | None) -> Observations:
        self._read(history)
        return self.record(fidelity).observations(self.space, len(history.goal.objectives))

    def _read(self, history: History) -> None:
        """Add the trials that were completed since the last call."""
        for number in range(self._n_read, len(history)):
            trial = history[number]
            # A trial stopped on a fraction of the rows counts as a full evaluation.
            fidelity = 1.0 if trial.status == "stopped" else trial.fidelity
            self.finished.setdefault((trial.configuration, fidelity), number)
            row = self.encode(trial.configuration)
            if row is not None and trial.status != "skipped":
                self.record(fidelity).append(trial, row)
                self.record(None).append(trial, row)
        self._n_read = len(history)

    def encode(self, configuration: Configuration) -> FloatArray | None:
        """Vector of a configuration; None if it lies outside the space."""
        try:
            return self.space.encode([configuration])[0]
        except ValueError:
            return None

    def record(self, fidelity: float | None) -> "_Record":
        return self._records.setdefault(fidelity, _Record())


class _Record:
    """Trials of one fidelity and their vectors; observations are computed on demand."""

    def __init__(self) -> None:
        self.rows: dict[Configuration, int] = {}  # first trial of each configuration
        self.keys: set[bytes] = set()  # the vectors
        self._trials: list[Trial] = []
        self._vectors: list[FloatArray] = []
        self._fold_effects: list[float] = []
        self._cached: Observations | None = None

    def append(self, trial: Trial, vector: FloatArray) -> None:
        self.rows.setdefault(trial.configuration, len(self._trials))
        self.keys.add(vector.tobytes())
        self._trials.append(trial)
        self._vectors.append(vector)
        if trial.ok and np.isfinite(effect := _first_fold_effect(trial)):
            self._fold_effects.append(effect)
        self._cached = None

    def observations(self, space: SearchSpace, n_objectives: int) -> Observations:
        """Return all trials; the result is cached until another trial is added."""
        if self._cached is None:
            vectors = np.array(self._vectors).reshape(-1, space.n_dimensions)
            losses = np.array([trial.losses for trial in self._trials], dtype=np.float64)
            losses = losses.reshape(-1, n_objectives)
            ok = np.array([trial.ok for trial in self._trials], dtype=bool)
            self._impute(losses, ok)
            costs = np.array([trial.cost for trial in self._trials], dtype=np.float64)
            self._cached = Observations(tuple(self._trials), vectors, losses, ok, costs)
        return self._cached

    def _impute(self, losses: FloatArray, ok: BoolArray) -> None:
        """Correct the losses of stopped trials, and impute those of failed ones, in place."""
        stopped = np.array([trial.status == "stopped" for trial in self._trials], dtype=bool)
        stopped &= np.isfinite(losses).all(axis=1)
        if stopped.any() and self._fold_effects:
            losses[stopped, 0] += np.mean(self._fold_effects)
        measured = ok | stopped
        losses[~measured] = losses[measured].max(axis=0) if measured.any() else 1.0


def _first_fold_effect(trial: Trial) -> float:
    """Loss of all folds minus loss of the first fold, by the first scorer; NaN if unknown."""
    scores = np.array(next(iter(trial.fold_scores.values()), ()))
    known = scores[~np.isnan(scores)]
    return float(scores[0] - known.mean()) if len(known) > 1 else np.nan
