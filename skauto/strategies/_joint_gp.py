"""Bayesian optimisation with one Gaussian process over all choices at once (JOPT)."""

import numpy as np

from skauto.acquisition import (
    log_expected_improvement,
    maximize_acquisition,
    maximize_log_improvement,
)
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import Strategy
from skauto.surrogates import GaussianProcess
from skauto.utils import FloatArray


class JointGP(Strategy):
    """Bayesian optimisation with one Gaussian process over all choices at once.

    The baseline JOPT(BO) of the ADMM paper: algorithms enter the process one-hot, and every
    hyper-parameter of every algorithm is a dimension of it, at its default where it is not in
    use. The expected improvement is maximised by random candidates and local search, and then by
    L-BFGS-B in the numeric hyper-parameters that are in use.

    Parameters
    ----------
    n_initial : int, default=10
        Number of trials before the model takes over: the default configuration and random ones.
        Trials made before the search count.
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
        self._model = GaussianProcess(n_restarts=0, warm_start=True)
        self._ordered = {
            k: column.definition
            for k, column in enumerate(self._space.columns)
            if column.definition is not None and column.definition.ordered
        }

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        n_finished = len(self._observations(history))
        configuration, origin = None, "joint_gp"
        if n_finished and n_finished + len(pending) >= self.n_initial:
            configuration = self._most_promising(history, pending)
        elif not self._is_known(self._space.default()):
            configuration, origin = self._space.default(), "default"
        if configuration is None:
            configuration, origin = self._sample_new(), "random"
        return None if configuration is None else Proposal(configuration, origin=origin)

    def _most_promising(
        self, history: History, pending: tuple[Proposal, ...]
    ) -> Configuration | None:
        """Maximise the expected improvement over what is not known."""
        observations = self._observations(history)
        X, y = self._features(observations.vectors), cap_outliers(observations.y)
        running = self._features(self._encode([proposal.configuration for proposal in pending]))
        model = self._model.update(X, y, self._rng)
        if len(running):
            believed, _ = model.predict(running)
            model.condition(np.vstack([X, running]), np.concatenate([y, believed]))
        best = float(y.min())

        def acquisition(vectors: FloatArray) -> FloatArray:
            return log_expected_improvement(*model.predict(self._features(vectors)), best)

        ranked, _ = maximize_acquisition(
            acquisition,
            self._space,
            self._rng,
            starts=observations.vectors[np.argsort(y, kind="stable")[: self.n_starts]],
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
            n_rounds=5,
        )
        refined = self._refine(ranked[: self.n_starts], best)
        return self._first_new(np.vstack([refined, ranked]))

    def _refine(self, vectors: FloatArray, best: float) -> FloatArray:
        """Vector (1, n_dimensions) after ascents in the numeric hyper-parameters in use."""
        points = self._features(vectors)
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

    def _features(self, vectors: FloatArray) -> FloatArray:
        """One-hot choices, and all hyper-parameters on the unit scale."""
        units = self._space.fill_inactive(vectors)[:, len(self._space.steps) :]
        return np.hstack([self._space.one_hot_structures(vectors), units])


def cap_outliers(losses: FloatArray) -> FloatArray:
    """Losses of which the worst are cut off, so that they do not hide differences of the best.

    Differences above the third quartile that exceed three times its distance from the best loss
    say nothing about where the best loss lies, but decide the scale of a stationary process.
    """
    best, quartile = np.quantile(losses, [0.0, 0.75])
    if quartile == best:
        return losses
    return np.minimum(losses, quartile + 3.0 * (quartile - best))
