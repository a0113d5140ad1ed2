"""ParEGO: Bayesian optimisation of several objectives, one random mixture of them at a time."""

import numpy as np
from sklearn.base import clone

from skauto.acquisition import log_expected_improvement, maximize_acquisition
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import Observations, Strategy
from skauto.strategies._dimensions import model_inputs, n_free_dimensions
from skauto.surrogates import GaussianProcess, Surrogate
from skauto.utils import FloatArray


class ParEGO(Strategy):
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
        Number of random trials before the model takes over, those made before the strategy's first
        proposal included; at most a quarter of the trials that the search may make. None takes 2 d
        for d choices in a configuration.
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

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        observations = self._observations(history)
        n_begun = len(observations) + len(pending)
        if n_begun < self._n_design(history) or not observations.ok.any():
            return _propose(self._sample_new(), "initial")
        weights = self._rng.dirichlet(np.ones(len(history.objectives)))
        y = self._scalarised(observations, weights)
        configuration = self._most_promising(observations, y, pending)
        return _propose(configuration or self._sample_new(), "log_ei")

    def _n_design(self, history: History) -> int:
        n = 2 * n_free_dimensions(self._space) if self.n_initial is None else self.n_initial
        return n if history.max_evals is None else min(n, max(1, history.max_evals // 4))

    def _scalarised(self, observations: Observations, weights: FloatArray) -> FloatArray:
        """Augmented Tchebycheff function of the losses on a scale from 0 to 1, Eq. (2) of [1]."""
        low, high = (extreme(observations.losses, axis=0) for extreme in (np.min, np.max))
        spread = np.where(high > low, high - low, 1.0)
        weighted = weights * (observations.losses - low) / spread
        return weighted.max(axis=1) + self.rho * weighted.sum(axis=1)

    def _most_promising(
        self, observations: Observations, y: FloatArray, pending: tuple[Proposal, ...]
    ) -> Configuration | None:
        """Maximise the expected improvement of the mixture over what is not known."""
        X = model_inputs(self._space, observations.vectors)
        model = GaussianProcess() if self.surrogate is None else clone(self.surrogate)
        model.fit(X, y, self._rng)
        running = self._encode([proposal.configuration for proposal in pending])
        if len(running):
            points = model_inputs(self._space, running)
            believed, _ = model.predict(points)
            model.fit(np.vstack([X, points]), np.concatenate([y, believed]), self._rng)
        best = y[observations.ok].min()

        def improvement(vectors: FloatArray) -> FloatArray:
            mean, std = model.predict(model_inputs(self._space, vectors))
            return log_expected_improvement(mean, std, best)

        order = np.argsort(y, kind="stable")[: self.n_starts]
        vectors, _ = maximize_acquisition(
            improvement,
            self._space,
            self._rng,
            starts=observations.vectors[order],
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
        )
        return self._first_new(vectors)


def _propose(configuration: Configuration | None, origin: str) -> Proposal | None:
    return None if configuration is None else Proposal(configuration, origin=origin)
