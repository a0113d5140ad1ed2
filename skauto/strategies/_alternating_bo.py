"""Forest Bayesian optimisation that improves several algorithms, for ensembles."""

from typing import Any

import numpy as np

from skauto.history import History
from skauto.strategies._base import Observations
from skauto.strategies._forest_bo import ForestBO
from skauto.surrogates import Surrogate
from skauto.utils import BoolArray

# Trials that cost less than this number of seconds count as equally cheap.
_LEAST_SECONDS = 1.0


class AlternatingBO(ForestBO):
    """Bayesian optimisation with a random forest, confined to one algorithm at a time.

    :class:`ForestBO` soon tries variants of the single best algorithm, whose predictions are all
    but the same. An ensemble gains more from the best of several algorithms. Here every proposal
    is confined to one algorithm of the last step and is what improves most on the best of that
    algorithm. One surrogate of the whole space serves all. The algorithm is drawn with probability
    proportional to ``1 / (rank * sqrt(seconds))``: its rank by the best loss that each has
    reached, and the mean cost of its trials. Where no time limit bounds the search, a trial is a
    trial, and only the rank counts.

    Parameters
    ----------
    n_initial : int, default=10
        Number of trials before the model takes over, those made before the strategy's first
        proposal included; at most a quarter of the trials that the search may make.
    acquisition : {"log_ei", "ei", "eips"}, default="log_ei"
        What is maximised; see :class:`ForestBO`.
    transform : {"rank", "log", None}, default="rank"
        What the forest learns; see :class:`ForestBO`.
    random_fraction : float, default=0.2
        Probability that a proposal is random.
    n_candidates : int, default=1000
        Number of random candidates, all of that algorithm.
    n_starts : int, default=3
        Number of trials, the best ones, and of random candidates that local search starts from.
    surrogate : Surrogate, default=None
        Model of the loss; None takes :class:`~skauto.surrogates.RandomForest`.

    See Also
    --------
    ForestBO : One race of all algorithms.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> space = make_artificial_space(n_steps=2)
    >>> result = minimize(
    ...     make_artificial_objective(space), space, strategy="alternating_bo",
    ...     max_evals=15, random_state=0,
    ... )
    >>> len(result.history)
    15
    """

    def __init__(
        self,
        *,
        n_initial: int = 10,
        acquisition: str = "log_ei",
        transform: str | None = "rank",
        random_fraction: float = 0.2,
        n_candidates: int = 1000,
        n_starts: int = 3,
        surrogate: Surrogate | None = None,
    ) -> None:
        super().__init__(
            n_initial=n_initial,
            acquisition=acquisition,
            transform=transform,
            random_fraction=random_fraction,
            n_candidates=n_candidates,
            n_starts=n_starts,
            surrogate=surrogate,
        )

    def _region(
        self, history: History, observations: Observations
    ) -> tuple[BoolArray, dict[str, Any]]:
        """Draw the algorithm of the last step that is to be improved."""
        *_, step = self._space.steps
        column = len(self._space.steps) - 1
        chosen = observations.vectors[:, column]
        algorithms = np.unique(chosen[observations.ok])
        trials = [observations.ok & (chosen == algorithm) for algorithm in algorithms]
        best = [observations.y[own].min() for own in trials]
        ranks = np.argsort(np.argsort(best, kind="stable"), kind="stable") + 1
        merit = 1.0 / ranks
        if history.time_limit is not None:
            seconds = np.array([observations.costs[own].mean() for own in trials])
            merit /= np.sqrt(np.maximum(seconds, _LEAST_SECONDS))
        algorithm = self._rng.choice(algorithms, p=merit / merit.sum())
        structures = self._space.structures
        inside = structures[structures[:, column] == algorithm]
        return chosen == algorithm, {"structures": inside, "fixed_steps": [step]}
