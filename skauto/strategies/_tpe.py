"""Tree-structured Parzen estimator over conditional spaces."""

import math
from dataclasses import dataclass

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy
from skauto.strategies._checks import check_integers, check_numbers, check_options, check_positive
from skauto.strategies._parzen import ParzenEstimator

# Maximum number of trials that count as the best, as in Optuna.
_MAX_BEST = 25


@dataclass(kw_only=True, eq=False, repr=False)
class TPE(BayesianStrategy):
    """Tree-structured Parzen estimator over conditional spaces.

    The initial design is the default configuration and random ones. Then the trials are split into
    the best ones and the others, with densities l and g. Candidates are sampled from l, and the
    candidate with the largest ratio l / g is proposed, which maximizes the expected improvement.

    Failed trials and pending evaluations belong to the others. Known configurations are not
    proposed again.

    Parameters
    ----------
    n_initial : int, default=10
        Size of the initial design, at most a quarter of ``max_evals``; see `BayesianStrategy`.
    gamma : float, default=0.1
        Number of trials that count as the best, at most 25, divided by the number of trials or by
        its square root.
    split : {"linear", "sqrt"}, default="linear"
        What ``gamma`` is multiplied by: the number of trials, as in Optuna, or its square root, as
        in hyperopt, whose ``gamma`` is 0.25.
    n_candidates : int, default=24
        Number of candidates.
    bandwidth : float, default=0.2
        Standard deviation of the kernel of a single trial, in units of the range of a
        hyper-parameter. It decreases with the number of trials by Scott's rule. The default is
        that of Optuna.

    See Also
    --------
    ForestBO : Bayesian optimization with a random forest.

    Notes
    -----
    Deviation from [1]_: a kernel is a product over all hyper-parameters of a configuration, as in
    [2]_, so that hyper-parameters are sampled jointly. The kernel of a hyper-parameter that is
    inactive in an observation is the prior. The bandwidth is that of Optuna for all observations,
    not the distance of an observation from its neighbors. The paper splits at a quantile of the
    losses.

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
    >>> minimize(objective, space, strategy=TPE(), max_evals=30, random_state=0).history[-1].origin
    'tpe'
    """

    n_initial: int = 10
    gamma: float = 0.1
    split: str = "linear"
    n_candidates: int = 24
    bandwidth: float = 0.2

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_candidates=1)
        check_numbers(self, gamma=(0.0, 1.0))
        check_options(self, split=("linear", "sqrt"))
        check_positive(self, "bandwidth")

    def _suggest_by_model(self, history: History, observations: Observations) -> Proposal | None:
        """Sample candidates from l and propose the new one with the largest l / g."""
        order = np.lexsort((observations.y, ~observations.ok))
        n_best = min(self._n_best(len(order)), int(observations.ok.sum()))
        vectors = observations.vectors[order]
        best = ParzenEstimator(self.space, vectors[:n_best], self.bandwidth)
        rest = np.vstack([vectors[n_best:], self.pending_vectors()])
        others = ParzenEstimator(self.space, rest, self.bandwidth)
        candidates = best.sample(self.n_candidates, self.rng)
        ratio = best.log_density(candidates) - others.log_density(candidates)
        configuration = self.first_new(candidates[np.argsort(-ratio, kind="stable")])
        return self.proposal(configuration, "tpe")

    def _n_best(self, n_trials: int) -> int:
        """Number of trials that count as the best."""
        unit = n_trials if self.split == "linear" else math.sqrt(n_trials)
        return max(1, min(math.ceil(self.gamma * unit), _MAX_BEST))
