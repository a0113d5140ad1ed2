"""What a search is to reach, in one frozen record that stands beside its trials."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skauto.utils import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Goal:
    """Objectives, limits and budget of a search, and what its predictions are judged by.

    Parameters
    ----------
    objectives : sequence of str, default=("loss",)
        Names of the losses of a trial, in their order. All are minimised.
    limits : mapping of str to float, default={}
        Upper limit of each constraint; a trial is feasible when it exceeds none.
    max_evals : int, default=None
        Number of trials that the search may make; None where it is not bounded.
    time_limit : float, default=None
        Seconds that the search may take; None where time does not bound it. Without a time limit,
        strategies ignore the seconds of trials, so that results do not depend on the machine.
    targets : ndarray of int of shape (n_samples,), default=None
        True class codes of the rows that the trials' predictions are for; None where there are no
        such rows.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of these rows; None where all count the same.
    ensemble_loss : callable, default=None
        ``ensemble_loss(rows)`` gives the loss by which ensembles are judged on these rows; None
        stands for the share of errors.

    Examples
    --------
    >>> from skauto.history import Goal
    >>> Goal(limits={"model_size": 1e6}, max_evals=50).limits
    {'model_size': 1000000.0}
    """

    objectives: Sequence[str] = ("loss",)
    limits: Mapping[str, float] = field(default_factory=dict)
    max_evals: int | None = None
    time_limit: float | None = None
    targets: IntArray | None = None
    sample_weight: FloatArray | None = None
    ensemble_loss: Callable[[IntArray], Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "objectives", tuple(self.objectives))
        object.__setattr__(self, "limits", dict(self.limits))
