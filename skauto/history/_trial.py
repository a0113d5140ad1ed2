"""Proposals and trials: the frozen records of what was proposed and how it scored."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skauto.space import Configuration

Status = Literal["ok", "stopped", "skipped", "failed", "timeout", "memout", "crashed"]
STATUSES: tuple[str, ...] = get_args(Status)


def cause_of(error: str) -> str:
    """Return the line of an error text that names the cause.

    It is the last line of a traceback, or the first line of the text on a killed worker, which
    ends with the innermost calls, or with the heading above them if it was killed while it wrote.
    """
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[0] if lines[-1].startswith(('File "', "Stack (")) else lines[-1]


@dataclass(frozen=True, eq=False)
class Proposal:
    """A configuration that a strategy asks to evaluate.

    Parameters
    ----------
    configuration : Configuration
        The configuration to evaluate.
    fidelity : float, default=1.0
        Share of the rows to evaluate it on, in (0, 1].
    origin : str, default=""
        Part of the strategy that made the proposal, shown in the leaderboard.
    info : mapping, default={}
        Data of the strategy that is copied to the trial.

    Examples
    --------
    >>> from skauto.history import Proposal
    >>> from skauto.space import Configuration
    >>> Proposal(Configuration({"classifier": ("gaussian_nb", {})}), fidelity=0.5).fidelity
    0.5
    """

    configuration: Configuration
    fidelity: float = 1.0
    origin: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0.0 < self.fidelity <= 1.0:
            raise ValueError(
                f"The 'fidelity' of a proposal must be in (0, 1]. Got {self.fidelity!r} instead."
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class Trial:
    """The frozen record of one evaluated proposal.

    Parameters
    ----------
    number : int
        Position in the history, from 0.
    configuration : Configuration
        The evaluated configuration.
    status : {"ok", "stopped", "skipped", "failed", "timeout", "memout", "crashed"}, default="ok"
        How the evaluation ended. "stopped": it was not promoted to the next rung, and its losses
        are from the last rung. "skipped": it was not started, because its predicted cost exceeds
        the remaining time.
    losses : tuple of float, default=(inf,)
        One value per objective, to be minimized; infinite if it was not measured.
    tie_break : float, default=0.0
        Orders trials of equal first loss (smaller is better).
    fidelity : float, default=1.0
        Share of the rows it was evaluated on.
    constraints : mapping of str to float, default={}
        Measured value of each constraint.
    fold_constraints : mapping of str to tuple of float, default={}
        Value of each constraint on each fold.
    cost : float, default=0.0
        Seconds of evaluation, summed over the folds.
    cpu_time : float, default=0.0
        CPU seconds of the evaluation. Folds without a result count with their wall-clock seconds.
    started, ended : float, default=0.0
        Seconds since the search began.
    runs : tuple of (float, float), default=()
        Start and end of each fold on a worker, in seconds since the search began.
    error : str, default=""
        Error message with the end of its traceback.
    fold_scores : mapping of str to tuple of float, default={}
        Scores (greater is better) by scorer and fold.
    fit_times, score_times : tuple of float, default=()
        Seconds of each fold.
    rounds : tuple of int, default=()
        Number of boosting rounds or epochs that early stopping chose on each fold.
    predictions : ndarray of shape (n_samples, n_classes), dtype float32, or None
        Out-of-fold class probabilities; NaN in rows that no fold predicted.
    origin : str, default=""
        Part of the strategy that made the proposal.
    info : mapping, default={}
        Data that the strategy attached to the proposal.

    Examples
    --------
    >>> from skauto.history import Trial
    >>> from skauto.space import Configuration
    >>> configuration = Configuration({"classifier": ("gaussian_nb", {})})
    >>> Trial(number=0, configuration=configuration, losses=(0.25,)).loss
    0.25
    """

    number: int
    configuration: Configuration
    status: Status = "ok"
    losses: tuple[float, ...] = (math.inf,)
    tie_break: float = 0.0
    fidelity: float = 1.0
    constraints: Mapping[str, float] = field(default_factory=dict)
    fold_constraints: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    cost: float = 0.0
    cpu_time: float = 0.0
    started: float = 0.0
    ended: float = 0.0
    runs: tuple[tuple[float, float], ...] = ()
    error: str = ""
    fold_scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    fit_times: tuple[float, ...] = ()
    score_times: tuple[float, ...] = ()
    rounds: tuple[int, ...] = ()
    predictions: NDArray[np.float32] | None = field(default=None, repr=False)
    origin: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(
                f"The 'status' of a trial must be one of {STATUSES}. Got {self.status!r} instead."
            )

    @property
    def cause(self) -> str:
        """One line on why there is no score; "" if there is a score."""
        return "" if self.status == "ok" else cause_of(self.error)

    @property
    def loss(self) -> float:
        """The first loss, which a single-objective search minimizes."""
        return self.losses[0]

    @property
    def ok(self) -> bool:
        """Whether the evaluation was completed with finite losses."""
        return self.status == "ok" and all(math.isfinite(loss) for loss in self.losses)

    @property
    def complete(self) -> bool:
        """Whether the trial is ok and was evaluated on all rows."""
        return self.ok and self.fidelity == 1.0

    @property
    def mean_fit_time(self) -> float:
        """Mean fit time of the folds in seconds; NaN if no fold was fitted."""
        return sum(self.fit_times) / len(self.fit_times) if self.fit_times else math.nan
