"""DivBO: Bayesian optimisation for ensembles, which want members that are good and different."""

import math
from typing import Self

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.base import clone

from skauto.history import History, Proposal
from skauto.selection import diversity_to
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy, improvement_of, made, rank_scores
from skauto.strategies._checks import check_integers, check_numbers, check_options
from skauto.strategies._stored_predictions import StoredPredictions
from skauto.surrogates import DiversitySurrogate, RandomForest, Surrogate
from skauto.utils import FloatArray, IntArray

# Local candidates are neighbours of this number of the best trials.
_N_CENTRES = 10
# The diversity rank of a candidate is counted among this number of them.
_N_RANKED = 256


class DivBO(BayesianStrategy):
    r"""Diversity-aware Bayesian optimisation: suggest what is good and differs from the ensemble.

    What a search ends with is an ensemble, so every suggestion asks two surrogates. The
    performance surrogate gives the expected improvement of a candidate; the diversity surrogate
    gives how far its predictions will be from the nearest member of the *temporary pool*, the
    ensemble that would be selected now from the candidates of the final one (Eq. 4). Candidates
    that are not known yet are ranked by both, 1 being the best, and the one that minimises

    .. math:: R_{perf} + w R_{div}, \qquad w = \beta\, (\mathrm{sigmoid}(\tau t) - 1/2),

    is proposed (Eq. 5), t being the number of suggestions made so. The first trials are the
    default configuration and random ones.

    Trials without stored predictions, such as those of a plain objective function, cannot be
    compared. As long as fewer than two trials have predictions, or where the history has no
    targets to select the pool by, candidates are ranked by performance only.

    Parameters
    ----------
    n_initial : int, default=5
        Number of trials before the models take over, those made before the strategy's first
        proposal included; at most a quarter of the trials that the search may make.
    beta : float, default=0.05
        Twice the largest weight of diversity; with 0, performance alone decides.
    tau : float, default=0.2
        How fast that weight is reached.
    n_members : int, default=25
        Size of the temporary pool, repetitions included.
    n_candidates : int, default=4950
        Number of random candidates.
    n_local : int, default=50
        Number of candidates that are neighbours of the ten best trials.
    random_fraction : float, default=0.0
        Probability that a proposal is random.
    max_rows : int, default=2000
        Number of validation rows, a constant sample, that diversity and pool are computed from.
    transform : {"rank", None}, default="rank"
        What the model of the loss learns: normal scores of the ranks of the losses, or the losses
        as they are (the paper).
    surrogate : Surrogate, default=None
        Model of the loss; None takes
        :class:`~skauto.surrogates.RandomForest` with trees grown to single trials, which learns
        more from few of them than the leaves of three in the authors' library.
    diversity_surrogate : DiversitySurrogate, default=None
        Model of the diversity of two configurations; None takes
        :class:`~skauto.surrogates.DiversitySurrogate` with its defaults.

    See Also
    --------
    ForestBO : The same without diversity.

    Notes
    -----
    The N samples of Eq. (4) are the predictions of the N models of the diversity surrogate. Only
    candidates that can still win are asked for their diversity, those with
    :math:`R_{perf} \le 1 + w (n - 1)` of n candidates. Their diversity rank is counted among
    256 random candidates and scaled to n, which is exact up to 256 candidates.

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
    >>> clf = AutoClassifier(DivBO(n_candidates=200, beta=0.1), max_evals=8, initial=None,
    ...                      random_state=0).fit(X, y)
    >>> clf.history_[-1].origin
    'diversity'
    >>> clf.ensemble_.diversity_.shape == (len(clf.ensemble_), len(clf.ensemble_))
    True
    """

    def __init__(
        self,
        *,
        n_initial: int = 5,
        beta: float = 0.05,
        tau: float = 0.2,
        n_members: int = 25,
        n_candidates: int = 4950,
        n_local: int = 50,
        random_fraction: float = 0.0,
        max_rows: int = 2000,
        transform: str | None = "rank",
        surrogate: Surrogate | None = None,
        diversity_surrogate: DiversitySurrogate | None = None,
    ) -> None:
        self.n_initial = n_initial
        self.beta = beta
        self.tau = tau
        self.n_members = n_members
        self.n_candidates = n_candidates
        self.n_local = n_local
        self.random_fraction = random_fraction
        self.max_rows = max_rows
        self.transform = transform
        self.surrogate = surrogate
        self.diversity_surrogate = diversity_surrogate

    @classmethod
    def paper(cls) -> Self:
        """Settings of the paper, section 4.1, with the probabilistic forest of its library.

        Returns
        -------
        strategy : DivBO
            With a forest of leaves of three that learns the losses as they are.
        """
        return cls(transform=None, surrogate=RandomForest())

    def _start(self) -> None:
        check_integers(self, n_initial=0, n_members=1, n_candidates=1, n_local=0, max_rows=1)
        check_numbers(self, beta=(0.0, math.inf), tau=(0.0, math.inf), random_fraction=(0.0, 1.0))
        check_options(self, transform=("rank", None))
        self._stored = StoredPredictions(self.max_rows)
        self._candidates_of_pool: IntArray = np.empty(0, dtype=np.intp)
        self._pool: IntArray = np.empty(0, dtype=np.intp)  # rows of the stored predictions
        self._diversities = np.zeros((0, 0))
        given = self.diversity_surrogate
        self._pair_model = DiversitySurrogate() if given is None else clone(given)

    def _promising(self, history: History, observations: Observations) -> Proposal | None:
        self._update_pool(observations, history)
        t = len(observations) + len(self._pending) - self._n_design(history)
        weight = self.beta * (float(expit(self.tau * t)) - 0.5)  # Eq. (5)
        candidates = self._candidates(observations)
        performance = self._performance_ranks(candidates, observations)
        if len(self._stored) < 2 or weight == 0.0:
            order: IntArray = np.argsort(performance, kind="stable")
            origin = "performance"
        else:
            order = self._combined_order(candidates, performance, weight, observations)
            origin = "diversity"
        return self._proposal(self._first_new(candidates[order]), origin)

    # What is known of ensembles

    def _update_pool(self, observations: Observations, history: History) -> None:
        """Add what is new to the diversities of all pairs; select the temporary pool."""
        stored = self._stored
        n_new = stored.update(observations, history)
        if not n_new:
            return
        n = len(stored)
        grown = np.zeros((n, n))
        grown[: n - n_new, : n - n_new] = self._diversities
        for i in range(n - n_new, n):
            grown[i, : i + 1] = grown[: i + 1, i] = diversity_to(
                stored.values[i], stored.values[: i + 1]
            )
        self._diversities = grown
        candidates = stored.candidates()
        if not np.array_equal(candidates, self._candidates_of_pool):
            self._candidates_of_pool = candidates
            self._pool = stored.members(candidates, self.n_members)

    # Candidates and their ranks

    def _candidates(self, observations: Observations) -> FloatArray:
        """Random configurations, and neighbours of the best trials, that are not known."""
        best = np.argsort(observations.y, kind="stable")[:_N_CENTRES]
        near = np.vstack([self._space.neighbors(v, self._rng) for v in observations.vectors[best]])
        n_local = min(self.n_local, len(near))
        near = near[self._rng.choice(len(near), n_local, replace=False)]
        candidates = np.vstack([near, self._space.sample(self.n_candidates, self._rng)])
        return candidates[self._are_new(candidates)]

    def _performance_ranks(self, candidates: FloatArray, observations: Observations) -> FloatArray:
        """R_perf: ranks by expected improvement, 1 for the largest."""
        if not len(candidates):
            return np.empty(0)
        y = rank_scores(observations.y) if self.transform == "rank" else observations.y
        forest = RandomForest(min_samples_split=2, min_samples_leaf=1)
        model = self._fitted(made(self.surrogate, forest), observations, y)
        best = float(y[observations.ok].min())
        improvement = improvement_of(model, best, self._inputs)(candidates)
        ranks: FloatArray = rankdata(-improvement, method="min")
        return ranks

    def _combined_order(
        self,
        candidates: FloatArray,
        performance: FloatArray,
        weight: float,
        observations: Observations,
    ) -> IntArray:
        """Candidates in the order of R_perf + w R_div; those that cannot win come last."""
        n = len(candidates)
        hopeful = np.flatnonzero(performance <= 1.0 + weight * (n - 1))
        drawn = np.arange(n)
        if n > _N_RANKED:
            drawn = self._rng.choice(n, _N_RANKED, replace=False)
        asked, places = np.unique(np.concatenate([hopeful, drawn]), return_inverse=True)
        nearest = self._nearest_diversity(candidates[asked], observations)[places]
        values, others = nearest[: len(hopeful)], np.sort(nearest[len(hopeful) :])
        n_above = len(others) - np.searchsorted(others, values, "right")
        diversity = 1.0 + n_above * (n / max(1, len(others)))  # R_div
        combined = performance[hopeful] + weight * diversity
        order = hopeful[np.argsort(combined, kind="stable")]
        return np.concatenate([order, np.argsort(performance, kind="stable")])

    def _nearest_diversity(self, candidates: FloatArray, observations: Observations) -> FloatArray:
        """Mean over the models of the diversity to the most similar member, Eq. (4)."""
        if not len(candidates):
            return np.empty(0)
        known = self._space.one_hot(observations.vectors[self._stored.indices])
        self._pair_model.update(known, self._diversities, self._rng)
        samples = self._pair_model.sample(known[self._pool], self._space.one_hot(candidates))
        means: FloatArray = samples.min(axis=1).mean(axis=0)
        return means
