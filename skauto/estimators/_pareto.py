"""The Pareto front of a search as a choice of fitted pipelines."""

import numpy as np

from skauto.ensemble import EnsembleBuilder
from skauto.ensemble._build import Model
from skauto.evaluation import assemble
from skauto.utils import non_dominated


def pareto_trials(history, names):
    """Trials on all rows that no other one beats in the loss and the constraints at once.

    Parameters
    ----------
    history : History
        All trials.
    names : sequence of str
        Keys of the constraints.

    Returns
    -------
    trials : list of Trial
        In the order of their loss; of trials with the same values the one with the best tie break.
    """
    complete = [t for t in history if t.ok and t.fidelity == 1.0]
    by_values = {}
    for trial in sorted(complete, key=lambda t: (t.tie_break, t.number)):
        values = (trial.loss, *(trial.constraints.get(name, np.inf) for name in names))
        by_values.setdefault(values, trial)
    if not by_values:
        return []
    kept = non_dominated(np.nan_to_num(np.array(list(by_values)), nan=np.inf))
    front = [values for values, keep in zip(by_values, kept, strict=True) if keep]
    return [by_values[values] for values in sorted(front)]


def distances_to_ideal(points):
    """Distance of each point of a front from its ideal point, which is best in all objectives.

    Parameters
    ----------
    points : array-like of shape (n, m)
        Objectives, all minimised.

    Returns
    -------
    distances : ndarray of shape (n,)
        With each objective on a scale from 0 to 1 over the points. The nearest point is the knee.

    References
    ----------
    .. [1] M. Zeleny, "Compromise Programming", in: Multiple Criteria Decision Making, 1973.

    Examples
    --------
    >>> from skauto.estimators._pareto import distances_to_ideal
    >>> int(distances_to_ideal([[0.1, 0.9], [0.2, 0.1], [0.9, 0.0]]).argmin())
    1
    """
    points = np.asarray(points, dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    return np.linalg.norm((points - low) / np.where(high > low, high - low, 1.0), axis=1)


class FrontBuilder(EnsembleBuilder):
    """Fit all pipelines of the Pareto front and predict with the preferred one.

    With limits, the preferred pipeline is the most accurate one that keeps them, or the one that
    violates them least; without, it is the knee. See `EnsembleBuilder` for the parameters.
    """

    def build(self, history, engine, budget):
        """Fit the front on the engine, the preferred pipelines first.

        Parameters
        ----------
        history : History
            All trials.
        engine : Engine
            Idle; runs the fits.
        budget : Budget
            What is not fitted when its time is over is not in the model.

        Returns
        -------
        model : Model
            With a vote of a single member; the class shares when nothing could be fitted in time.
        """
        numbers = [trial.number for trial in self._pool(history)]
        fitted = self._fit(history, numbers, engine, budget)
        numbers = [number for number in numbers if number in fitted]
        if not numbers:
            return self._fallback()
        votes = {number: self._vote({number: 1.0}, fitted) for number in numbers}
        measured = {number: self.measure(vote) for number, vote in votes.items()}
        within = (n for n in numbers if history.feasible(history[n]))
        chosen = next((n for n in within if self._light_enough(measured[n])), numbers[0])
        self._describe(votes[chosen], [history[chosen].predictions])
        front = {n: assemble(self.reader, fitted[n][0]) for n in numbers} if self.refit else {}
        return Model(
            votes[chosen],
            {chosen: 1.0},
            chosen,
            front.get(chosen),
            fallback=False,
            front=front,
            measured=measured[chosen],
        )

    def _pool(self, history):
        """The front in the order of preference."""
        front = [
            t for t in pareto_trials(history, history.objectives[1:]) if t.predictions is not None
        ]
        if history.limits:
            return sorted(front, key=lambda t: (history.violation(t), t.loss))
        if not front:
            return []
        order = np.argsort(distances_to_ideal([t.losses for t in front]), kind="stable")
        return [front[i] for i in order]
