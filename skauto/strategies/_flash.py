"""FLASH: linear models select structures, then Bayesian optimization tunes them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from sklearn.base import clone

from skauto.acquisition import log_expected_improvement, log_expected_improvement_per_second
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import GeneratorStrategy, Observations, Strategy
from skauto.strategies._bayesian import DESIGN_SHARE, design_size, performance_unit
from skauto.strategies._checks import check_integers, check_numbers, check_options, check_positive
from skauto.strategies._d_optimal import d_optimal_design
from skauto.strategies._dimensions import structure_inputs
from skauto.strategies._forest_bo import ForestBO
from skauto.strategies._tpe import TPE
from skauto.surrogates import LinearModel
from skauto.surrogates._kriging_believer import condition_on_pending
from skauto.utils import BoolArray, FloatArray, IntArray

_FINE_TUNERS: dict[str, type[Strategy]] = {"forest_bo": ForestBO, "tpe": TPE}
# Maximum number of structures in the first two phases; larger spaces are subsampled.
_MAX_PATHS = 50_000
# Minimum of _log_cost.
_LEAST_LOG_COST = np.log(2.0)


@dataclass(kw_only=True, eq=False, repr=False)
class FLASH(GeneratorStrategy):
    r"""FLASH: linear models select structures, then Bayesian optimization tunes them.

    A structure is a path :math:`p \in \{0, 1\}^N`, the concatenated one-hot encodings of its
    algorithms. The loss and the logarithm of the cost are linear in p (Eq. (1) of [1]_). Algorithm
    1 has three phases.

    1. *Initialization*: structures of a greedy D-optimal design (Algorithm 2).
    2. *Pruning*: the structure with the largest expected improvement per second (EIPS, Eq. 4) is
       evaluated, and the linear models are refitted. At the end the algorithms of the ``r``
       structures with the largest EIPS are kept.
    3. *Fine-tuning*: a fine tuner searches the pruned space, starting from its trials.

    In the first two phases a structure has its default hyper-parameters, and random ones if it is
    evaluated again.

    Parameters
    ----------
    n_init : int, default=None
        Number of trials of the first phase, including those made before the first proposal. None
        means the number of algorithms in steps with a choice.
    n_prune : int, default=None
        Number of trials of the second phase; None is as for ``n_init``.
    phase_share : float, default=0.25
        Maximum fraction of ``max_evals``, and of the time limit, for each of the first two phases.
        1 in the paper: the phases have their numbers of trials.
    r : int, default=10
        Number of structures whose algorithms are kept, with all their combinations.
    xi : float, default=100.0
        Minimum improvement that counts in the second phase, in percent of the scale of the losses;
        larger values explore more. The scale is 1 if all losses lie in [0, 1], as in the paper,
        else twice the distance from the best to the median loss. It is 0 in the final selection of
        structures.
    acquisition : {"eips", "ei"}, default="eips"
        Value of a structure: expected improvement per second, or expected improvement.
    alpha : float, default=1.0
        Ridge penalty of the linear models.
    keep_best : bool, default=True
        Whether the algorithms of the best trial are kept, too. False in the paper.
    hyperparameters : {"default", "random"}, default="default"
        Hyper-parameters of the first evaluation of a structure in the first two phases. With
        "default" the first proposal is the default configuration, with "random" (the paper) it is
        random.
    fine_tuner : {"forest_bo", "tpe"} or Strategy, default="forest_bo"
        Strategy of the third phase. With "tpe" the strategy is similar to FLASH* of the paper.

    Attributes
    ----------
    effects_ : dict of str to list
        Coefficients of the linear models of the first two phases, one entry per algorithm in each
        list: ``"step"``, ``"algorithm"``, ``"n_trials"``, and the differences of ``"loss"`` and
        ``"seconds"`` from an average trial. The seconds have a linear model of their own.
        ``pandas.DataFrame(effects_)`` converts it. Exists if there was a trial.
    kept_ : dict of str to list of str
        Algorithms of each step in the third phase. Exists if the phase was reached.

    See Also
    --------
    ForestBO : Default fine tuner.
    TPE : Alternative fine tuner.

    Notes
    -----
    The page :doc:`/user_guide/papers` has every setting and step beside the paper's.

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
    >>> result = minimize(objective, space, strategy=FLASH(r=2), max_evals=20, random_state=0)
    >>> result.history[0].origin, result.history[5].origin
    ('design', 'eips')
    """

    n_init: int | None = None
    n_prune: int | None = None
    phase_share: float = DESIGN_SHARE
    r: int = 10
    xi: float = 100.0
    acquisition: str = "eips"
    alpha: float = 1.0
    keep_best: bool = True
    hyperparameters: str = "default"
    fine_tuner: str | Strategy = "forest_bo"

    @classmethod
    def paper(cls, *, star: bool = False) -> Self:
        """Settings of the paper, section 4: 30 trials in each of the first two phases.

        The fine tuner is :meth:`ForestBO.paper` in place of SMAC, or, with ``star=True``
        (FLASH*), :class:`TPE` with the split of hyperopt.
        """
        return cls(
            n_init=30,
            n_prune=30,
            phase_share=1.0,
            keep_best=False,
            hyperparameters="random",
            fine_tuner=TPE(n_initial=1, gamma=0.25, split="sqrt") if star else ForestBO.paper(),
        )

    def stop(self) -> None:
        """End the search: store ``effects_`` and delete the run state."""
        if hasattr(self, "_history"):
            # Those of the first two phases; all if the third was not reached.
            every = self.observations(self._history)
            n = self._n_explored or len(every)
            if n:
                explored = (getattr(every, field.name)[:n] for field in fields(every))
                self.effects_ = self._effects(Observations(*explored))
        super().stop()

    def _start(self) -> None:
        check_integers(self, n_init=1, n_prune=0, r=1)
        check_numbers(self, xi=(0.0, math.inf), phase_share=(0.0, 1.0))
        check_options(self, acquisition=("eips", "ei"), hyperparameters=("default", "random"))
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
        self._structures = self.space.structures
        if len(self._structures) > _MAX_PATHS:
            drawn = self.rng.choice(len(self._structures), _MAX_PATHS, replace=False)
            self._structures = self._structures[np.sort(drawn)]
        self._paths = structure_inputs(self.space, self._structures)

    def _run(self, history: History) -> Iterator[Proposal]:
        """Algorithm 1."""
        self._history = history
        self._n_explored = 0  # trials of the first two phases, including pending ones
        n_init = self._phase_length(self.n_init, history)
        n_prune = self._phase_length(self.n_prune, history)
        yield from self._initialize(history, n_init)
        # Trials made before the search may exceed the length of the first phase.
        yield from self._prune(history, len(self._begun(history)) + n_prune)
        yield from self._tune(history)
        while (configuration := self.sample_new()) is not None:
            yield Proposal(configuration, origin="random")

    def _initialize(self, history: History, n_init: int) -> Iterator[Proposal]:
        """Phase 1: a greedy D-optimal design of structures (Algorithm 2)."""
        if self.hyperparameters == "default" and len(self._begun(history)) < n_init:
            yield Proposal(self.space.default(), origin="design")
        known = structure_inputs(self.space, self._begun(history))
        missing = max(0, n_init - len(known))
        for row in d_optimal_design(self._paths, missing, self.rng, known=known):
            configuration = self._configuration_of(row)
            if history.share_of_time > self.phase_share:
                return
            if configuration is not None:
                yield Proposal(configuration, origin="design")

    def _prune(self, history: History, n_end: int) -> Iterator[Proposal]:
        """Phase 2: evaluate the structure with the largest EIPS (Eq. 4)."""
        closed = np.zeros(len(self._structures), dtype=bool)  # no new configuration is left
        while len(self._begun(history)) < n_end and not closed.all():
            if history.share_of_time > 2 * self.phase_share:
                return
            scores = np.where(closed, -np.inf, self._improvement(history, self.xi / 100.0))
            best = np.flatnonzero(~closed & (scores == scores[~closed].max()))
            row = int(self.rng.choice(best))
            configuration = self._configuration_of(row)
            if configuration is None:
                closed[row] = True
            else:
                yield Proposal(configuration, origin=self.acquisition)

    def _tune(self, history: History) -> Iterator[Proposal]:
        """Phase 3: fine-tune the algorithms of the r best structures."""
        self._n_explored = len(self._begun(history))
        scores = self._improvement(history, 0.0)
        ties = self.rng.random(len(scores))
        best = self._structures[np.lexsort((ties, -scores))[: self.r]]
        if self.keep_best:
            best = np.vstack([best, self._incumbent(history)])
        self.kept_ = {
            step: [self.space.components(step)[j].name for j in np.unique(best[:, i])]
            for i, step in enumerate(self.space.steps)
        }
        self._tuner.start(self.space.subspace(self.kept_), self.rng)
        while (proposal := self._tuner.ask(history, self.pending)) is not None:
            yield proposal

    def _configuration_of(self, row: int) -> Configuration | None:
        """New configuration of a structure; None if none is left."""
        if self.hyperparameters == "default":
            default = self.space.default(self._structures[row])
            if not self.is_known(default):
                return default
        return self.sample_new(self._structures[[row]])

    def _incumbent(self, history: History) -> IntArray:
        """Structure of the best trial, of shape (1, n_steps); (0, n_steps) if all failed."""
        observations = self.observations(history)
        order = np.lexsort((observations.y, ~observations.ok))
        best = observations.vectors[order[: int(observations.ok.any())], : len(self.space.steps)]
        return best.astype(np.intp)

    def _phase_length(self, wanted: int | None, history: History) -> int:
        if wanted is None:
            sizes = self.space.layout.n_algorithms
            wanted = int(sizes[sizes > 1].sum())
        return design_size(wanted, history, self.phase_share)

    def _begun(self, history: History) -> FloatArray:
        """Vectors of the trials and of pending evaluations."""
        return np.vstack([self.observations(history).vectors, self.pending_vectors()])

    def _improvement(self, history: History, xi: float) -> FloatArray:
        """Log expected improvement of every path, per second (Eq. 4) by default."""
        observations = self.observations(history)
        if not len(observations):  # all trials are pending
            return np.zeros(len(self._structures))
        X = structure_inputs(self.space, observations.vectors)
        pending = structure_inputs(self.space, self.pending_vectors())
        y = observations.y
        loss_model = condition_on_pending(self._fitted(X, y), X, y, pending, self.rng)
        mean, std = loss_model.predict(self._paths)
        best = float(observations.y.min())
        xi = xi * performance_unit(observations.y)
        if self.acquisition == "ei":
            return log_expected_improvement(mean, std, best, xi=xi)
        cost_model = self._fitted(X, _log_cost(observations.costs, observations.ok))
        log_cost, _ = cost_model.predict(self._paths)
        log_cost = np.maximum(log_cost, _LEAST_LOG_COST)
        return log_expected_improvement_per_second(mean, std, best, log_cost, xi=xi)

    def _fitted(self, X: FloatArray, y: FloatArray) -> LinearModel:
        return LinearModel(alpha=self.alpha).fit(X, y)

    def _effects(self, observations: Observations) -> dict[str, list[object]]:
        """Coefficients of the linear models relative to the average trial, by step."""
        X = structure_inputs(self.space, observations.vectors)
        loss = self._fitted(X, observations.y).coef_
        seconds = self._fitted(X, observations.costs).coef_
        columns: dict[str, list[object]] = {
            name: [] for name in ("step", "algorithm", "n_trials", "loss", "seconds")
        }
        start = 0
        for step in self.space.steps:
            components = self.space.components(step)
            if len(components) == 1:
                continue
            own = slice(start, start + len(components))
            start += len(components)
            counts = X[:, own].sum(axis=0)
            columns["step"] += [step] * len(components)
            columns["algorithm"] += [component.name for component in components]
            columns["n_trials"] += counts.astype(int).tolist()
            columns["loss"] += (loss[own] - loss[own] @ counts / counts.sum()).tolist()
            columns["seconds"] += (seconds[own] - seconds[own] @ counts / counts.sum()).tolist()
        return columns


def _log_cost(costs: FloatArray, ok: BoolArray) -> FloatArray:
    """``log(1 + t / t_min)``, where t_min is the smallest cost of a successful trial."""
    succeeded = costs[ok] if ok.any() else costs
    least = float(succeeded[succeeded > 0].min(initial=np.inf))
    return np.log1p(np.maximum(costs / least, 1.0))
