"""JOPT: Bayesian optimization with one Gaussian process over the joint space."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skauto.acquisition._continuous import maximize_log_improvement
from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy, improvement_of, process_of, targets_of
from skauto.strategies._checks import check_integers
from skauto.surrogates._kriging_believer import condition_on_pending
from skauto.utils import FloatArray


@dataclass(kw_only=True, eq=False, repr=False)
class JointGP(BayesianStrategy):
    """Bayesian optimization with one Gaussian process over the joint space, JOPT(BO).

    The baseline of the ADMM paper [1]_. The inputs are one-hot algorithms and every
    hyper-parameter of every algorithm, with defaults for inactive ones. The expected improvement
    is maximized by random candidates and local search, then by L-BFGS-B over the active numeric
    hyper-parameters.

    Parameters
    ----------
    n_initial : int, default=10
        Size of the initial design, at most a quarter of ``max_evals``; see `BayesianStrategy`.
    default_first : bool, default=True
        Whether the default configuration is the first of the initial design. If False, as in
        scikit-optimize, all are random.
    n_candidates : int, default=1000
        Number of random candidates.
    n_starts : int, default=3
        Number of the best trials, and of the best candidates, that local search starts from, and
        of L-BFGS-B runs.
    robust : bool, default=True
        Whether losses are clipped at the third quartile plus three times its distance from the
        best loss, and the Gaussian process has weak priors and is fitted again after 10% more
        observations. False (the paper) fits the losses by maximum likelihood at every proposal.

    See Also
    --------
    ADMM : Splits the same problem into sub-problems.

    Notes
    -----
    Deviations from [1]_: losses are clipped, the surrogate has priors and is rarely fitted again,
    and the default configuration comes first; ``paper`` has none of these. The paper leaves the
    rest to scikit-optimize. Here the initial design is shortened in a search of fewer than 40
    trials, local search among neighbors precedes L-BFGS-B, inactive hyper-parameters have their
    defaults, known configurations are not proposed again, and failed trials have the worst
    observed loss.

    References
    ----------
    .. [1] S. Liu, P. Ram et al., "An ADMM Based Framework for AutoML Pipeline Configuration",
       AAAI 2020, section 5 and Appendix 14.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy="joint_gp", max_evals=8, random_state=0)
    >>> result.history[-1].origin
    'joint_gp'
    """

    n_initial: int = 10
    default_first: bool = True
    n_candidates: int = 1000
    n_starts: int = 3
    robust: bool = True

    @classmethod
    def paper(cls) -> Self:
        """Settings of the paper, Appendices 3 and 14: maximum likelihood at every proposal."""
        return cls(default_first=False, robust=False)

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_candidates=1, n_starts=1)
        self._model = process_of(self.robust)

    def _suggest_by_model(self, history: History, observations: Observations) -> Proposal | None:
        X, y = self._inputs(observations.vectors), targets_of(observations.y, self.robust)
        model = self._model.update(X, y, self.rng)  # rarely refits the kernel parameters
        condition_on_pending(model, X, y, self._inputs(self.pending_vectors()), self.rng)
        best = float(y[observations.ok].min())
        starts = observations.vectors[np.argsort(y, kind="stable")[: self.n_starts]]
        ranked = self._ranked(improvement_of(model, best, self._inputs), starts, n_rounds=5)
        refined = self._refine(ranked[: self.n_starts], best)
        return self.proposal(self.first_new(np.vstack([refined, ranked])), "joint_gp")

    def _refine(self, vectors: FloatArray, best: float) -> FloatArray:
        """Best vector (1, n_dimensions) after L-BFGS-B in the active numeric hyper-parameters."""
        points = self._inputs(vectors)
        shift = points.shape[1] - vectors.shape[1]  # input index minus column index
        active = ~np.isnan(vectors) & (self.space.layout.n_choices == 0)
        free = np.zeros(points.shape, dtype=bool)
        rows, columns = np.nonzero(active)
        free[rows, columns + shift] = True
        point, row = maximize_log_improvement(
            self._model, best, points, free=free, n_starts=len(points)
        )
        refined = vectors[[row]].copy()
        for column in np.flatnonzero(active[row]).tolist():
            parameter = self.space.layout.parameter(column)
            refined[0, column] = parameter.snap([point[column + shift]])[0]
        return refined

    def _inputs(self, vectors: FloatArray) -> FloatArray:
        """One-hot algorithms and all hyper-parameters on the unit scale."""
        units = self.space.fill_inactive(vectors)[:, len(self.space.steps) :]
        return np.hstack([self.space.one_hot_structures(vectors), units])
