"""FanG-HPO: multi-objective and multi-source Bayesian optimization."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from skauto.acquisition import expected_hypervolume_improvement, maximize_acquisition
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import Observations, Strategy
from skauto.strategies._bayesian import DESIGN_SHARE
from skauto.strategies._checks import check_integers, check_numbers
from skauto.strategies._dimensions import model_inputs, n_free_dimensions
from skauto.surrogates import GaussianProcess, Surrogate
from skauto.surrogates._augmented_gp import AugmentedGaussianProcess
from skauto.utils import FloatArray, non_dominated

# Cost of one ground-truth evaluation, as in the paper.
_TRUTH_COST = 2.0
# Losses are clipped to this magnitude, so that squares and volumes are finite.
_LARGEST_LOSS = 1e100


@dataclass(kw_only=True, eq=False, repr=False)
class FanGHPO(Strategy):
    """Multi-objective Bayesian optimization with several information sources.

    The losses are measured on all rows, the *ground truth*, or more cheaply on a fraction of them.
    Each loss is modeled by an augmented Gaussian process, which is fitted to the ground-truth
    observations and the reliable cheap ones (Eqs. (8) to (10) of [1]_). The configuration with the
    largest expected hypervolume improvement is proposed (Eq. 11), on the source with the smallest
    product of cost and discrepancy from the augmented model (Eq. 12). The Pareto front consists of
    ground-truth trials only.

    Parameters
    ----------
    sources : sequence of float, default=(1.0, 0.5)
        Fraction of the rows of each source, the ground truth (1.0) first.
    costs : sequence of float or "measured", default=None
        Cost of a query of each source. None means 2 times the fraction of the rows, as in the
        paper. "measured" means the mean seconds of the trials so far, scaled so that the ground
        truth costs 2. A query keeps the cost that it had when it was proposed.
    cost_budget : float, "auto" or None, default="auto"
        Accumulated cost at which the strategy ends the search. "auto" means 20 d for a space of
        dimension d, as in the paper; None means no limit.
    n_initial : int, default=None
        Cost of the initial design in ground-truth trials; it is split over the sources. None means
        2 d, as in the paper.
    design_share : float, default=0.25
        Maximum fraction of ``max_evals``, and of the cost budget, for the initial design. 1 in the
        paper, whose design takes a fifth of the cost budget.
    alpha : float, default=1.0
        Maximum discrepancy of a reliable cheap observation in standard deviations (Eq. 8).
    reliable_only : bool, default=True
        Whether a cheap source is only queried where its model is reliable for at least one
        objective (Eq. 8). Other observations would not enter any augmented model, so that the same
        query could be proposed repeatedly.
    reference : float or sequence of float, default=None
        Reference point of the hypervolume, 1 in the paper. None means 1, or the worst values of
        the Pareto front plus a tenth of its range if these are larger.
    nonnegative : bool, default=True
        Whether volume below 0 does not count in Eq. (11) for an objective without negative
        observations, because errors and differences cannot be negative. False in the paper.
    n_candidates : int, default=2000
        Number of random candidates.
    n_starts : int, default=10
        Number of random candidates that local search starts from, besides the Pareto front.
    surrogate : Surrogate, default=None
        Model of one loss; None means a Gaussian process with a Matern 3/2 kernel.

    See Also
    --------
    ParEGO : Single-source baseline.

    Notes
    -----
    The page :doc:`/user_guide/papers` has every setting and step beside the paper's.
    The ``info`` of a proposal holds the index of its ``source`` and its ``cost``.

    References
    ----------
    .. [1] A. Candelieri, A. Ponti, F. Archetti, "Fair and Green Hyperparameter Optimization via
       Multi-objective and Multiple Information Source Bayesian Optimization", 2022, section 3.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.space import Real, SearchSpace
    >>> from skauto.strategies import FanGHPO
    >>> space = SearchSpace().add("classifier", "model", parameters={"x": Real(0, 2)})
    >>> def objective(configuration, fidelity=1.0):
    ...     x = configuration.parameters("classifier")["x"] + 0.02 * (1 - fidelity)
    ...     return {"left": x**2 / 4, "right": (x - 1) ** 2}
    >>> result = minimize(objective, space, strategy=FanGHPO(), objectives=("left", "right"),
    ...                   max_evals=100, random_state=0)
    >>> 20 <= sum(trial.info["cost"] for trial in result.history) < 22
    True
    """

    multi_objective = True

    sources: Sequence[float] = (1.0, 0.5)
    costs: Sequence[float] | str | None = None
    cost_budget: float | str | None = "auto"
    n_initial: int | None = None
    design_share: float = DESIGN_SHARE
    alpha: float = 1.0
    reliable_only: bool = True
    reference: float | Sequence[float] | None = None
    nonnegative: bool = True
    n_candidates: int = 2000
    n_starts: int = 10
    surrogate: Surrogate | None = None

    @classmethod
    def paper(cls) -> Self:
        """Settings of the paper, section 4.1: kriging by maximum likelihood, Eq. (12) alone."""
        return cls(
            design_share=1.0,
            reliable_only=False,
            reference=1.0,
            nonnegative=False,
            surrogate=GaussianProcess(nu=1.5, trend="constant", priors=False),
        )

    def _start(self) -> None:
        check_integers(self, n_initial=1, n_candidates=1, n_starts=0)
        check_numbers(self, alpha=(0.0, math.inf), design_share=(0.0, 1.0))
        _check_sources(self.sources)
        _check_costs(self.costs, len(self.sources))
        if isinstance(self.cost_budget, str) and self.cost_budget != "auto":
            raise ValueError(
                "The 'cost_budget' of FanGHPO must be a number, 'auto' or None. "
                f"Got {self.cost_budget!r} instead."
            )
        self._d = n_free_dimensions(self.space)
        self._design_sizes: list[int] | None = None

    def suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        by_source = [self.observations(history, share) for share in self.sources]
        costs = self._source_costs(by_source)
        if self._spent(history) >= self._limit():
            return None
        if self._design_sizes is None:  # by the costs at the start of the search
            self._design_sizes = self._design(history, costs)
        n_pending = [sum(p.fidelity == share for p in pending) for share in self.sources]
        n_begun = [len(o) + n for o, n in zip(by_source, n_pending, strict=True)]
        for source, n_wanted in enumerate(self._design_sizes):
            if n_begun[source] < n_wanted:
                configuration = self.sample_new(fidelity=self.sources[source])
                if configuration is not None:
                    return self._query(configuration, source, costs, "initial")
        if by_source[0].ok.any():
            models, front = self._fit_models(by_source)
            configuration = self._maximize_ehvi(models, front, by_source[0])
            if configuration is not None:
                source = self._choose_source(models, configuration, costs)
                return self._query(configuration, source, costs, "ehvi")
        return self._query(self.sample_new(), 0, costs, "random")

    def _source_costs(self, by_source: list[Observations]) -> FloatArray:
        """Cost c_s of one query of each source."""
        costs = self._nominal_costs()
        if self.costs == "measured":
            seconds = [o.costs[o.ok].mean() if o.ok.any() else np.nan for o in by_source]
            if seconds[0] > 0:
                measured = _TRUTH_COST * np.array(seconds) / seconds[0]
                costs = np.where(measured > 0, measured, costs)
        return costs

    def _nominal_costs(self) -> FloatArray:
        """Cost of one query of each source before anything is measured."""
        if self.costs is not None and not isinstance(self.costs, str):
            return np.array(self.costs, dtype=np.float64)
        return _TRUTH_COST * np.array(self.sources, dtype=np.float64)

    def _spent(self, history: History) -> float:
        """Accumulated cost of trials and pending evaluations, at their proposal."""
        known = dict(zip(self.sources, self._nominal_costs().tolist(), strict=True))
        total = 0.0
        for item in (*history, *self.pending):
            # trials of other strategies have no cost in their info
            nominal = known.get(item.fidelity, known[1.0] * item.fidelity)
            total += float(item.info.get("cost", nominal))
        return total

    def _limit(self) -> float:
        if self.cost_budget is None:
            return np.inf
        return 20.0 * self._d if isinstance(self.cost_budget, str) else float(self.cost_budget)

    def _design(self, history: History, costs: FloatArray) -> list[int]:
        """Number of initial trials of each source: equal numbers, the remainder on the last."""
        n_initial = 2 * self._d if self.n_initial is None else self.n_initial
        total = min(n_initial * costs[0], self.design_share * self._limit())
        if history.goal.max_evals is not None:
            total = min(total, self.design_share * history.goal.max_evals * costs.mean())
        n_each = max(1, int(total / costs.sum() + 1e-9))
        rest = int((total - n_each * costs[:-1].sum()) / costs[-1] + 1e-9)
        return [n_each] * (len(costs) - 1) + [max(1, rest)]

    def _fit_models(
        self, by_source: list[Observations]
    ) -> tuple[list[AugmentedGaussianProcess], FloatArray]:
        """Augmented models of Eqs. (8) to (10) and ground-truth losses; pending ones predicted."""
        inputs = [model_inputs(self.space, o.vectors) for o in by_source]
        losses = [np.clip(o.losses, -_LARGEST_LOSS, _LARGEST_LOSS) for o in by_source]
        front = losses[0][by_source[0].ok]
        models = [
            AugmentedGaussianProcess(self.surrogate, alpha=self.alpha).fit(
                [(X, y[:, m]) for X, y in zip(inputs, losses, strict=True)], self.rng
            )
            for m in range(front.shape[1])
        ]
        points = model_inputs(self.space, self.pending_vectors(1.0))
        if len(points):
            front = np.vstack([front, np.column_stack([m.predict(points)[0] for m in models])])
        pending = model_inputs(self.space, self.pending_vectors(None))
        for model in models:
            model.condition_on_pending(pending, self.rng)
        return models, front

    def _maximize_ehvi(
        self, models: list[AugmentedGaussianProcess], front: FloatArray, truth: Observations
    ) -> Configuration | None:
        """Maximize the expected hypervolume improvement of the ground truth (Eq. 11)."""
        reference, ideal = self._reference(front), self._ideal(truth.losses[truth.ok])
        seed = self.rng.integers(2**63)

        def acquisition(vectors: FloatArray) -> FloatArray:
            X = model_inputs(self.space, vectors)
            mean, std = np.stack([model.predict(X) for model in models], axis=-1)
            rng = np.random.default_rng(seed)
            return expected_hypervolume_improvement(
                mean, std, front, reference, ideal=ideal, rng=rng
            )

        best = np.flatnonzero(truth.ok)[non_dominated(truth.losses[truth.ok])]
        vectors, _ = maximize_acquisition(
            acquisition,
            self.space,
            self.rng,
            starts=truth.vectors[best],
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
        )
        return self.first_new(vectors)

    def _reference(self, front: FloatArray) -> FloatArray:
        if self.reference is not None:
            corner = np.asarray(self.reference, dtype=np.float64)
            if corner.shape not in ((), front.shape[1:]):
                raise ValueError(
                    "The 'reference' of FanGHPO must be a number, or one for each of the "
                    f"{front.shape[1]} objectives. Got {self.reference!r} instead."
                )
            return np.broadcast_to(corner, front.shape[1:])
        front = front[non_dominated(front)]
        worst, best = front.max(axis=0), front.min(axis=0)
        return np.maximum(1.0, worst + 0.1 * (worst - best))

    def _ideal(self, losses: FloatArray) -> FloatArray:
        """Lower bound of each objective that counts in the hypervolume."""
        bounded = self.nonnegative & (losses >= 0.0).all(axis=0)
        return np.where(bounded, 0.0, -np.inf)

    def _choose_source(
        self,
        models: list[AugmentedGaussianProcess],
        configuration: Configuration,
        costs: FloatArray,
    ) -> int:
        """Choose a source by Eq. (12); the ground truth if cheap observations outnumber it."""
        n_augmenting = np.max([model.n_augmenting_ for model in models], axis=0)
        if (n_augmenting[1:] > n_augmenting[0]).any():
            return 0
        x = model_inputs(self.space, self.encode([configuration]))
        reliable = np.ones(len(costs), dtype=bool)
        if self.reliable_only:
            reliable = np.any([model.is_reliable(x)[:, 0] for model in models], axis=0)
        discrepancy = np.sum([model.discrepancy(x)[:, 0] for model in models], axis=0)
        source = int(np.argmin(np.where(reliable, costs * discrepancy, np.inf)))
        return 0 if self.is_known(configuration, self.sources[source]) else source

    def _query(
        self, configuration: Configuration | None, source: int, costs: FloatArray, origin: str
    ) -> Proposal | None:
        """Propose a configuration on a source; None for None."""
        info = {"source": source, "cost": float(costs[source])}
        return self.proposal(configuration, origin, fidelity=self.sources[source], info=info)


def _check_sources(sources: Sequence[float]) -> None:
    shares = list(sources)
    if not shares or shares[0] != 1.0 or not all(0.0 < s < 1.0 for s in shares[1:]):
        raise ValueError(
            "The 'sources' of FanGHPO must be shares of the rows: 1.0 (the ground truth) first, "
            f"then any below 1.0. Got {sources!r} instead."
        )


def _check_costs(costs: Sequence[float] | str | None, n_sources: int) -> None:
    if costs is None or (isinstance(costs, str) and costs == "measured"):
        return
    if isinstance(costs, str) or len(costs) != n_sources or not all(c > 0 for c in costs):
        raise ValueError(
            f"The 'costs' of FanGHPO must be None, 'measured' or a positive number for each of "
            f"the {n_sources} sources. Got {costs!r} instead."
        )
