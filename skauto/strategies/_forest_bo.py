"""Bayesian optimisation with a random forest, in the manner of SMAC."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from skauto.acquisition import (
    expected_improvement,
    log_expected_improvement,
    log_expected_improvement_per_second,
)
from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import (
    Acquisition,
    BayesianStrategy,
    log_scores,
    made,
    rank_scores,
)
from skauto.strategies._checks import check_integers, check_numbers, check_options
from skauto.surrogates import RandomForest, Surrogate
from skauto.utils import BoolArray, FloatArray

_ACQUISITIONS = ("log_ei", "ei", "eips")
_TRANSFORMS: dict[str | None, Callable[[FloatArray], FloatArray]] = {
    "rank": rank_scores,
    "log": log_scores,
    None: lambda losses: losses,
}


class ForestBO(BayesianStrategy):
    """Bayesian optimisation with a random forest, in the manner of SMAC.

    The first trials are the default configuration and random ones. After them a forest learns the
    loss of a configuration, and the configuration of the largest expected improvement is proposed:
    the best of thousands of random candidates and of climbs from the best trials and candidates.
    Some proposals are random throughout, so that no region is left out for good.

    Failed trials enter the forest at the worst loss seen. Proposals still running enter at the
    mean that the forest predicts for them, which makes parallel proposals differ. Configurations
    that are known are not proposed again.

    Parameters
    ----------
    n_initial : int, default=10
        Number of trials before the model takes over, those made before the strategy's first
        proposal included; at most a quarter of the trials that the search may make.
    acquisition : {"log_ei", "ei", "eips"}, default="log_ei"
        What is maximised: expected improvement (its logarithm tells candidates apart where it
        underflows), or expected improvement per second, that is for each unit of the predicted
        ``log(1 + seconds)``, which a second model of the same kind learns.
    transform : {"rank", "log", None}, default="rank"
        What the forest learns: normal scores of the ranks of the losses, the logarithm of the
        losses (shifted to be positive), or the losses as they are.
    random_fraction : float, default=0.2
        Probability that a proposal is random.
    n_candidates : int, default=5000
        Number of random candidates.
    n_starts : int, default=10
        Number of trials, the best ones, and of random candidates that local search starts from.
    surrogate : Surrogate, default=None
        Model of the loss, and of the cost for "eips"; None takes
        :class:`~skauto.surrogates.RandomForest` with its defaults.

    See Also
    --------
    RandomSearch : What it must beat.

    References
    ----------
    .. [1] F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential Model-Based Optimization for
       General Algorithm Configuration", LION 2011, section 4.
    .. [2] M. Lindauer et al., "SMAC3: A Versatile Bayesian Optimization Package for Hyperparameter
       Optimization", Journal of Machine Learning Research 23, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.history import History, Trial
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import ForestBO
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> strategy = ForestBO(n_initial=4).start(space, np.random.default_rng(0))
    >>> history = History()
    >>> for number in range(6):
    ...     proposal = strategy.suggest(history)
    ...     loss = objective(proposal.configuration)
    ...     history.append(
    ...         Trial(number=number, configuration=proposal.configuration, losses=(loss,))
    ...     )
    >>> proposal.origin
    'log_ei'
    """

    def __init__(
        self,
        *,
        n_initial: int = 10,
        acquisition: str = "log_ei",
        transform: str | None = "rank",
        random_fraction: float = 0.2,
        n_candidates: int = 5000,
        n_starts: int = 10,
        surrogate: Surrogate | None = None,
    ) -> None:
        self.n_initial = n_initial
        self.acquisition = acquisition
        self.transform = transform
        self.random_fraction = random_fraction
        self.n_candidates = n_candidates
        self.n_starts = n_starts
        self.surrogate = surrogate

    @classmethod
    def paper(cls) -> Self:
        """SMAC of 2018 (version 0.8), as auto-sklearn used it: a baseline of published strength.

        After the default configuration the plain expected improvement of the losses as they are
        is maximised, and on average every second proposal is random.

        Returns
        -------
        strategy : ForestBO
            With these settings.
        """
        return cls(n_initial=1, acquisition="ei", transform=None, random_fraction=0.5)

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_candidates=1, n_starts=0)
        check_numbers(self, random_fraction=(0.0, 1.0))
        check_options(self, acquisition=_ACQUISITIONS, transform=_TRANSFORMS)

    def _promising(self, history: History, observations: Observations) -> Proposal | None:
        y = _TRANSFORMS[self.transform](observations.y)
        inside, options = self._region(history, observations)
        best = float(y[observations.ok & inside].min(initial=y.max()))
        order = np.argsort(np.where(inside, observations.y, np.inf), kind="stable")
        starts = observations.vectors[order[: min(self.n_starts, int(inside.sum()))]]
        acquisition = self._improvement(observations, y, best)
        return self._proposal(self._maximizer(acquisition, starts, **options), self.acquisition)

    def _improvement(self, observations: Observations, y: FloatArray, best: float) -> Acquisition:
        """Acquisition by the models of the targets and, per second, of the cost."""
        model = self._fitted(made(self.surrogate, RandomForest()), observations, y)
        if self.acquisition != "eips":
            value = expected_improvement if self.acquisition == "ei" else log_expected_improvement
            return lambda vectors: value(*model.predict(self._inputs(vectors)), best)
        X, log_cost = self._inputs(observations.vectors), np.log1p(observations.costs)
        cost_model = made(self.surrogate, RandomForest()).fit(X, log_cost, self._rng)

        def rate(vectors: FloatArray) -> FloatArray:
            points = self._inputs(vectors)
            seconds, _ = cost_model.predict(points)
            return log_expected_improvement_per_second(*model.predict(points), best, seconds)

        return rate

    def _region(
        self, history: History, observations: Observations
    ) -> tuple[BoolArray, dict[str, Any]]:
        """Where to search: which observations lie there, and options of the maximiser.

        Everywhere, unless a subclass confines the search.
        """
        return np.ones(len(observations), dtype=bool), {}
