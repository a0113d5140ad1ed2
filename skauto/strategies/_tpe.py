"""Tree-structured Parzen estimator over conditional spaces."""

from numbers import Integral

import numpy as np

from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import Observations, Strategy
from skauto.strategies._parzen import ParzenEstimator, SpaceColumns


class TPE(Strategy):
    """Tree-structured Parzen estimator over conditional spaces.

    The first trials are the default configuration and random ones. After them the trials are
    split into the best and the others, and a density of configurations is estimated for each.
    Among configurations drawn from the density of the best, the one is proposed for which the
    ratio of the two densities is largest; it has the largest expected improvement.

    Failed trials, and proposals still running, are among the others. Configurations that are
    known are not proposed again.

    Parameters
    ----------
    n_initial : int, default=10
        Number of trials before the model takes over, those made before the strategy's first
        proposal included; at most a quarter of the trials that the search may make.
    gamma : float, default=0.1
        Share of the trials that count as the best.
    n_best : int, default=25
        Largest number of trials that count as the best.
    n_candidates : int, default=24
        Number of draws that a proposal is chosen from.

    See Also
    --------
    ForestBO : Bayesian optimisation with a forest.

    Notes
    -----
    A kernel is a product over all choices of a configuration, as in [2]_, so that hyper-parameters
    are drawn together. Where an observation does not have a hyper-parameter, its kernel is the
    prior.

    References
    ----------
    .. [1] J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl, "Algorithms for Hyper-Parameter
       Optimization", NeurIPS 2011, section 4.
    .. [2] S. Falkner, A. Klein, F. Hutter, "BOHB: Robust and Efficient Hyperparameter Optimization
       at Scale", ICML 2018, section 3.2.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import TPE
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy=TPE(), max_evals=30, random_state=0)
    >>> result.history[-1].origin
    'tpe'
    """

    def __init__(
        self,
        *,
        n_initial: int = 10,
        gamma: float = 0.1,
        n_best: int = 25,
        n_candidates: int = 24,
    ) -> None:
        self.n_initial = n_initial
        self.gamma = gamma
        self.n_best = n_best
        self.n_candidates = n_candidates

    def _start(self) -> None:
        for name, least in (("n_initial", 0), ("n_best", 1), ("n_candidates", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(
                    f"The '{name}' of TPE must be an integer of at least {least}. "
                    f"Got {value!r} instead."
                )
        if not 0.0 < self.gamma < 1.0:
            raise ValueError(
                f"The 'gamma' of TPE must be between 0 and 1. Got {self.gamma!r} instead."
            )
        self._columns = SpaceColumns(self._space)

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        observations = self._observations(history)
        n_begun = len(observations) + len(pending)
        if n_begun < self._n_design(history) or not observations.ok.any():
            return _proposal(self._next_of_design(), "initial")
        configuration = self._most_promising(observations, pending)
        if configuration is not None:
            return _proposal(configuration, "tpe")
        return _proposal(self._sample_new(), "random")

    def _n_design(self, history: History) -> int:
        if history.max_evals is None:
            return self.n_initial
        return min(self.n_initial, max(1, history.max_evals // 4))

    def _next_of_design(self) -> Configuration | None:
        default = self._space.default()
        return self._sample_new() if self._is_known(default) else default

    def _most_promising(
        self, observations: Observations, pending: tuple[Proposal, ...]
    ) -> Configuration | None:
        """Draw from the density of the best, l; take the largest l / g that is not known."""
        order = np.lexsort((observations.y, ~observations.ok))
        n_best = min(int(np.ceil(self.gamma * len(order))), self.n_best)
        n_best = min(n_best, int(observations.ok.sum()))
        running = self._encode([proposal.configuration for proposal in pending])
        best = ParzenEstimator(self._columns, observations.vectors[order[:n_best]])
        others = ParzenEstimator(
            self._columns, np.vstack([observations.vectors[order[n_best:]], running])
        )
        drawn = best.sample(self.n_candidates, self._rng)
        ratio = best.log_density(drawn) - others.log_density(drawn)
        return self._first_new(drawn[np.argsort(-ratio, kind="stable")])


def _proposal(configuration: Configuration | None, origin: str) -> Proposal | None:
    return None if configuration is None else Proposal(configuration, origin=origin)
