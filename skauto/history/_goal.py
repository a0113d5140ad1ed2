"""Objectives, limits and budget of a search, in one frozen record."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skauto.utils import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Goal:
    """Objectives, limits and budget of a search, and the targets of its predictions.

    Attributes
    ----------
    objectives : tuple of str
        Names of the losses of a trial, in order. All are minimized.
    limits : dict of str to float
        Upper limit of each constraint. A trial is feasible if no constraint exceeds its limit.
    search_limits : dict of str to float
        Limits that the search keeps; None means all, and infinite ones are left out. The others
        are kept by decision thresholds after the search, which lower the score less than another
        pipeline does.
    max_evals : int or None
        Maximum number of trials; None for no limit.
    time_limit : float or None
        Seconds of wall-clock time; None for no limit. Without a time limit, strategies ignore the
        cost of trials, so that results do not depend on the machine.
    targets : ndarray of int of shape (n_samples,) or None
        True class codes of the rows that trials predict; None if trials have no predictions.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of these rows; None for equal weights.
    ensemble_loss : callable or None
        ``ensemble_loss(rows)`` returns the loss of ensembles on these rows; None for the error
        rate.
    """

    objectives: Sequence[str] = ("loss",)
    limits: Mapping[str, float] = field(default_factory=dict)
    search_limits: Mapping[str, float] = None  # type: ignore[assignment]
    max_evals: int | None = None
    time_limit: float | None = None
    targets: IntArray | None = None
    sample_weight: FloatArray | None = None
    ensemble_loss: Callable[[IntArray], Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "objectives", tuple(self.objectives))
        object.__setattr__(self, "limits", dict(self.limits))
        searched = self.limits if self.search_limits is None else self.search_limits
        finite = {name: limit for name, limit in searched.items() if limit < math.inf}
        object.__setattr__(self, "search_limits", finite)
