"""Pareto front of a search, and the fits of its pipelines."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._model import CheckedEnsemble
from skauto.ensemble._refits import Refits
from skauto.ensemble._select import MemberSelector
from skauto.ensemble._singles import SingleTrials
from skauto.history import History, Trial
from skauto.utils import non_dominated


def pareto_trials(history: History, names: Sequence[str]) -> list[Trial]:
    """Non-dominated trials on all rows by the loss and some constraints, sorted by loss."""
    complete = [t for t in history if t.complete]
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
    """Distances of points (n, m) from the ideal point, which has the minimum of each objective.

    Objectives are minimized, and scaled to [0, 1] over the points. The nearest point is the knee
    (M. Zeleny, "Compromise Programming", in: Multiple Criteria Decision Making, 1973).
    """
    values = np.asarray(points, dtype=np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    scaled = (values - low) / np.where(high > low, high - low, 1.0)
    return np.asarray(np.linalg.norm(scaled, axis=1))


class FrontSelector(MemberSelector):
    """Candidates are the pipelines of the Pareto front."""

    def pool(self, history: History, excluded: Collection[int] = ()) -> list[Trial]:
        """The front in the order of preference."""
        front = [
            t
            for t in pareto_trials(history, history.goal.objectives[1:])
            if t.predictions is not None and t.number not in excluded
        ]
        if history.goal.limits:
            return sorted(front, key=lambda t: (history.violation(t), t.loss))
        if not front:
            return []
        order = np.argsort(distances_to_ideal([t.losses for t in front]), kind="stable")
        return [front[i] for i in order]


class FrontBuilder(EnsembleBuilder):
    """Fit all pipelines of the Pareto front and predict with one of them.

    With limits, it is the most accurate pipeline that passes the checker after the refit. If no
    pipeline of the front passes, other trials are fitted. If none of them passes, it is the one
    that violates the limits least. Without limits, it is the knee. See `EnsembleBuilder` for the
    parameters.
    """

    _selector_type = FrontSelector

    def _ensembles(self, history: History, refits: Refits) -> Iterator[dict[int, float]]:
        """Yield each pipeline of the front alone in the order of preference, then other trials."""
        front = [trial.number for trial in self.selector.pool(history)]
        refits.fit(front)
        yield from ({number: 1.0} for number in front if number in refits.pipelines)
        yield from ({n: 1.0} for n in SingleTrials(self, history, refits) if n not in front)

    def _front(self, refits: Refits) -> dict[int, CheckedEnsemble]:
        if not self.refit:
            return {}
        front = [trial.number for trial in self.selector.pool(refits.history)]
        return {n: self._single(n, refits) for n in front if n in refits.pipelines}
