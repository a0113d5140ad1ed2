"""Plot of when the folds of the trials ran."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skauto.display._base import (
    BLACK,
    BLUE,
    ORANGE,
    PURPLE,
    RED,
    ROW_HEIGHT,
    SKY,
    HistoryDisplay,
    legend_outside,
)
from skauto.history import History

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_STATUS_COLORS = {
    "ok": BLUE,
    "stopped": SKY,
    "failed": RED,
    "timeout": ORANGE,
    "memout": PURPLE,
    "crashed": BLACK,
}
# Largest difference between two clocks, in seconds.
_TOLERANCE = 1e-3
# Width of a digit as a share of the x axis. Narrower bars have no number.
_DIGIT_SHARE = 0.012


class TimelineDisplay(HistoryDisplay):
    """When each fold of each trial ran.

    A bar is a fold, with the number of its trial. Folds that ran at the same time are in different
    rows, so that a row stands for a worker. In gaps the worker waited, mostly for the strategy.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each fold. The columns are "trial", "status" (of the trial), "algorithm" (of
        the last step), "began" and "ended" (seconds since the search began) and "slot" (the row,
        from 1).

    Attributes
    ----------
    bars_ : dict of str to matplotlib BarContainer
        The folds, by status of the trial.
    ax_ : matplotlib Axes
        Axes of the bars.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    SearchHistoryDisplay : Losses of the trials.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.plotting import TimelineDisplay
    >>> space = make_artificial_space(n_steps=2)
    >>> result = minimize(make_artificial_objective(space), space, max_evals=8, random_state=0)
    >>> display = TimelineDisplay.from_history(result.history)
    >>> sorted(display.frame["slot"].unique().tolist())
    [1]
    """

    @classmethod
    def _of_history(cls, history: History) -> Self:
        return cls(timeline_frame(history))

    def plot(self, ax: "Axes | None" = None) -> Self:
        frame = self.frame
        n_slots = int(frame["slot"].max()) if len(frame) else 1
        ax = self._make_axes(ax, height=1.2 + 1.5 * ROW_HEIGHT * n_slots)
        span = float(frame["ended"].max()) if len(frame) else 1.0
        self.bars_ = {}
        for status, color in _STATUS_COLORS.items():
            own = frame[frame["status"] == status]
            if len(own):
                width = own["ended"] - own["began"]
                self.bars_[status] = ax.barh(
                    own["slot"],
                    width,
                    left=own["began"],
                    height=0.8,
                    color=color,
                    edgecolor="white",
                    linewidth=np.where(width > _DIGIT_SHARE * span, 0.5, 0.0),
                    label=status,
                )
        ax.set_xlim(0.0, 1.01 * span)
        self._write_numbers(ax, span)
        ax.set(xlabel="time [s]", ylabel="worker", yticks=range(1, n_slots + 1))
        ax.set_ylim(n_slots + 0.6, 0.4)
        legend_outside(ax)
        return self

    def _write_numbers(self, ax: "Axes", span: float) -> None:
        """Write the number of the trial into each bar that is wide enough."""
        for row in self.frame.to_dict("records"):
            number, began, ended = row["trial"], row["began"], row["ended"]
            if (ended - began) / span > _DIGIT_SHARE * (len(str(number)) + 0.5):
                # not exactly black and white, which the report replaces by its own colors
                color = "0.05" if row["status"] in ("stopped", "timeout", "memout") else "0.98"
                style: dict[str, Any] = {"ha": "center", "va": "center", "size": 7}
                ax.text((began + ended) / 2, row["slot"], number, color=color, **style)


def timeline_frame(history: History) -> "pd.DataFrame":
    """Tabulate the folds of the trials, with the row of each."""
    import pandas as pd

    columns = ["trial", "status", "algorithm", "began", "ended"]
    rows = [
        (trial.number, trial.status, trial.configuration.algorithm, began, ended)
        for trial in history
        for began, ended in trial.runs
    ]
    frame = pd.DataFrame(rows, columns=columns).sort_values("began", ignore_index=True)
    frame["slot"] = _slots(zip(frame["began"], frame["ended"], strict=True))
    return frame


def _slots(runs: Iterable[tuple[float, float]]) -> list[int]:
    """Assign to each run, sorted by beginning, the first row that is free then."""
    free_from: list[float] = []
    slots = []
    for began, ended in runs:
        free = [i for i, moment in enumerate(free_from) if moment <= began + _TOLERANCE]
        slot = free[0] if free else len(free_from)
        free_from[slot : slot + 1] = [ended]
        slots.append(slot + 1)
    return slots
