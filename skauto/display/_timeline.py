"""Which trial ran when, and beside which others."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauto.display._base import (
    BLACK,
    BLUE,
    ORANGE,
    PURPLE,
    RED,
    ROW_HEIGHT,
    SKY,
    BaseDisplay,
    algorithm_of,
    legend_outside,
)

_STATUS_COLORS = {
    "ok": BLUE,
    "stopped": SKY,
    "failed": RED,
    "timeout": ORANGE,
    "memout": PURPLE,
    "crashed": BLACK,
}
# Seconds that two clocks may differ.
_TOLERANCE = 1e-3
# A number is written into a bar that has room for it: so much of the axis for each digit.
_DIGIT_SHARE = 0.012


class TimelineDisplay(BaseDisplay):
    """When each fold of each trial ran, and what the workers did at the same time.

    What ran at the same time lies in different rows: there are as many as workers were busy at
    once. Gaps are seconds in which a worker waited, mostly for the strategy. The numbers are those
    of the trials.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a fold, with the columns "trial", "status" (of the trial), "algorithm" (of the last
        step), "began" and "ended" (seconds since the search began) and "slot" (the row, from 1).

    Attributes
    ----------
    bars_ : dict of str to matplotlib BarContainer
        The folds of the trials of each status.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    SearchHistoryDisplay : What came of the trials.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.plotting import TimelineDisplay
    >>> space = make_artificial_space(n_steps=2)
    >>> result = minimize(make_artificial_objective(space), space, max_evals=15, random_state=0)
    >>> display = TimelineDisplay.from_history(result.history)
    >>> sorted(display.frame["slot"].unique().tolist())
    [1]
    """

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the search of a fitted estimator.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            A fitted one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : TimelineDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        return cls.from_history(estimator.history_, ax=ax)

    @classmethod
    def from_history(cls, history, *, ax=None):
        """Draw a history, such as that of ``minimize``.

        Parameters
        ----------
        history : History
            The trials.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : TimelineDisplay
            What was drawn.
        """
        import pandas as pd

        columns = ["trial", "status", "algorithm", "began", "ended"]
        rows = [
            (trial.number, trial.status, algorithm_of(trial), began, ended)
            for trial in history
            for began, ended in trial.runs
        ]
        frame = pd.DataFrame(rows, columns=columns).sort_values("began", ignore_index=True)
        frame["slot"] = _slots(zip(frame["began"], frame["ended"], strict=True))
        return cls(frame).plot(ax=ax)

    def plot(self, ax=None):
        """Draw the folds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self : TimelineDisplay
            With its artists.
        """
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

    def _write_numbers(self, ax, span):
        """Write the number of a trial into each of its bars that is wide enough."""
        for row in self.frame.itertuples():
            share = (row.ended - row.began) / span
            if share > _DIGIT_SHARE * (len(str(row.trial)) + 0.5):
                color = "black" if row.status in ("stopped", "timeout", "memout") else "white"
                middle = (row.began + row.ended) / 2
                ax.text(middle, row.slot, row.trial, ha="center", va="center", size=7, color=color)


def _slots(runs):
    """Give each of the runs, sorted by their beginning, the first row that is free then."""
    free_from, slots = [], []
    for began, ended in runs:
        free = [i for i, moment in enumerate(free_from) if moment <= began + _TOLERANCE]
        slot = free[0] if free else len(free_from)
        free_from[slot : slot + 1] = [ended]
        slots.append(slot + 1)
    return slots
