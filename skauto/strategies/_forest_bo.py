"""Bayesian optimization with a random forest, as in SMAC."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skauto.acquisition import log_expected_improvement_per_second
from skauto.acquisition._maximize import Acquisition
from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import (
    BayesianStrategy,
    clone_or,
    improvement_of,
    log_scores,
    rank_scores,
)
from skauto.strategies._checks import check_integers, check_numbers, check_options
from skauto.surrogates import RandomForest, Surrogate
from skauto.utils import BoolArray, FloatArray

_TRANSFORMS: dict[str | None, Callable[[FloatArray], FloatArray]] = {
    "rank": rank_scores,
    "log": log_scores,
    None: lambda losses: losses,
}


@dataclass(kw_only=True, eq=False, repr=False)
class ForestStrategy(BayesianStrategy):
    """Settings, surrogate and acquisition of strategies with a random forest."""

    n_initial: int = 10
    acquisition: str = "log_ei"
    transform: str | None = "rank"
    random_fraction: float = 0.2
    n_candidates: int = 5000
    n_starts: int = 10
    surrogate: Surrogate | None = None

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_candidates=1, n_starts=0)
        check_numbers(self, random_fraction=(0.0, 1.0))
        check_options(self, acquisition=("log_ei", "eips"), transform=_TRANSFORMS)

    def _suggest_within(
        self, inside: BoolArray, observations: Observations, **options: Any
    ) -> Proposal | None:
        """Maximize the improvement on the best observation of a region, given its options."""
        y = _TRANSFORMS[self.transform](observations.y)
        best = float(y[observations.ok & inside].min(initial=y.max()))
        order = np.argsort(np.where(inside, observations.y, np.inf), kind="stable")
        starts = observations.vectors[order[: min(self.n_starts, int(inside.sum()))]]
        acquisition = self._improvement(observations, y, best)
        return self.proposal(self._maximizer(acquisition, starts, **options), self.acquisition)

    def _improvement(self, observations: Observations, y: FloatArray, best: float) -> Acquisition:
        """Acquisition function by models of the targets and, for "eips", of the cost."""
        model = self._fitted(clone_or(self.surrogate, RandomForest()), observations, y)
        if self.acquisition == "log_ei":
            return improvement_of(model, best, self._inputs)
        X, log_cost = self._inputs(observations.vectors), np.log1p(observations.costs)
        cost_model = clone_or(self.surrogate, RandomForest()).fit(X, log_cost, self.rng)

        def rate(vectors: FloatArray) -> FloatArray:
            points = self._inputs(vectors)
            seconds, _ = cost_model.predict(points)
            return log_expected_improvement_per_second(*model.predict(points), best, seconds)

        return rate


class ForestBO(ForestStrategy):
    """Bayesian optimization with a random forest, as in SMAC.

    The initial design is the default configuration and random ones. Then a random forest is fitted
    to the losses, and the configuration with the largest expected improvement is proposed among
    random candidates and those of local searches that start from the best trials and candidates.
    Some proposals are random, so that the whole space is explored.

    Parameters
    ----------
    n_initial : int, default=10
        Size of the initial design, at most a quarter of ``max_evals``; see `BayesianStrategy`.
    acquisition : {"log_ei", "eips"}, default="log_ei"
        Acquisition function: log expected improvement, whose maximizer is that of the expected
        improvement, or expected improvement per second. The latter divides by the
        ``log(1 + seconds)`` that a second model predicts.
    transform : {"rank", "log", None}, default="rank"
        Targets of the forest: normal scores of the ranks of the losses, logarithms of the shifted
        losses, or the losses.
    random_fraction : float, default=0.2
        Probability that a proposal is random.
    n_candidates : int, default=5000
        Number of random candidates.
    n_starts : int, default=10
        Number of the best trials, and of the best candidates, that local search starts from.
    surrogate : Surrogate, default=None
        Model of the loss, and of the cost for "eips"; None means
        :class:`~skauto.surrogates.RandomForest` with its defaults.

    See Also
    --------
    RandomSearch : Baseline without a model.

    Notes
    -----
    Deviations from [1]_: all trials are evaluated on the same splits, without racing. By default
    the targets are normal scores of ranks instead of logarithms, and a fifth of the proposals is
    random instead of every second one.

    References
    ----------
    .. [1] F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential Model-Based Optimization for
       General Algorithm Configuration", LION 2011, section 4.
    .. [2] M. Lindauer et al., "SMAC3: A Versatile Bayesian Optimization Package for Hyperparameter
       Optimization", Journal of Machine Learning Research 23, 2022.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import ForestBO
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> strategy = ForestBO(n_initial=4, random_fraction=0.0)
    >>> result = minimize(objective, space, strategy=strategy, max_evals=20, random_state=0)
    >>> result.history[-1].origin
    'log_ei'
    """

    @classmethod
    def paper(cls) -> Self:
        """Settings of SMAC 0.8 (2018), as in auto-sklearn.

        The initial design is the default configuration. The expected improvement of untransformed
        losses is maximized, by its logarithm, and every second proposal is random on average.
        """
        return cls(n_initial=1, transform=None, random_fraction=0.5)

    def _suggest_by_model(self, history: History, observations: Observations) -> Proposal | None:
        return self._suggest_within(np.ones(len(observations), dtype=bool), observations)
