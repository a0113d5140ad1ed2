"""ParEGO: Bayesian optimisation of several objectives, one random mixture of them at a time."""

import math

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy, design_size, improvement_of, made
from skauto.strategies._checks import check_integers, check_numbers
from skauto.strategies._dimensions import model_inputs, n_free_dimensions
from skauto.surrogates import GaussianProcess, Surrogate
from skauto.utils import FloatArray


class ParEGO(BayesianStrategy):
    """Multi-objective Bayesian optimisation by random scalarisation.

    Every proposal minimises another mixture of the losses: weights are drawn uniformly, the losses
    seen so far are scaled to [0, 1] and reduced to one number by the augmented Tchebycheff
    function, a Gaussian process learns it, and the configuration of the largest expected
    improvement is proposed. With one objective this is plain Bayesian optimisation.

    Failed trials enter at the worst losses seen, proposals still running at the mean predicted for
    them.

    Parameters
    ----------
    n_initial : int, default=None
        Number of trials before the model takes over, the default configuration and those made
        before the strategy's first proposal included; at most a quarter of the trials that the
        search may make. None takes 2 d for d choices in a configuration.
    rho : float, default=0.05
        Weight of the sum of the losses beside their maximum.
    n_candidates : int, default=2000
        Number of random candidates.
    n_starts : int, default=10
        Number of trials, the best ones, and of random candidates that local search starts from.
    surrogate : Surrogate, default=None
        Model of the mixture; None takes :class:`~skauto.surrogates.GaussianProcess`.

    See Also
    --------
    FanGHPO : Learns from cheap approximations too, and sees the front as a whole.

    References
    ----------
    .. [1] J. Knowles, "ParEGO: A Hybrid Algorithm with On-Line Landscape Approximation for
       Expensive Multiobjective Optimization Problems", IEEE Transactions on Evolutionary
       Computation 10(1), 2006, section III. Weights are drawn from the whole simplex, not from a
       lattice on it.

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

    def __init__(
        self,
        *,
        n_initial: int | None = None,
        rho: float = 0.05,
        n_candidates: int = 2000,
        n_starts: int = 10,
        surrogate: Surrogate | None = None,
    ) -> None:
        self.n_initial = n_initial
        self.rho = rho
        self.n_candidates = n_candidates
        self.n_starts = n_starts
        self.surrogate = surrogate

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_candidates=1, n_starts=0)
        check_numbers(self, rho=(0.0, math.inf))

    def _n_design(self, history: History) -> int:
        n = 2 * n_free_dimensions(self._space) if self.n_initial is None else self.n_initial
        return design_size(n, history)

    def _promising(self, history: History, observations: Observations) -> Proposal | None:
        weights = self._rng.dirichlet(np.ones(len(history.objectives)))
        y = self._scalarised(observations, weights)
        model = self._fitted(made(self.surrogate, GaussianProcess()), observations, y)
        best = float(y[observations.ok].min())
        starts = observations.vectors[np.argsort(y, kind="stable")[: self.n_starts]]
        acquisition = improvement_of(model, best, self._inputs)
        return self._proposal(self._maximizer(acquisition, starts), "log_ei")

    def _inputs(self, vectors: FloatArray) -> FloatArray:
        return model_inputs(self._space, vectors)

    def _scalarised(self, observations: Observations, weights: FloatArray) -> FloatArray:
        """Augmented Tchebycheff function of the losses on a scale from 0 to 1, Eq. (2) of [1]."""
        low, high = (extreme(observations.losses, axis=0) for extreme in (np.min, np.max))
        spread = np.where(high > low, high - low, 1.0)
        weighted = weights * (observations.losses - low) / spread
        scalars: FloatArray = weighted.max(axis=1) + self.rho * weighted.sum(axis=1)
        return scalars
