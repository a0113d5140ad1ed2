"""Plot of the losses of a search over the trials."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skauto.display._base import (
    BLACK,
    GRAY,
    HistoryDisplay,
    check_choice,
    is_wide,
    legend_outside,
    loss_name,
    styles,
)
from skauto.display._words import as_written
from skauto.history import History

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# What hollow marks are, by the status of the trial.
_HOLLOW = {"ok": "beyond a limit, or on a part of the rows", "stopped": "stopped early"}


@dataclass(eq=False, repr=False)
class SearchHistoryDisplay(HistoryDisplay):
    """Loss of each trial of a search, and loss of the incumbent.

    Filled marks are eligible trials: completed, on all rows, within every limit. Hollow marks are
    other trials with a loss: stopped early, on a part of the rows, or beyond a limit. Crosses at
    the upper edge are trials without a loss.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each trial. The columns are "trial", "seconds" (when it ended), "loss",
        "status", "eligible", "algorithm" (of the last step) and "origin" (the part of the strategy
        that proposed it).
    loss_name : str, default="loss"
        Label of the loss.

    Attributes
    ----------
    points_ : dict of str to matplotlib PathCollection
        The trials of each color, by algorithm or origin.
    incumbent_ : matplotlib Line2D
        Smallest loss of an eligible trial so far.
    failed_ : matplotlib Line2D or None
        The trials without a loss.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    TimelineDisplay : When each trial ran.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.plotting import SearchHistoryDisplay
    >>> space = make_artificial_space(n_steps=2)
    >>> result = minimize(make_artificial_objective(space), space, max_evals=8, random_state=0)
    >>> display = SearchHistoryDisplay.from_history(result.history)
    >>> bool(display.incumbent_.get_ydata()[-1] == result.loss)
    True
    """

    loss_name: str = field(default="loss", kw_only=True)

    @classmethod
    def _of_history(cls, history: History) -> Self:
        return cls(_frame(history), loss_name=history.goal.objectives[0])

    @classmethod
    def _of_estimator(cls, estimator: Any, **choices: Any) -> Self:
        return cls(_frame(estimator.history_), loss_name=loss_name(estimator))

    def plot(self, ax: "Axes | None" = None, *, x: str = "trial", by: str = "algorithm") -> Self:
        """Draw the trials.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        x : {"trial", "seconds"}, default="trial"
            Quantity of the x axis.
        by : {"algorithm", "origin"}, default="algorithm"
            Column that decides the colors.

        Returns
        -------
        self : SearchHistoryDisplay
            The display with its artists.
        """
        check_choice(type(self), "x", x, ("trial", "seconds"))
        check_choice(type(self), "by", by, ("algorithm", "origin"))
        ax = self._make_axes(ax)
        frame = self.frame.sort_values(x, kind="stable")
        measured = frame[frame["loss"].notna()]
        self.points_ = {}
        for name, (color, marker) in styles(frame.sort_values("trial")[by]).items():
            own = measured[measured[by] == name]
            self.points_[name] = ax.scatter(
                own[x],
                own["loss"],
                s=28,
                marker=marker,
                edgecolors=color,
                facecolors=[color if full else "none" for full in own["eligible"]],
                zorder=3,
            )
            if len(own):
                ax.scatter([], [], s=28, marker=marker, color=color, label=as_written(name))
        best = frame["loss"].where(frame["eligible"]).cummin().ffill()
        (self.incumbent_,) = ax.step(
            frame[x], best, where="post", color=BLACK, label="best so far"
        )
        statuses = set(measured.loc[~measured["eligible"], "status"])
        if statuses:
            hollow = " or ".join(_HOLLOW.get(status, status) for status in sorted(statuses))
            ax.scatter([], [], s=28, edgecolors=GRAY, facecolors="none", label=hollow)
        self.failed_ = None
        failed = frame.loc[frame["loss"].isna(), x]
        if len(failed):
            (self.failed_,) = ax.plot(
                failed,
                np.ones(len(failed)),
                "x",
                color=BLACK,
                transform=ax.get_xaxis_transform(),
                clip_on=False,
                label="no score",
            )
        ax.set(xlabel="trial" if x == "trial" else "time [s]", ylabel=as_written(self.loss_name))
        ax.locator_params(axis="x", integer=x == "trial")
        if is_wide(measured["loss"]):
            ax.set_yscale("log")
        legend_outside(ax)
        return self


def _frame(history: History) -> "pd.DataFrame":
    import pandas as pd

    rows = [
        {
            "trial": trial.number,
            "seconds": trial.ended,
            "loss": trial.loss if math.isfinite(trial.loss) else np.nan,
            "status": trial.status,
            "eligible": trial.complete and history.feasible(trial),
            "algorithm": trial.configuration.algorithm,
            "origin": trial.origin or "-",
        }
        for trial in history
    ]
    return pd.DataFrame(rows)
