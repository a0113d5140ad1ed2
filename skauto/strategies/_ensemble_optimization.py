"""Ensemble optimisation: search for what is best in the place of one member of an ensemble."""

from collections.abc import Iterator
from numbers import Integral

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import clone

from skauto.acquisition import log_expected_improvement, maximize_acquisition
from skauto.history import History, Proposal
from skauto.selection._greedy import _first_smallest, _losses_with
from skauto.space import Configuration
from skauto.strategies._base import GeneratorStrategy, Observations
from skauto.strategies._checks import check_number
from skauto.strategies._stored_predictions import StoredPredictions
from skauto.surrogates import RandomForest, Surrogate
from skauto.utils import FloatArray


class EnsembleOptimization(GeneratorStrategy):
    """Ensemble optimisation: improve an ensemble of fixed size, one place at a time.

    The places of the ensemble are visited in turn. Every trial is valued by the loss of the
    ensemble with it in the place that is visited, which takes no more than its stored predictions.
    A surrogate learns these values, the configuration of the largest expected improvement is
    evaluated, and the place is taken by the best of all trials.

    Trials without stored predictions, such as those of a plain objective function, are valued by
    their own loss as long as no trial has predictions.

    Parameters
    ----------
    n_members : int, default=12
        Number of places.
    n_initial : int, default=5
        Number of trials before the model takes over: the default configuration, random ones, and
        those made before the strategy's first proposal; at most a quarter of the trials that the
        search may make.
    n_candidates : int, default=5000
        Number of random candidates.
    max_rows : int, default=2000
        Number of validation rows, a constant sample, that the ensemble is judged by.
    surrogate : Surrogate, default=None
        Model of the ensemble's loss, which is given normal scores of ranks; None takes
        :class:`~skauto.surrogates.RandomForest` with its defaults.

    Attributes
    ----------
    members_ : list of int
        Numbers of the trials in the places, those that are taken.

    See Also
    --------
    DivBO : Suggests what is good and differs from the ensemble.

    References
    ----------
    .. [1] J.-C. Levesque, C. Gagne, R. Sabourin, "Bayesian Hyperparameter Optimization for
       Ensemble Learning", UAI 2016, Algorithm 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.strategies import EnsembleOptimization
    >>> X, y = load_iris(return_X_y=True)
    >>> strategy = EnsembleOptimization(n_members=3, n_candidates=200)
    >>> clf = AutoClassifier(strategy, max_evals=10, initial=None, random_state=0).fit(X, y)
    >>> len(clf.strategy_.members_)
    3
    """

    def __init__(
        self,
        *,
        n_members: int = 12,
        n_initial: int = 5,
        n_candidates: int = 5000,
        max_rows: int = 2000,
        surrogate: Surrogate | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_initial = n_initial
        self.n_candidates = n_candidates
        self.max_rows = max_rows
        self.surrogate = surrogate

    def _start(self) -> None:
        least = {"n_members": 1, "n_initial": 1, "n_candidates": 1, "max_rows": 1}
        for name, low in least.items():
            check_number(self, name, low, Integral)
        self._stored = StoredPredictions(self.max_rows)
        self._places: list[int | None] = [None] * self.n_members  # rows of the stored predictions
        self.members_: list[int] = []

    def _run(self, history: History) -> Iterator[Proposal]:
        yield from self._initial_design(history)
        place = 0
        while True:
            configuration = self._most_promising(history, place)
            if configuration is None:
                configuration = self._sample_new()
            if configuration is None:
                return
            yield Proposal(configuration, origin="ensemble")
            self._fill(history, place)
            place = (place + 1) % self.n_members

    def _initial_design(self, history: History) -> Iterator[Proposal]:
        limit = self.n_initial
        if history.max_evals is not None:
            limit = min(limit, max(1, history.max_evals // 4))
        if not len(history) + len(self._pending):
            yield Proposal(self._space.default(), origin="initial")
        while True:
            n_begun = len(history) + len(self._pending)
            if n_begun >= limit and self._observations(history).ok.any():
                return
            configuration = self._sample_new()
            if configuration is None:
                return
            yield Proposal(configuration, origin="initial")

    def _most_promising(self, history: History, place: int) -> Configuration | None:
        """Maximise the expected improvement of the ensemble over what is not known."""
        observations = self._observations(history)
        vectors, values = self._values(observations, history, place)
        if not len(vectors):
            return None
        model: Surrogate = RandomForest() if self.surrogate is None else clone(self.surrogate)
        y = ndtri((rankdata(values) - 0.5) / len(values))
        model.fit(self._space.fill_inactive(vectors), y, self._rng)

        def acquisition(candidates: FloatArray) -> FloatArray:
            mean, std = model.predict(self._space.fill_inactive(candidates))
            return log_expected_improvement(mean, std, float(y.min()))

        ranked, _ = maximize_acquisition(
            acquisition,
            self._space,
            self._rng,
            starts=vectors[np.argsort(values, kind="stable")[:10]],
            n_random=self.n_candidates,
        )
        return self._first_new(ranked)

    def _values(
        self, observations: Observations, history: History, place: int
    ) -> tuple[FloatArray, FloatArray]:
        """Trials as vectors, and the loss of the ensemble with each of them in a place.

        A trial without predictions has the worst of these losses.
        """
        self._stored.update(observations, history)
        if not len(self._stored):
            return observations.vectors, observations.y
        losses = self._losses_in(place)
        others = np.setdiff1d(np.arange(len(observations)), self._stored.indices)
        rows = np.concatenate([np.array(self._stored.indices, dtype=np.intp), others])
        return observations.vectors[rows], np.append(losses, np.full(len(others), losses.max()))

    def _losses_in(self, place: int) -> FloatArray:
        """Loss of the ensemble with each stored prediction in one place."""
        stored = self._stored
        loss = stored.loss
        projections = loss.project(stored.values, stored.targets)
        others = [row for k, row in enumerate(self._places) if k != place and row is not None]
        total = np.zeros(projections.shape[1:])
        for row in others:
            total += projections[row]
        losses = _losses_with(
            projections,
            np.arange(len(stored)),
            total,
            len(others),
            stored.targets,
            loss,
            None,
        )
        return np.asarray(losses, dtype=np.float64)

    def _fill(self, history: History, place: int) -> None:
        """Let the best of all trials take a place."""
        observations = self._observations(history)
        self._stored.update(observations, history)
        if not len(self._stored):
            return
        self._places[place] = _first_smallest(self._losses_in(place))
        self.members_ = [
            observations.trials[self._stored.indices[row]].number
            for row in self._places
            if row is not None
        ]
