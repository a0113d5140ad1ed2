"""DivBO: diversity-aware Bayesian optimization for ensembles."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.base import clone

from skauto.history import History, Proposal
from skauto.selection._diversity import diversity_to
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy, clone_or, improvement_of, rank_scores
from skauto.strategies._checks import check_integers, check_numbers, check_options
from skauto.strategies._stored_predictions import N_BEST, StoredPredictions
from skauto.surrogates import DiversityForest, DiversitySurrogate, RandomForest, Surrogate
from skauto.utils import FloatArray, IntArray

# Local candidates are neighbors of this many of the best trials.
_N_CENTERS = 10
# Diversity ranks are estimated from this many random candidates.
_N_RANKED = 256


@dataclass(kw_only=True, eq=False, repr=False)
class DivBO(BayesianStrategy):
    r"""Diversity-aware Bayesian optimization for ensembles.

    The performance surrogate predicts the expected improvement of a candidate. The diversity
    surrogate predicts its smallest diversity to a member of the *temporary pool*, the ensemble
    selected from the trials so far (Eq. (4) of [1]_). New candidates are ranked by both, rank 1
    being the best. The proposal minimizes (Eq. 5)

    .. math:: R_{perf} + w R_{div}, \qquad w = \beta\, (\mathrm{sigmoid}(\tau t) - 1/2),

    where t is the number of proposals after the initial design.

    If fewer than two trials have stored predictions, as for a plain objective function, candidates
    are ranked by performance only.

    Parameters
    ----------
    n_initial : int, default=5
        Size of the initial design, at most a quarter of ``max_evals``; see `BayesianStrategy`.
    default_first : bool, default=True
        Whether the default configuration is the first of the initial design. If False (the paper),
        all are random.
    beta : float, default=0.05
        Twice the maximum weight of diversity; 0 ranks by performance only.
    tau : float, default=0.2
        Rate at which the weight approaches its maximum.
    n_members : int, default=25
        Size of the temporary pool, counting repeated members.
    pool : {"best", "all"}, default="best"
        Trials that the temporary pool is selected from: the 10 best and the 3 best of each
        classifier, as for the ensemble of an estimator, or all (the paper).
    n_candidates : int, default=4950
        Number of random candidates.
    n_local : int, default=50
        Number of candidates that are neighbors of the ten best trials.
    random_fraction : float, default=0.0
        Probability that a proposal is random.
    transform : {"rank", None}, default="rank"
        Targets of the performance surrogate: normal scores of the ranks of the losses, or the
        losses (the paper).
    surrogate : Surrogate, default=None
        Performance surrogate; None means :class:`~skauto.surrogates.RandomForest` with leaves of
        single trials.
    diversity_surrogate : DiversityForest or DiversitySurrogate, default=None
        Model of the diversity of two configurations; None means
        :class:`~skauto.surrogates.DiversityForest`, and the paper has
        :class:`~skauto.surrogates.DiversitySurrogate` with ``max_pairs=None``.

    See Also
    --------
    ForestBO : The same without diversity.

    Notes
    -----
    The page :doc:`/user_guide/papers` has every setting and step beside the paper's.

    References
    ----------
    .. [1] Y. Shen, Y. Lu, Y. Li, Y. Tu, W. Zhang, B. Cui, "DivBO: Diversity-aware CASH for
       Ensemble Learning", NeurIPS 2022, Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.strategies import DivBO
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AutoClassifier(DivBO(n_candidates=200, beta=0.1), max_evals=8, cv=0.3,
    ...                      initial=None, random_state=0).fit(X, y)
    >>> clf.history_[-1].origin
    'diversity'
    >>> clf.ensemble_.diversity_.shape == (len(clf.ensemble_), len(clf.ensemble_))
    True
    """

    selects_ensemble = True

    n_initial: int = 5
    default_first: bool = True
    beta: float = 0.05
    tau: float = 0.2
    n_members: int = 25
    pool: str = "best"
    n_candidates: int = 4950
    n_local: int = 50
    random_fraction: float = 0.0
    transform: str | None = "rank"
    surrogate: Surrogate | None = None
    diversity_surrogate: DiversityForest | DiversitySurrogate | None = None

    @classmethod
    def paper(cls) -> Self:
        """Settings of the paper, Algorithm 1 and Appendix A.4.

        The performance surrogate is a forest with leaves of three, fitted to losses. The diversity
        surrogate is LightGBM on all pairs, fitted again after every trial, which takes seconds for
        hundreds of trials.
        """
        return cls(
            default_first=False,
            pool="all",
            transform=None,
            surrogate=RandomForest(),
            diversity_surrogate=DiversitySurrogate(max_pairs=None),
        )

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_members=1, n_candidates=1, n_local=0)
        check_numbers(self, beta=(0.0, math.inf), tau=(0.0, math.inf), random_fraction=(0.0, 1.0))
        check_options(self, pool=("best", "all"), transform=("rank", None))
        self._stored = StoredPredictions()
        self._candidates_of_pool: IntArray = np.empty(0, dtype=np.intp)
        self._pool: IntArray = np.empty(0, dtype=np.intp)  # rows of the stored predictions
        self._diversities = np.zeros((0, 0))
        self._pair_model = clone(self.diversity_surrogate or DiversityForest())

    def _suggest_by_model(self, history: History, observations: Observations) -> Proposal | None:
        self._update_pool(observations, history)
        t = len(observations) + len(self.pending) - self._n_design(history)
        weight = self.beta * (float(expit(self.tau * t)) - 0.5)  # Eq. (5)
        candidates = self._candidates(observations)
        performance = self._performance_ranks(candidates, observations)
        if len(self._stored) < 2 or weight == 0.0:
            order: IntArray = np.argsort(performance, kind="stable")
            origin = "performance"
        else:
            order = self._combined_order(candidates, performance, weight, observations)
            origin = "diversity"
        return self.proposal(self.first_new(candidates[order]), origin)

    def _update_pool(self, observations: Observations, history: History) -> None:
        """Update the diversities of all pairs, Eq. (3), and the temporary pool."""
        stored = self._stored
        n_new = stored.update(observations, history)
        if not n_new:
            return
        n = len(stored)
        grown = np.pad(self._diversities, (0, n_new))
        for i in range(n - n_new, n):
            grown[i, : i + 1] = grown[: i + 1, i] = diversity_to(
                stored.values[i], stored.values[: i + 1]
            )
        self._diversities = grown
        candidates = stored.candidates(n_best=n if self.pool == "all" else N_BEST)
        if not np.array_equal(candidates, self._candidates_of_pool):
            self._candidates_of_pool = candidates
            self._pool = stored.members(candidates, self.n_members)

    def _candidates(self, observations: Observations) -> FloatArray:
        """New random configurations and neighbors of the best trials."""
        best = np.argsort(observations.y, kind="stable")[:_N_CENTERS]
        near, _ = self.space.neighborhoods(observations.vectors[best], self.rng)
        n_local = min(self.n_local, len(near))
        near = near[self.rng.choice(len(near), n_local, replace=False)]
        candidates = np.vstack([near, self.space.sample(self.n_candidates, self.rng)])
        return candidates[self.are_new(candidates)]

    def _performance_ranks(self, candidates: FloatArray, observations: Observations) -> FloatArray:
        """R_perf: ranks by expected improvement, 1 for the largest."""
        if not len(candidates):
            return np.empty(0)
        y = rank_scores(observations.y) if self.transform == "rank" else observations.y
        forest = RandomForest(min_samples_split=2, min_samples_leaf=1)
        model = self._fitted(clone_or(self.surrogate, forest), observations, y)
        best = float(y[observations.ok].min())
        improvement = improvement_of(model, best, self._inputs)(candidates)
        return rankdata(-improvement, method="min")

    def _combined_order(
        self,
        candidates: FloatArray,
        performance: FloatArray,
        weight: float,
        observations: Observations,
    ) -> IntArray:
        """Order candidates by R_perf + w R_div (Eq. 5), those that cannot minimize it last."""
        n = len(candidates)
        contenders = np.flatnonzero(performance <= 1.0 + weight * (n - 1))
        sample = np.arange(n)
        if n > _N_RANKED:
            sample = self.rng.choice(n, _N_RANKED, replace=False)
        needed, positions = np.unique(np.concatenate([contenders, sample]), return_inverse=True)
        alpha = self._expected_diversity(candidates[needed], observations)[positions]
        own, others = alpha[: len(contenders)], np.sort(alpha[len(contenders) :])
        n_above = len(others) - np.searchsorted(others, own, "right")
        diversity = 1.0 + n_above * (n / max(1, len(others)))  # R_div
        combined = performance[contenders] + weight * diversity
        order = contenders[np.argsort(combined, kind="stable")]
        return np.concatenate([order, np.argsort(performance, kind="stable")])

    def _expected_diversity(
        self, candidates: FloatArray, observations: Observations
    ) -> FloatArray:
        """alpha_div: mean over samples of the smallest diversity to a pool member, Eq. (4)."""
        if not len(candidates):
            return np.empty(0)
        known = self.space.one_hot(observations.vectors[self._stored.indices])
        self._pair_model.update(known, self._diversities, self.rng)
        samples = self._pair_model.sample(self._pool, self.space.one_hot(candidates))
        return samples.min(axis=1).mean(axis=0)
