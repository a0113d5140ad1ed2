"""Bayesian optimisation with a random forest, in the manner of SMAC."""

from collections.abc import Callable
from numbers import Integral

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import clone

from skauto.acquisition import (
    expected_improvement,
    log_expected_improvement,
    log_expected_improvement_per_second,
    maximize_acquisition,
)
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import Observations, Strategy
from skauto.surrogates import RandomForest, Surrogate
from skauto.utils import BoolArray, FloatArray

_ACQUISITIONS = ("log_ei", "ei", "eips")
_TRANSFORMS = ("rank", "log", None)


class ForestBO(Strategy):
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

    def _start(self) -> None:
        _check_choice("acquisition", self.acquisition, _ACQUISITIONS)
        _check_choice("transform", self.transform, _TRANSFORMS)
        for name, least in (("n_initial", 0), ("n_candidates", 1), ("n_starts", 0)):
            _check_count(name, getattr(self, name), least)
        if not 0.0 <= self.random_fraction <= 1.0:
            raise ValueError(
                "The 'random_fraction' of ForestBO must be between 0 and 1. "
                f"Got {self.random_fraction!r} instead."
            )

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        observations = self._observations(history)
        n_begun = len(observations) + len(pending)
        if n_begun < self._n_design(history) or not observations.ok.any():
            return self._propose(self._next_of_design(), "initial")
        if self._rng.random() < self.random_fraction:
            return self._propose(self._sample_new(), "random")
        configuration = self._most_promising(history, observations, pending)
        if configuration is not None:
            return self._propose(configuration, self.acquisition)
        return self._propose(self._sample_new(), "random")

    def _n_design(self, history: History) -> int:
        if history.max_evals is None:
            return self.n_initial
        return min(self.n_initial, max(1, history.max_evals // 4))

    def _next_of_design(self) -> Configuration | None:
        default = self._space.default()
        return self._sample_new() if self._is_known(default) else default

    def _most_promising(
        self, history: History, observations: Observations, pending: tuple[Proposal, ...]
    ) -> Configuration | None:
        """Maximise the acquisition over what is not known."""
        X = self._space.fill_inactive(observations.vectors)
        y = self._transformed(observations.y)
        running = self._space.fill_inactive(self._encode([p.configuration for p in pending]))
        model = self._fitted(X, y, running)
        if self.acquisition == "eips":
            cost_model = self._fitted(X, np.log1p(observations.costs))
        region = self._region(history, observations)
        inside = region(observations.vectors)
        best = y[observations.ok & inside].min(initial=y.max())

        def improvement(vectors: FloatArray) -> FloatArray:
            points = self._space.fill_inactive(vectors)
            mean, std = model.predict(points)
            if self.acquisition == "ei":
                return expected_improvement(mean, std, best)
            if self.acquisition == "log_ei":
                return log_expected_improvement(mean, std, best)
            log_seconds, _ = cost_model.predict(points)
            return log_expected_improvement_per_second(mean, std, best, log_seconds)

        def acquisition(vectors: FloatArray) -> FloatArray:
            return np.where(region(vectors), improvement(vectors), -np.inf)

        order = np.argsort(np.where(inside, observations.y, np.inf), kind="stable")
        order = order[: min(self.n_starts, int(inside.sum()))]
        vectors, _ = maximize_acquisition(
            acquisition,
            self._space,
            self._rng,
            starts=observations.vectors[order],
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
        )
        return self._first_new(vectors)

    def _region(
        self, history: History, observations: Observations
    ) -> Callable[[FloatArray], BoolArray]:
        """Tell which vectors may be proposed: all, unless a subclass confines the search."""
        return lambda vectors: np.ones(len(vectors), dtype=bool)

    def _fitted(
        self, X: FloatArray, y: FloatArray, running: FloatArray | None = None
    ) -> Surrogate:
        """Fit a surrogate; points still running are then believed to be as it predicts."""
        surrogate = RandomForest() if self.surrogate is None else clone(self.surrogate)
        surrogate.fit(X, y, self._rng)
        if running is not None and len(running):
            believed, _ = surrogate.predict(running)
            surrogate.fit(np.vstack([X, running]), np.concatenate([y, believed]), self._rng)
        return surrogate

    def _transformed(self, y: FloatArray) -> FloatArray:
        if self.transform == "rank":
            return ndtri((rankdata(y) - 0.5) / len(y))
        if self.transform == "log":
            # As SMAC: the shift leaves the best loss above zero, a twentieth of the way up.
            low = y.min() - max(np.quantile(y, 0.05) - y.min(), 1e-10)
            return np.log(y - low)
        return y

    def _propose(self, configuration: Configuration | None, origin: str) -> Proposal | None:
        return None if configuration is None else Proposal(configuration, origin=origin)


def _check_choice(name: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        raise ValueError(
            f"The '{name}' of ForestBO must be one of {choices}. Got {value!r} instead."
        )


def _check_count(name: str, value: object, least: int) -> None:
    if not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"The '{name}' of ForestBO must be an integer of at least {least}. "
            f"Got {value!r} instead."
        )
