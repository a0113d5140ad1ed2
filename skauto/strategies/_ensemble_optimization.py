"""Ensemble optimization: Bayesian optimization of one ensemble member at a time."""

from dataclasses import dataclass

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._bayesian import BayesianStrategy, clone_or, rank_scores
from skauto.strategies._checks import check_integers
from skauto.strategies._stored_predictions import StoredPredictions
from skauto.surrogates import RandomForest, Surrogate
from skauto.utils import FloatArray


@dataclass(kw_only=True, eq=False, repr=False)
class EnsembleOptimization(BayesianStrategy):
    """Ensemble optimization: improve an ensemble of fixed size, one member at a time.

    The positions of the ensemble are visited in turn. The target of a trial is the loss of the
    ensemble with this trial in the visited position, computed from stored predictions. A surrogate
    is fitted to these targets, and the configuration with the largest expected improvement is
    evaluated. When its trial is complete, the best trial takes the position.

    If no trial has stored predictions, as for a plain objective function, the targets are the
    losses of the trials.

    Parameters
    ----------
    n_members : int, default=12
        Number of positions.
    n_initial : int, default=5
        Size of the initial design, at most a quarter of ``max_evals``; see `BayesianStrategy`.
    n_candidates : int, default=5000
        Number of random candidates.
    surrogate : Surrogate, default=None
        Model of the targets; None means :class:`~skauto.surrogates.RandomForest` with its
        defaults.

    Attributes
    ----------
    members_ : list of int
        Numbers of the trials in the filled positions.

    See Also
    --------
    DivBO : Combines performance and diversity in the acquisition.

    Notes
    -----
    Deviations from [1]_: the surrogate is a random forest instead of a Gaussian process, and its
    targets are normal scores of ranks. Only candidates of the final ensemble take a position: the
    10 best trials and the 3 best of each classifier.

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
    >>> clf = AutoClassifier(strategy, max_evals=12, cv=0.3, initial=None, random_state=0)
    >>> clf = clf.fit(X, y)
    >>> len(clf.strategy_.members_)
    3
    """

    selects_ensemble = True

    n_members: int = 12
    n_initial: int = 5
    n_candidates: int = 5000
    surrogate: Surrogate | None = None

    def _start(self) -> None:
        check_integers(self, n_members=1, n_initial=1, n_candidates=1)
        self._stored = StoredPredictions()
        # rows of the stored predictions
        self._positions: list[int | None] = [None] * self.n_members
        self._n_visits = 0
        self._n_read = 0  # observations whose position was filled
        self.members_: list[int] = []

    def _suggest_by_model(self, history: History, observations: Observations) -> Proposal | None:
        self._stored.update(observations, history)
        self._fill_positions(observations)
        position = self._n_visits % self.n_members
        y = rank_scores(self._targets(observations, position))
        model = clone_or(self.surrogate, RandomForest())
        configuration = self._most_improving(model, observations, y)
        if configuration is None:
            return None
        self._n_visits += 1
        return Proposal(configuration, origin="ensemble", info={"position": position})

    def _targets(self, observations: Observations, position: int) -> FloatArray:
        """Loss of the ensemble with each trial in a position; the worst without predictions."""
        if not len(self._stored):
            return observations.y
        losses = self._losses_in(position)
        targets = np.full(len(observations), losses.max())
        targets[self._stored.indices] = losses
        return targets

    def _losses_in(self, position: int) -> FloatArray:
        """Loss of the ensemble with each stored prediction in a position."""
        stored = self._stored
        projections = stored.loss.project(stored.values, stored.targets)
        others = [
            row for k, row in enumerate(self._positions) if k != position and row is not None
        ]
        means = (projections + projections[others].sum(axis=0)) / (len(others) + 1)
        return np.asarray(stored.loss.evaluate(stored.targets, means), np.float64)

    def _fill_positions(self, observations: Observations) -> None:
        """Put the best candidate into each position that a new trial was proposed for."""
        for trial in observations.trials[self._n_read :]:
            if "position" in trial.info and len(self._stored):
                position = trial.info["position"] % self.n_members
                candidates = self._stored.candidates()
                best = np.argmin(self._losses_in(position)[candidates])
                self._positions[position] = int(candidates[best])
        self._n_read = len(observations)
        rows = [row for row in self._positions if row is not None]
        self.members_ = [observations.trials[self._stored.indices[row]].number for row in rows]
