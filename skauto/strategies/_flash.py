"""FLASH: linear models find the promising structures, then Bayesian optimisation tunes them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from skauto.acquisition import d_optimal_design, log_expected_improvement_per_second
from skauto.history import History, Proposal
from skauto.strategies._base import GeneratorStrategy, Observations, Strategy
from skauto.strategies._bayesian import DESIGN_SHARE, design_size, performance_unit
from skauto.strategies._checks import check_integers, check_numbers, check_positive
from skauto.strategies._forest_bo import ForestBO
from skauto.strategies._tpe import TPE
from skauto.surrogates import LinearModel, believe
from skauto.utils import BoolArray, FloatArray, IntArray

_FINE_TUNERS: dict[str, type[Strategy]] = {"forest_bo": ForestBO, "tpe": TPE}
# Structures that the first phases choose among; of a larger space, a random part.
_MAX_PATHS = 50_000
# Logarithm of the cost of the cheapest trial, see _log_cost.
_LEAST_LOG_COST = np.log(2.0)


class FLASH(GeneratorStrategy):
    r"""FLASH: linear models find promising structures, then Bayesian optimisation tunes them.

    A structure is a path :math:`p \in \{0, 1\}^N`, with a 1 for each algorithm in it. Two linear
    models, of the loss and of the logarithm of the cost, say what each algorithm contributes.

    1. After the default configuration come the structures that teach the models most: a greedy
       D-optimal design.
    2. Then the structure with the largest expected improvement per second is tried, and the
       models are fitted again. At the end the algorithms of the ``r`` best structures stay, and
       those of the best trial.
    3. A fine tuner searches what is left, starting from the trials that lie in there.

    Other hyper-parameters than those of the default are random in the first two phases.

    Parameters
    ----------
    n_init : int, default=None
        Trials of the first phase, those made before the strategy's first proposal included. None
        is the number of algorithms, those of steps without a choice left out. At most a quarter
        of the trials and of the time that the search may take.
    n_prune : int, default=None
        Trials of the second phase, whatever was known before; None and the bound are as for
        ``n_init``. With 0 the models of the first phase decide what stays.
    r : int, default=10
        Number of structures whose algorithms stay; all their combinations stay, step by step.
    xi : float, default=100.0
        What an improvement must exceed to count in the second phase, in percent of the scale of
        the loss. The scale is 1 while all losses lie in [0, 1], as errors do (the setting of the
        paper), else twice the distance from the best loss to the median one. Large values
        explore. The last choice of structures takes 0.
    alpha : float, default=1.0
        Ridge penalty of the linear models.
    fine_tuner : {"forest_bo", "tpe"} or Strategy, default="forest_bo"
        What searches in the third phase. "tpe" is the variant that the paper calls FLASH*.

    Attributes
    ----------
    effects_ : dict of str to list
        What the linear models of the first two phases say, one entry an algorithm in each list:
        ``"step"``, ``"algorithm"``, ``"n_trials"`` with it, ``"loss"`` and ``"seconds"`` that it
        adds to those of an average trial (negative is better). ``pandas.DataFrame(effects_)``
        makes a table of it. There after the search if it made a trial.
    kept_ : dict of str to list of str
        Algorithms of each step that stayed for the third phase. There when it was reached.

    See Also
    --------
    ForestBO : The default fine tuner.
    TPE : The other one.

    Notes
    -----
    What the paper leaves open is decided as follows. The cost model learns ``log(1 + t / t_min)``,
    t_min being the shortest time of a successful trial, which is positive and has no unit.
    Logarithms of the expected improvement are compared, as it underflows for ``xi=100``. The
    structure of the best trial stays in addition to the ``r``. Failed trials have the worst loss
    seen, and what is being evaluated is believed to be as predicted. When the pruned space is used
    up, random configurations of the whole space follow. The seconds of ``effects_`` come from a
    third linear model, of the plain seconds.

    References
    ----------
    .. [1] Y. Zhang, M. T. Bahadori, H. Su, J. Sun, "FLASH: Fast Bayesian Optimization for Data
       Analytic Pipelines", KDD 2016.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import FLASH
    >>> space = make_artificial_space(n_steps=2, n_algorithms=3)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy=FLASH(r=2), max_evals=30, random_state=0)
    >>> result.history[0].origin, result.history[10].origin
    ('design', 'eips')
    """

    def __init__(
        self,
        *,
        n_init: int | None = None,
        n_prune: int | None = None,
        r: int = 10,
        xi: float = 100.0,
        alpha: float = 1.0,
        fine_tuner: str | Strategy = "forest_bo",
    ) -> None:
        self.n_init = n_init
        self.n_prune = n_prune
        self.r = r
        self.xi = xi
        self.alpha = alpha
        self.fine_tuner = fine_tuner

    @classmethod
    def paper(cls) -> Self:
        """Settings of the paper, section 6.1: 30 trials in each of the first two phases.

        Returns
        -------
        strategy : FLASH
            With ``n_init=30``, ``n_prune=30``, ``r=10``, ``xi=100`` and SMAC as of its time.
        """
        return cls(n_init=30, n_prune=30, r=10, xi=100.0, fine_tuner=ForestBO.paper())

    def stop(self) -> None:
        """End the search: keep what the linear models say, drop everything else."""
        if hasattr(self, "_history"):
            observations = self._learnt_from()
            if len(observations):
                self.effects_ = self._effects(observations)
        super().stop()

    def _start(self) -> None:
        check_integers(self, n_init=1, n_prune=0, r=1)
        check_numbers(self, xi=(0.0, math.inf))
        check_positive(self, "alpha")
        if isinstance(self.fine_tuner, Strategy):
            self._tuner = clone(self.fine_tuner)
        elif self.fine_tuner in _FINE_TUNERS:
            self._tuner = _FINE_TUNERS[self.fine_tuner]()
        else:
            raise ValueError(
                f"The 'fine_tuner' of FLASH must be one of {sorted(_FINE_TUNERS)} or a Strategy "
                f"object. Got {self.fine_tuner!r} instead."
            )

    # The search, from top to bottom (Algorithm 1)

    def _run(self, history: History) -> Iterator[Proposal]:
        self._history = history
        self._n_explored = 0  # trials of the first two phases, those still running included
        paths = self._paths()
        n_init = self._phase_length(self.n_init, history)
        n_prune = self._phase_length(self.n_prune, history)
        yield from self._initialise(paths, history, n_init)
        # What was known before may have been more than the first phase needs.
        yield from self._prune(paths, history, len(self._begun(history)) + n_prune)
        yield from self._tune(paths, history)
        while (configuration := self._sample_new()) is not None:
            yield Proposal(configuration, origin="random")

    def _initialise(self, paths: "_Paths", history: History, n_init: int) -> Iterator[Proposal]:
        """Phase 1: the default, then structures of a greedy D-optimal design, Algorithm 2."""
        if len(self._begun(history)) < n_init:
            yield Proposal(self._space.default(), origin="design")
        known = self._encoded(self._begun(history))
        missing = max(0, n_init - len(known))
        for row in d_optimal_design(paths.encoded, missing, self._rng, known=known):
            configuration = self._sample_new(paths.structures[[row]])
            if history.share_of_time > DESIGN_SHARE:
                return
            if configuration is not None:
                yield Proposal(configuration, origin="design")

    def _prune(self, paths: "_Paths", history: History, n_end: int) -> Iterator[Proposal]:
        """Phase 2: the structure of the largest EIPS, Eq. (4), until the phase is over."""
        closed = np.zeros(len(paths.structures), dtype=bool)  # nothing new is left of these
        while len(self._begun(history)) < n_end and not closed.all():
            if history.share_of_time > 2 * DESIGN_SHARE:
                return
            scores = np.where(closed, -np.inf, self._eips(paths, history, self.xi / 100.0))
            best = np.flatnonzero(~closed & (scores == scores[~closed].max()))
            row = int(self._rng.choice(best))
            configuration = self._sample_new(paths.structures[[row]])
            if configuration is None:
                closed[row] = True
            else:
                yield Proposal(configuration, origin="eips")

    def _tune(self, paths: "_Paths", history: History) -> Iterator[Proposal]:
        """Phase 3: a fine tuner on the algorithms of the r best structures and the best trial."""
        self._n_explored = len(self._begun(history))
        scores = self._eips(paths, history, 0.0)
        ties = self._rng.random(len(scores))
        best = paths.structures[np.lexsort((ties, -scores))[: self.r]]
        best = np.vstack([best, self._incumbent(history)])
        self.kept_ = {
            step: [self._space.components(step)[j].name for j in np.unique(best[:, i])]
            for i, step in enumerate(self._space.steps)
        }
        self._tuner.start(self._space.subspace(self.kept_), self._rng)
        while (proposal := self._tuner.suggest(history, self._pending)) is not None:
            yield proposal

    def _incumbent(self, history: History) -> IntArray:
        """Structure of the best trial, of shape (1, n_steps); none where all failed."""
        observations = self._observations(history)
        order = np.lexsort((observations.y, ~observations.ok))
        best = observations.vectors[order[: int(observations.ok.any())], : len(self._space.steps)]
        return best.astype(np.intp)

    # The linear models

    def _paths(self) -> "_Paths":
        """All structures, or a random part of very many."""
        structures = self._space.structures
        if len(structures) > _MAX_PATHS:
            drawn = self._rng.choice(len(structures), _MAX_PATHS, replace=False)
            structures = structures[np.sort(drawn)]
        return _Paths(structures, self._encoded(structures))

    def _encoded(self, structures: NDArray[np.generic]) -> FloatArray:
        """One column an algorithm, steps without a choice left out."""
        encoded = self._space.one_hot_structures(structures)
        sizes = self._sizes
        encoded = encoded[:, np.repeat(sizes > 1, sizes)]
        return encoded if encoded.shape[1] else np.zeros((len(encoded), 1))

    @property
    def _sizes(self) -> IntArray:
        return np.array([len(self._space.components(step)) for step in self._space.steps])

    def _phase_length(self, wanted: int | None, history: History) -> int:
        if wanted is None:
            wanted = int(self._sizes[self._sizes > 1].sum())
        return design_size(wanted, history)

    def _begun(self, history: History) -> FloatArray:
        """Vectors of what was evaluated or is being evaluated."""
        return np.vstack([self._observations(history).vectors, self._running()])

    def _eips(self, paths: "_Paths", history: History, xi: float) -> FloatArray:
        """Logarithm of the expected improvement per second of every path, Eq. (4)."""
        observations = self._observations(history)
        if not len(observations):  # all that was proposed is still running
            return np.zeros(len(paths.structures))
        X = self._encoded(observations.vectors)
        running = self._encoded(self._running())
        y = observations.y
        loss_model = believe(self._fitted(X, y), X, y, running, self._rng)
        cost_model = self._fitted(X, _log_cost(observations.costs, observations.ok))
        mean, std = loss_model.predict(paths.encoded)
        log_cost, _ = cost_model.predict(paths.encoded)
        log_cost = np.maximum(log_cost, _LEAST_LOG_COST)
        best = float(observations.y.min())
        xi = xi * performance_unit(observations.y)
        return log_expected_improvement_per_second(mean, std, best, log_cost, xi=xi)

    def _fitted(self, X: FloatArray, y: FloatArray) -> LinearModel:
        return LinearModel(alpha=self.alpha).fit(X, y)

    # The record

    def _learnt_from(self) -> Observations:
        """Trials of the first two phases; all if the third was not reached."""
        observations = self._observations(self._history)
        n = self._n_explored or len(observations)
        return Observations(
            trials=observations.trials[:n],
            vectors=observations.vectors[:n],
            losses=observations.losses[:n],
            ok=observations.ok[:n],
            costs=observations.costs[:n],
            fidelities=observations.fidelities[:n],
        )

    def _effects(self, observations: Observations) -> dict[str, list[object]]:
        """Weights of the linear models, relative to the average trial, step by step."""
        X = self._encoded(observations.vectors)
        loss = self._fitted(X, observations.y).coef_
        seconds = self._fitted(X, observations.costs).coef_
        columns: dict[str, list[object]] = {
            name: [] for name in ("step", "algorithm", "n_trials", "loss", "seconds")
        }
        start = 0
        for step in self._space.steps:
            components = self._space.components(step)
            if len(components) == 1:
                continue
            own = slice(start, start + len(components))
            start += len(components)
            counts = X[:, own].sum(axis=0)
            entries = zip(
                components,
                counts.astype(int).tolist(),
                (loss[own] - loss[own] @ counts / counts.sum()).tolist(),
                (seconds[own] - seconds[own] @ counts / counts.sum()).tolist(),
                strict=True,
            )
            for component, n_trials, of_loss, of_seconds in entries:
                entry = (step, component.name, n_trials, of_loss, of_seconds)
                for column, value in zip(columns.values(), entry, strict=True):
                    column.append(value)
        return columns


@dataclass(frozen=True, eq=False)
class _Paths:
    """Structures to choose among, and what the linear models see of them."""

    structures: IntArray
    encoded: FloatArray


def _log_cost(costs: FloatArray, ok: BoolArray) -> FloatArray:
    """Logarithm of one plus the costs, in units of the least of a trial that succeeded."""
    succeeded = costs[ok] if ok.any() else costs
    least = float(succeeded[succeeded > 0].min(initial=np.inf))
    relative: FloatArray = np.log1p(np.maximum(costs / least, 1.0))
    return relative
