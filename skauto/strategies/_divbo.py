"""DivBO: Bayesian optimisation for ensembles, which want members that are good and different."""

import math
from numbers import Integral, Real

import numpy as np
from scipy.special import expit, ndtri
from scipy.stats import rankdata
from sklearn.base import clone

from skauto.acquisition import log_expected_improvement
from skauto.history import History, Proposal
from skauto.selection import EnsemblePool
from skauto.selection._diversity import diversity_to
from skauto.space import Configuration
from skauto.strategies._base import Observations, Strategy
from skauto.strategies._checks import check_number
from skauto.strategies._stored_predictions import StoredPredictions
from skauto.surrogates import DiversitySurrogate, RandomForest, Surrogate
from skauto.utils import FloatArray, IntArray

# Local candidates are neighbours of so many of the best trials.
_N_CENTRES = 10
# The diversity rank of a candidate is counted among so many of them.
_N_RANKED = 256


def _forest() -> RandomForest:
    return RandomForest(min_samples_split=2, min_samples_leaf=1)


class DivBO(Strategy):
    r"""Diversity-aware Bayesian optimisation: suggest what is good and differs from the ensemble.

    What a search ends with is an ensemble, so every suggestion asks two surrogates. The
    performance surrogate gives the expected improvement of a candidate; the diversity surrogate
    gives how far its predictions will be from the nearest member of the *temporary pool*, the
    ensemble that would be selected now (Eq. 4). Candidates are ranked by both, 1 being the
    best, and the one that minimises

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
    surrogate : Surrogate, default=None
        Model of the loss, which is given normal scores of the ranks of the losses; None takes
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
        self.surrogate = surrogate
        self.diversity_surrogate = diversity_surrogate

    def _start(self) -> None:
        least = {"n_initial": 0, "n_members": 1, "n_candidates": 1, "n_local": 0, "max_rows": 1}
        for name, low in least.items():
            check_number(self, name, low, Integral)
        for name, high in (("beta", math.inf), ("tau", math.inf), ("random_fraction", 1.0)):
            check_number(self, name, 0.0, Real, high)
        self._stored = StoredPredictions(self.max_rows)
        self._pool: EnsemblePool | None = None
        self._diversities = np.zeros((0, 0))
        given = self.diversity_surrogate
        self._pair_model = DiversitySurrogate() if given is None else clone(given)

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        observations = self._observations(history)
        self._update_pool(observations, history)
        n_begun = len(observations) + len(pending)
        n_design = self._n_design(history)
        if n_begun < n_design or not observations.ok.any():
            return _proposal(self._next_of_design(), "initial")
        if self._rng.random() < self.random_fraction:
            return _proposal(self._sample_new(), "random")
        weight = self.beta * (float(expit(self.tau * (n_begun - n_design))) - 0.5)  # Eq. (5)
        candidates = self._candidates(observations)
        performance = self._performance_ranks(candidates, observations, pending)
        if self._pool is None or len(self._stored) < 2 or weight == 0.0:
            order, origin = np.argsort(performance, kind="stable"), "performance"
        else:
            order = self._combined_order(candidates, performance, weight, observations)
            origin = "diversity"
        configuration = self._first_new(candidates[order])
        if configuration is not None:
            return Proposal(configuration, origin=origin)
        return _proposal(self._sample_new(), "random")

    # The first trials

    def _n_design(self, history: History) -> int:
        if history.max_evals is None:
            return self.n_initial
        return min(self.n_initial, max(1, history.max_evals // 4))

    def _next_of_design(self) -> Configuration | None:
        default = self._space.default()
        return self._sample_new() if self._is_known(default) else default

    # What is known of ensembles

    def _update_pool(self, observations: Observations, history: History) -> None:
        """Add what is new to the temporary pool and to the diversities of all pairs."""
        n_new = self._stored.update(observations, history)
        if not n_new:
            return
        stored = self._stored
        if self._pool is None:
            self._pool = EnsemblePool(stored.targets, stored.loss, self.n_members)
        n = len(stored)
        grown = np.zeros((n, n))
        grown[: n - n_new, : n - n_new] = self._diversities
        for i in range(n - n_new, n):
            self._pool.add(stored.values[i])
            grown[i, : i + 1] = grown[: i + 1, i] = diversity_to(
                stored.values[i], stored.values[: i + 1]
            )
        self._diversities = grown

    # Candidates and their ranks

    def _candidates(self, observations: Observations) -> FloatArray:
        """Random configurations, and neighbours of the best trials."""
        best = np.argsort(observations.y, kind="stable")[:_N_CENTRES]
        near = np.vstack([self._space.neighbors(v, self._rng) for v in observations.vectors[best]])
        n_local = min(self.n_local, len(near))
        near = near[self._rng.choice(len(near), n_local, replace=False)]
        return np.vstack([near, self._space.sample(self.n_candidates, self._rng)])

    def _performance_ranks(
        self, candidates: FloatArray, observations: Observations, pending: tuple[Proposal, ...]
    ) -> FloatArray:
        """R_perf: ranks by expected improvement, 1 for the largest."""
        X = self._space.fill_inactive(observations.vectors)
        y: FloatArray = ndtri((rankdata(observations.y) - 0.5) / len(observations))
        model: Surrogate = _forest() if self.surrogate is None else clone(self.surrogate)
        model.fit(X, y, self._rng)
        running = self._space.fill_inactive(self._encode([p.configuration for p in pending]))
        if len(running):  # what is being evaluated is believed to be as predicted
            believed, _ = model.predict(running)
            model.fit(np.vstack([X, running]), np.concatenate([y, believed]), self._rng)
        mean, std = model.predict(self._space.fill_inactive(candidates))
        improvement = log_expected_improvement(mean, std, float(y[observations.ok].min()))
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
        if n > _N_RANKED:
            drawn = self._rng.choice(n, _N_RANKED, replace=False)
        else:
            drawn = np.arange(n)
        asked, places = np.unique(np.concatenate([hopeful, drawn]), return_inverse=True)
        nearest = self._nearest_diversity(candidates[asked], observations)[places]
        values, others = nearest[: len(hopeful)], np.sort(nearest[len(hopeful) :])
        n_above = len(others) - np.searchsorted(others, values, "right")
        diversity = 1.0 + n_above * (n / len(others))  # R_div
        combined = performance[hopeful] + weight * diversity
        order = hopeful[np.argsort(combined, kind="stable")]
        return np.concatenate([order, np.argsort(performance, kind="stable")])

    def _nearest_diversity(self, candidates: FloatArray, observations: Observations) -> FloatArray:
        """Mean over the models of the diversity to the most similar member, Eq. (4)."""
        assert self._pool is not None
        known = self._space.fill_inactive(observations.vectors[self._stored.indices])
        self._pair_model.update(known, self._diversities, self._rng)
        samples = self._pair_model.sample(
            known[self._pool.members], self._space.fill_inactive(candidates)
        )
        means: FloatArray = samples.min(axis=1).mean(axis=0)
        return means


def _proposal(configuration: Configuration | None, origin: str) -> Proposal | None:
    return None if configuration is None else Proposal(configuration, origin=origin)
