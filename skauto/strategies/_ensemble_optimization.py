"""Ensemble optimisation: search for what is best in the place of one member of an ensemble."""

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy, improvement_of, made, rank_scores
from skauto.strategies._checks import check_integers
from skauto.strategies._stored_predictions import StoredPredictions
from skauto.surrogates import RandomForest, Surrogate
from skauto.utils import FloatArray


class EnsembleOptimization(BayesianStrategy):
    """Ensemble optimisation: improve an ensemble of fixed size, one place at a time.

    The places of the ensemble are visited in turn. Every trial is valued by the loss of the
    ensemble with it in the place that is visited, which takes no more than its stored predictions.
    A surrogate learns these values, the configuration of the largest expected improvement is
    evaluated, and the place is taken by the best of the candidates of the final ensemble: the 10
    best trials and the 3 best of each classifier.

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
        check_integers(self, n_members=1, n_initial=1, n_candidates=1, max_rows=1)
        self._stored = StoredPredictions(self.max_rows)
        self._places: list[int | None] = [None] * self.n_members  # rows of the stored predictions
        self._place: int | None = None  # the one that is visited
        self.members_: list[int] = []

    def _promising(self, history: History, observations: Observations) -> Proposal | None:
        self._stored.update(observations, history)
        if self._place is not None:
            self._fill(observations, self._place)
        self._place = 0 if self._place is None else (self._place + 1) % self.n_members
        values = self._values(observations, self._place)
        y = rank_scores(values)
        model = self._fitted(made(self.surrogate, RandomForest()), observations, y)
        best = float(y[observations.ok].min())
        starts = observations.vectors[np.argsort(values, kind="stable")[: self.n_starts]]
        acquisition = improvement_of(model, best, self._inputs)
        return self._proposal(self._maximizer(acquisition, starts), "ensemble")

    def _values(self, observations: Observations, place: int) -> FloatArray:
        """Loss of the ensemble with each trial in a place, the worst where it has no predictions.

        As long as no trial has predictions, these are the losses of the trials themselves.
        """
        if not len(self._stored):
            return observations.y
        losses = self._losses_in(place)
        values = np.full(len(observations), losses.max())
        values[self._stored.indices] = losses
        return values

    def _losses_in(self, place: int) -> FloatArray:
        """Loss of the ensemble with each stored prediction in one place."""
        stored = self._stored
        projections = stored.loss.project(stored.values, stored.targets)
        others = [row for k, row in enumerate(self._places) if k != place and row is not None]
        means = (projections + projections[others].sum(axis=0)) / (len(others) + 1)
        losses: FloatArray = np.asarray(stored.loss.evaluate(stored.targets, means), np.float64)
        return losses

    def _fill(self, observations: Observations, place: int) -> None:
        """Let the best candidate take a place."""
        if not len(self._stored):
            return
        candidates = self._stored.candidates()
        self._places[place] = int(candidates[np.argmin(self._losses_in(place)[candidates])])
        self.members_ = [
            observations.trials[self._stored.indices[row]].number
            for row in self._places
            if row is not None
        ]
