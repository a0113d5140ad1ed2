"""The Pareto front of a search as a choice of fitted pipelines."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.engines import Engine
from skauto.ensemble import Candidate, EnsembleBuilder, Model, Refits
from skauto.history import History, Trial
from skauto.utils import Budget, non_dominated


def pareto_trials(history: History, names: Sequence[str]) -> list[Trial]:
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
    by_values: dict[tuple[float, ...], Trial] = {}
    for trial in sorted(complete, key=lambda t: (t.tie_break, t.number)):
        values = (trial.loss, *(trial.constraints.get(name, np.inf) for name in names))
        by_values.setdefault(values, trial)
    if not by_values:
        return []
    kept = non_dominated(np.nan_to_num(np.array(list(by_values)), nan=np.inf))
    front = [values for values, keep in zip(by_values, kept, strict=True) if keep]
    return [by_values[values] for values in sorted(front)]


def distances_to_ideal(points: ArrayLike) -> NDArray[Any]:
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
    values = np.asarray(points, dtype=np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    scaled = (values - low) / np.where(high > low, high - low, 1.0)
    return np.asarray(np.linalg.norm(scaled, axis=1))


class FrontBuilder(EnsembleBuilder):
    """Fit all pipelines of the Pareto front and predict with the preferred one.

    With limits, the preferred pipeline is the most accurate one that passes the gate when it is
    fitted on all rows, or the one that violates the limits least; without, it is the knee. If no
    pipeline of the front passes, other trials are tried. See `EnsembleBuilder` for the parameters.
    """

    def build(self, history: History, engine: Engine, budget: Budget) -> Model:
        """Fit the front on the engine and choose the pipeline that predicts.

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
            With a vote of a single member, the most preferred one that passes the gate; the class
            shares when nothing could be fitted in time.
        """
        self._front: dict[int, Candidate] = {}
        return replace(super().build(history, engine, budget), front=self._front)

    def _ensembles(self, history: History, refits: Refits) -> Iterator[dict[int, float]]:
        """Each pipeline of the front by itself, the preferred ones first; then other trials."""
        front = [trial.number for trial in self._pool(history)]
        refits.fit(front)
        fitted = [number for number in front if number in refits.steps]
        if self.refit:
            self._front = {number: self._single(number, refits) for number in fitted}
        yield from ({number: 1.0} for number in fitted)
        yield from ({n: 1.0} for n in self._singles(history, refits) if n not in front)

    def _pool(self, history: History, kept: Sequence[str] = ()) -> list[Trial]:
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
