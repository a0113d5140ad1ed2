"""Tree-structured Parzen estimator over conditional spaces."""

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy
from skauto.strategies._checks import check_integers, check_numbers
from skauto.strategies._parzen import ParzenEstimator


class TPE(BayesianStrategy):
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
        check_integers(self, n_initial=0, n_best=1, n_candidates=1)
        check_numbers(self, gamma=(0.0, 1.0))

    def _promising(self, history: History, observations: Observations) -> Proposal | None:
        """Draw from the density of the best, l; take the largest l / g that is not known."""
        order = np.lexsort((observations.y, ~observations.ok))
        n_best = min(int(np.ceil(self.gamma * len(order))), self.n_best)
        n_best = max(1, min(n_best, int(observations.ok.sum())))
        vectors = observations.vectors[order]
        best = ParzenEstimator(self._space, vectors[:n_best])
        others = ParzenEstimator(self._space, np.vstack([vectors[n_best:], self._running()]))
        drawn = best.sample(self.n_candidates, self._rng)
        ratio = best.log_density(drawn) - others.log_density(drawn)
        configuration = self._first_new(drawn[np.argsort(-ratio, kind="stable")])
        return self._proposal(configuration, "tpe")
