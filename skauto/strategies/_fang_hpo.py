"""FanG-HPO: multi-objective Bayesian optimisation that learns from cheap sub-samples."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from skauto.acquisition import expected_hypervolume_improvement, maximize_acquisition
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import Observations, Strategy
from skauto.strategies._dimensions import model_inputs, n_free_dimensions
from skauto.surrogates import AugmentedGaussianProcess, Surrogate
from skauto.utils import FloatArray, non_dominated

# One evaluation of the ground truth costs this much, as in the paper.
_TRUTH_COST = 2.0
# Losses beyond it are drawn in, so that squares and volumes stay finite.
_LARGEST_LOSS = 1e100


class FanGHPO(Strategy):
    """Multi-objective Bayesian optimisation over several sources of information.

    The losses can be measured on all rows, the *ground truth*, or more cheaply on a share of them.
    Each loss is modelled by an augmented Gaussian process: the observations of the ground truth
    and those cheap ones that do not contradict it. The configuration with the largest expected
    hypervolume improvement is proposed, on the source whose cost times its distance from the
    augmented model is smallest. The Pareto front consists of ground-truth trials only.

    With one objective the hypervolume improvement is the expected improvement; with one source the
    method is plain multi-objective Bayesian optimisation.

    Failed trials enter at the worst losses seen on their source, proposals still running at the
    means predicted for them.

    Parameters
    ----------
    sources : sequence of float, default=(1.0, 0.5)
        Share of the rows that each source uses, the ground truth (1.0) first.
    costs : sequence of float or "measured", default=None
        Cost of a query of each source. None: 2 for the ground truth and in proportion to the rows
        for the others, as in the paper. "measured": the mean seconds of the trials so far, in
        units that make the ground truth cost 2.
    cost_budget : float, "auto" or None, default="auto"
        Accumulated cost at which the strategy ends the search. "auto" is 20 d for d choices in a
        configuration; None leaves the end to the number of trials or the time.
    n_initial : int, default=None
        The initial design costs as much as this number of ground-truth trials and is split over
        the sources. None takes 2 d. At most a quarter of the trials that the search may make, and
        of the cost budget, go into it.
    alpha : float, default=1.0
        How many standard deviations a cheap observation may be off to be reliable.
    reference : float or sequence of float, default=None
        Worst corner of the hypervolume, one value an objective. None takes 1, as in the paper, or
        a point a tenth beyond the Pareto front where that is larger.
    n_candidates : int, default=2000
        Number of random candidates.
    n_starts : int, default=10
        Number of random candidates that local search starts from, besides the Pareto front.
    surrogate : Surrogate, default=None
        Model of one loss; None takes a Gaussian process with a Matern 3/2 kernel.

    See Also
    --------
    ParEGO : Single-source baseline.

    Notes
    -----
    The proposals' ``info`` holds the index of the ``source`` and its ``cost``, so that queries by
    source and the hypervolume over accumulated cost can be read off the history.

    As printed, Eq. (12) is zero for the ground truth, which would always win. As the authors' code
    does, the mean of the augmented model takes the place of that of the ground truth's model.

    Two rules are ours. Errors and differences between groups cannot be negative, but a Gaussian
    process believes they can; where the difference is near 0, that promises more volume than
    anything real. So what lies below 0 is not counted for an objective of which no negative value
    has been seen. And a cheap source is only queried where by Eq. (8) its model is reliable for at
    least one objective. Elsewhere the observation would not enter any augmented model, so the same
    query would be proposed again, and again, until the budget is spent.

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

    def __init__(
        self,
        *,
        sources: Sequence[float] = (1.0, 0.5),
        costs: Sequence[float] | str | None = None,
        cost_budget: float | str | None = "auto",
        n_initial: int | None = None,
        alpha: float = 1.0,
        reference: float | Sequence[float] | None = None,
        n_candidates: int = 2000,
        n_starts: int = 10,
        surrogate: Surrogate | None = None,
    ) -> None:
        self.sources = sources
        self.costs = costs
        self.cost_budget = cost_budget
        self.n_initial = n_initial
        self.alpha = alpha
        self.reference = reference
        self.n_candidates = n_candidates
        self.n_starts = n_starts
        self.surrogate = surrogate

    def _start(self) -> None:
        _check_sources(self.sources)
        _check_costs(self.costs, len(self.sources))
        if isinstance(self.cost_budget, str) and self.cost_budget != "auto":
            raise ValueError(
                "The 'cost_budget' of FanGHPO must be a number, 'auto' or None. "
                f"Got {self.cost_budget!r} instead."
            )
        self._d = n_free_dimensions(self._space)

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        by_source = [self._observations(history, share) for share in self.sources]
        costs = self._source_costs(by_source)
        if self._spent(history, pending, costs) >= self._limit():
            return None
        n_pending = [sum(p.fidelity == share for p in pending) for share in self.sources]
        n_begun = [len(o) + n for o, n in zip(by_source, n_pending, strict=True)]
        for source, n_wanted in enumerate(self._design(history, costs)):
            if n_begun[source] < n_wanted:
                configuration = self._sample_new(fidelity=self.sources[source])
                if configuration is not None:
                    return self._proposal(configuration, source, costs, "initial")
        if not by_source[0].ok.any():
            return self._random_proposal(costs)
        models, front = self._learn(by_source, pending)
        configuration = self._most_promising(models, front, by_source[0])
        if configuration is None:
            return self._random_proposal(costs)
        source = self._choose_source(models, configuration, costs)
        return self._proposal(configuration, source, costs, "ehvi")

    def _source_costs(self, by_source: list[Observations]) -> FloatArray:
        """Cost c_s of one query of each source."""
        if self.costs is not None and not isinstance(self.costs, str):
            return np.array(self.costs, dtype=np.float64)
        costs = _TRUTH_COST * np.array(self.sources, dtype=np.float64)
        if self.costs == "measured":
            seconds = [o.costs[o.ok].mean() if o.ok.any() else np.nan for o in by_source]
            if seconds[0] > 0:
                measured = _TRUTH_COST * np.array(seconds) / seconds[0]
                costs = np.where(measured > 0, measured, costs)
        return costs

    def _spent(self, history: History, pending: tuple[Proposal, ...], costs: FloatArray) -> float:
        """Accumulated cost, what is running included; other shares of the rows count pro rata."""
        shares = [item.fidelity for item in (*history, *pending)]
        known = dict(zip(self.sources, costs, strict=True))
        return float(sum(known.get(share, costs[0] * share) for share in shares))

    def _limit(self) -> float:
        if self.cost_budget is None:
            return np.inf
        return 20.0 * self._d if isinstance(self.cost_budget, str) else float(self.cost_budget)

    def _design(self, history: History, costs: FloatArray) -> list[int]:
        """Number of initial trials of each source.

        The cost of ``n_initial`` ground-truth trials is split into equally many trials of each
        source; what is left over by rounding goes to the last one.
        """
        n_initial = 2 * self._d if self.n_initial is None else self.n_initial
        total = min(n_initial * costs[0], self._limit() / 4)
        if history.max_evals is not None:
            total = min(total, history.max_evals / 4 * costs.mean())
        n_each = max(1, int(total / costs.sum() + 1e-9))
        rest = int((total - n_each * costs[:-1].sum()) / costs[-1] + 1e-9)
        return [n_each] * (len(costs) - 1) + [max(1, rest)]

    def _learn(
        self, by_source: list[Observations], pending: tuple[Proposal, ...]
    ) -> tuple[list[AugmentedGaussianProcess], FloatArray]:
        """Fit an augmented model to each objective; give the losses that a front is made of."""
        inputs = [model_inputs(self._space, o.vectors) for o in by_source]
        losses = [np.clip(o.losses, -_LARGEST_LOSS, _LARGEST_LOSS) for o in by_source]
        front = losses[0][by_source[0].ok]
        models = self._fit(inputs, losses)
        if pending:
            for s, share in enumerate(self.sources):
                running = self._encode([p.configuration for p in pending if p.fidelity == share])
                points = model_inputs(self._space, running)
                believed = np.column_stack([model.predict(points)[0] for model in models])
                inputs[s] = np.vstack([inputs[s], points])
                losses[s] = np.vstack([losses[s], believed])
                front = np.vstack([front, believed]) if s == 0 else front
            models = self._fit(inputs, losses)
        return models, front

    def _fit(
        self, inputs: list[FloatArray], losses: list[FloatArray]
    ) -> list[AugmentedGaussianProcess]:
        """M augmented models, on S sources each."""
        return [
            AugmentedGaussianProcess(self.surrogate, alpha=self.alpha).fit(
                [(X, y[:, m]) for X, y in zip(inputs, losses, strict=True)], self._rng
            )
            for m in range(losses[0].shape[1])
        ]

    def _most_promising(
        self, models: list[AugmentedGaussianProcess], front: FloatArray, truth: Observations
    ) -> Configuration | None:
        """Eq. (11): maximise the expected hypervolume improvement of the ground truth."""
        improvement = partial(
            expected_hypervolume_improvement,
            front=front,
            reference=self._reference(front),
            ideal=_ideal(truth.losses[truth.ok]),
        )
        seed = self._rng.integers(2**63)

        def acquisition(vectors: FloatArray) -> FloatArray:
            X = model_inputs(self._space, vectors)
            mean, std = np.stack([model.predict(X) for model in models], axis=-1)
            return improvement(mean, std, rng=np.random.default_rng(seed))

        best = np.flatnonzero(truth.ok)[non_dominated(truth.losses[truth.ok])]
        vectors, _ = maximize_acquisition(
            acquisition,
            self._space,
            self._rng,
            starts=truth.vectors[best],
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
        )
        return self._first_new(vectors)

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

    def _choose_source(
        self,
        models: list[AugmentedGaussianProcess],
        configuration: Configuration,
        costs: FloatArray,
    ) -> int:
        """Eq. (12), unless cheap observations outnumber those of the ground truth.

        Sources whose observation would not be reliable for any objective are left out.
        """
        n_augmenting = np.max([model.n_augmenting_ for model in models], axis=0)
        if (n_augmenting[1:] > n_augmenting[0]).any():
            return 0
        x = model_inputs(self._space, self._encode([configuration]))
        reliable = np.any([model.is_reliable(x)[:, 0] for model in models], axis=0)
        discrepancy = np.sum([model.discrepancy(x)[:, 0] for model in models], axis=0)
        source = int(np.argmin(np.where(reliable, costs * discrepancy, np.inf)))
        return 0 if self._is_known(configuration, self.sources[source]) else source

    def _random_proposal(self, costs: FloatArray) -> Proposal | None:
        configuration = self._sample_new()
        if configuration is None:
            return None
        return self._proposal(configuration, 0, costs, "random")

    def _proposal(
        self, configuration: Configuration, source: int, costs: FloatArray, origin: str
    ) -> Proposal:
        return Proposal(
            configuration,
            fidelity=self.sources[source],
            origin=origin,
            info={"source": source, "cost": float(costs[source])},
        )


def _ideal(losses: FloatArray) -> FloatArray:
    """Lower bound of each objective: 0 where no negative value has been seen."""
    return np.where((losses >= 0.0).all(axis=0), 0.0, -np.inf)


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
