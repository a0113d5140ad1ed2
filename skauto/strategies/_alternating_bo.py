"""Bayesian optimization that alternates between algorithms, for ensembles."""

from dataclasses import dataclass

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import Observations
from skauto.strategies._forest_bo import ForestStrategy

# Lower bound of the mean cost of an algorithm in the draw.
_LEAST_SECONDS = 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class AlternatingBO(ForestStrategy):
    """Bayesian optimization with a random forest, restricted to one algorithm at a time.

    :class:`ForestBO` soon concentrates on variants of the single best algorithm, whose predictions
    are similar. An ensemble gains more from good configurations of several algorithms. Here every
    proposal is restricted to one algorithm of the last step and maximizes the expected improvement
    on the best loss of this algorithm. All algorithms share one surrogate. The algorithm is
    sampled with probability proportional to ``1 / (rank * sqrt(seconds))``: the rank of its best
    loss and the mean cost of its trials, at least a second. Without a time limit only the rank
    counts.

    Parameters
    ----------
    n_initial : int, default=10
        Size of the initial design, at most a quarter of ``max_evals``; see `BayesianStrategy`.
    acquisition : {"log_ei", "eips"}, default="log_ei"
        Acquisition function; see :class:`ForestBO`.
    transform : {"rank", "log", None}, default="rank"
        Targets of the forest; see :class:`ForestBO`.
    random_fraction : float, default=0.2
        Probability that a proposal is random.
    n_candidates : int, default=1000
        Number of random candidates of the sampled algorithm.
    n_starts : int, default=3
        Number of the best trials, and of the best candidates, that local search starts from.
    surrogate : Surrogate, default=None
        Model of the loss; None means :class:`~skauto.surrogates.RandomForest`.

    See Also
    --------
    ForestBO : The same over all algorithms at once.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy="alternating_bo", max_evals=10)
    >>> len(result.history)
    10
    """

    n_candidates: int = 1000
    n_starts: int = 3

    def _start(self) -> None:
        super()._start()
        self._structures = self.space.structures  # an error now if they are too many to list

    def _suggest_by_model(self, history: History, observations: Observations) -> Proposal | None:
        """Restrict the proposal to one algorithm of the last step."""
        algorithm = self._sample_algorithm(observations, history)
        structures, column = self._structures, len(self.space.steps) - 1
        return self._suggest_within(
            observations.vectors[:, column] == algorithm,
            observations,
            structures=structures[structures[:, column] == algorithm],
            fixed_steps=self.space.steps[-1:],
        )

    def _sample_algorithm(self, observations: Observations, history: History) -> int:
        """Index of an algorithm of the last step, by the rank of its best loss and its cost."""
        chosen = observations.vectors[:, len(self.space.steps) - 1]
        algorithms = np.unique(chosen[observations.ok])
        trials = [observations.ok & (chosen == algorithm) for algorithm in algorithms]
        best = [observations.y[own].min() for own in trials]
        ranks = np.argsort(np.argsort(best, kind="stable"), kind="stable") + 1
        merit = 1.0 / ranks
        if history.goal.time_limit is not None:
            seconds = np.array([observations.costs[own].mean() for own in trials])
            merit /= np.sqrt(np.maximum(seconds, _LEAST_SECONDS))
        return int(self.rng.choice(algorithms, p=merit / merit.sum()))
