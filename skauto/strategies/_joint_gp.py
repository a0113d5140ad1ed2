"""Bayesian optimisation with one Gaussian process over all choices at once (JOPT)."""

import numpy as np

from skauto.acquisition import maximize_acquisition, maximize_log_improvement
from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy, cap_outliers, improvement_of
from skauto.strategies._checks import check_integers
from skauto.surrogates import GaussianProcess, believe
from skauto.utils import FloatArray


class JointGP(BayesianStrategy):
    """Bayesian optimisation with one Gaussian process over all choices at once.

    The baseline JOPT(BO) of the ADMM paper: algorithms enter the process one-hot, and every
    hyper-parameter of every algorithm is a dimension of it, at its default where it is not in
    use. The expected improvement is maximised by random candidates and local search, and then by
    L-BFGS-B in the numeric hyper-parameters that are in use.

    Parameters
    ----------
    n_initial : int, default=10
        Number of trials before the model takes over, those made before the strategy's first
        proposal included; at most a quarter of the trials that the search may make.
    n_candidates : int, default=1000
        Number of random candidates.
    n_starts : int, default=3
        Number of candidates, and of trials, that local search starts from, and of ascents.

    See Also
    --------
    ADMM : Splits the same problem into small ones.

    References
    ----------
    .. [1] S. Liu, P. Ram et al., "An ADMM Based Framework for AutoML Pipeline Configuration",
       AAAI 2020, section 5 and Appendix 14.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> space = make_artificial_space(n_steps=2)
    >>> result = minimize(
    ...     make_artificial_objective(space), space, strategy="joint_gp", max_evals=15,
    ...     random_state=0,
    ... )
    >>> result.history[-1].origin
    'joint_gp'
    """

    def __init__(
        self, *, n_initial: int = 10, n_candidates: int = 1000, n_starts: int = 3
    ) -> None:
        self.n_initial = n_initial
        self.n_candidates = n_candidates
        self.n_starts = n_starts

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_candidates=1, n_starts=1)
        self._model = GaussianProcess(n_restarts=0, warm_start=True)
        self._ordered = {
            k: column.definition
            for k, column in enumerate(self._space.columns)
            if column.definition is not None and column.definition.ordered
        }

    def _promising(self, history: History, observations: Observations) -> Proposal | None:
        X, y = self._inputs(observations.vectors), cap_outliers(observations.y)
        model = self._model.update(X, y, self._rng)  # hyper-parameters are seldom chosen anew
        believe(model, X, y, self._inputs(self._running()), self._rng)
        best = float(y[observations.ok].min())
        ranked, _ = maximize_acquisition(
            improvement_of(model, best, self._inputs),
            self._space,
            self._rng,
            starts=observations.vectors[np.argsort(y, kind="stable")[: self.n_starts]],
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
            n_rounds=5,
        )
        refined = self._refine(ranked[: self.n_starts], best)
        return self._proposal(self._first_new(np.vstack([refined, ranked])), "joint_gp")

    def _refine(self, vectors: FloatArray, best: float) -> FloatArray:
        """Vector (1, n_dimensions) after ascents in the numeric hyper-parameters in use."""
        points = self._inputs(vectors)
        shift = points.shape[1] - vectors.shape[1]  # features before those of a column
        active = self._space.active(vectors)
        active &= np.isin(np.arange(vectors.shape[1]), list(self._ordered))
        free = np.zeros(points.shape, dtype=bool)
        rows, columns = np.nonzero(active)
        free[rows, columns + shift] = True
        point, row = maximize_log_improvement(
            self._model, best, points, free=free, n_starts=len(points)
        )
        refined = vectors[[row]].copy()
        for column in np.flatnonzero(active[row]).tolist():
            refined[0, column] = self._ordered[column].snap([point[column + shift]])[0]
        return refined

    def _inputs(self, vectors: FloatArray) -> FloatArray:
        """One-hot choices, and all hyper-parameters on the unit scale."""
        units = self._space.fill_inactive(vectors)[:, len(self._space.steps) :]
        return np.hstack([self._space.one_hot_structures(vectors), units])
