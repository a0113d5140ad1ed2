"""ParEGO: multi-objective Bayesian optimization by random scalarization."""

import math
from dataclasses import dataclass

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy, clone_or, design_size
from skauto.strategies._checks import check_integers, check_numbers
from skauto.strategies._dimensions import model_inputs, n_free_dimensions
from skauto.surrogates import GaussianProcess, Surrogate
from skauto.utils import FloatArray


@dataclass(kw_only=True, eq=False, repr=False)
class ParEGO(BayesianStrategy):
    """Multi-objective Bayesian optimization by random scalarization.

    For every proposal, weights are sampled uniformly, and the losses are scaled to [0, 1] and
    combined by the augmented Tchebycheff function (Eq. (2) of [1]_). A Gaussian process is fitted
    to the result, and the configuration with the largest expected improvement is proposed.

    Parameters
    ----------
    n_initial : int, default=None
        Size of the initial design, see :class:`BayesianStrategy`. None means 2 d for a space of
        dimension d.
    rho : float, default=0.05
        Weight of the sum in the augmented Tchebycheff function.
    n_candidates : int, default=2000
        Number of random candidates.
    n_starts : int, default=10
        Number of the best trials, and of the best candidates, that local search starts from.
    surrogate : Surrogate, default=None
        Model of the scalarized losses; None means :class:`~skauto.surrogates.GaussianProcess`.

    See Also
    --------
    FanGHPO : Multi-source optimization by expected hypervolume improvement.

    Notes
    -----
    Deviation from [1]_: weights are sampled from the whole simplex instead of a lattice.

    References
    ----------
    .. [1] J. Knowles, "ParEGO: A Hybrid Algorithm with On-Line Landscape Approximation for
       Expensive Multiobjective Optimization Problems", IEEE Transactions on Evolutionary
       Computation 10(1), 2006, section III.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.space import Real, SearchSpace
    >>> from skauto.strategies import ParEGO
    >>> space = SearchSpace().add("classifier", "model", parameters={"x": Real(0, 2)})
    >>> def objective(configuration):
    ...     x = configuration.parameters("classifier")["x"]
    ...     return {"left": x**2, "right": (x - 1) ** 2}
    >>> result = minimize(objective, space, strategy=ParEGO(), objectives=("left", "right"),
    ...                   max_evals=15, random_state=0)
    >>> len(result.history.front()) > 5
    True
    """

    multi_objective = True

    n_initial: int | None = None
    rho: float = 0.05
    n_candidates: int = 2000
    n_starts: int = 10
    surrogate: Surrogate | None = None

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_candidates=1, n_starts=0)
        check_numbers(self, rho=(0.0, math.inf))

    def _n_design(self, history: History) -> int:
        n = 2 * n_free_dimensions(self.space) if self.n_initial is None else self.n_initial
        return design_size(n, history)

    def _suggest_by_model(self, history: History, observations: Observations) -> Proposal | None:
        weights = self.rng.dirichlet(np.ones(len(history.goal.objectives)))
        y = self._scalarized(observations, weights)
        model = clone_or(self.surrogate, GaussianProcess())
        return self.proposal(self._most_improving(model, observations, y), "log_ei")

    def _inputs(self, vectors: FloatArray) -> FloatArray:
        return model_inputs(self.space, vectors)

    def _scalarized(self, observations: Observations, weights: FloatArray) -> FloatArray:
        """Augmented Tchebycheff function of the losses scaled to [0, 1], Eq. (2)."""
        low, high = (extreme(observations.losses, axis=0) for extreme in (np.min, np.max))
        spread = np.where(high > low, high - low, 1.0)
        weighted = weights * (observations.losses - low) / spread
        return weighted.max(axis=1) + self.rho * weighted.sum(axis=1)
