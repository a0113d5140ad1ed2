"""The losses of a search, trial by trial."""

import math

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauto.display._base import (
    BLACK,
    GREY,
    BaseDisplay,
    algorithm_of,
    check_choice,
    is_wide,
    legend_outside,
    loss_name,
    styles,
)


class SearchHistoryDisplay(BaseDisplay):
    """Loss of each trial of a search, and the best one so far.

    A trial is eligible if it could be the result: it was completed, on all the rows, and keeps
    every limit. Others that have a loss are hollow: they were stopped after their first fold, ran
    on a part of the rows, or exceed a limit. Crosses at the upper edge are trials without a loss.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a trial, with the columns "trial", "seconds" (when it ended), "loss", "status",
        "eligible", "algorithm" (of the last step) and "origin" (the part of the strategy that
        proposed it).
    loss_name : str, default="loss"
        Label of the loss.

    Attributes
    ----------
    points_ : dict of str to matplotlib PathCollection
        The trials of each group.
    incumbent_ : matplotlib Line2D
        Smallest loss of an eligible trial so far.
    failed_ : matplotlib Line2D or None
        The trials without a loss.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    TimelineDisplay : When each trial ran.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.plotting import SearchHistoryDisplay
    >>> space = make_artificial_space(n_steps=2)
    >>> result = minimize(make_artificial_objective(space), space, max_evals=15, random_state=0)
    >>> display = SearchHistoryDisplay.from_history(result.history)
    >>> bool(display.incumbent_.get_ydata()[-1] == result.loss)
    True
    """

    def __init__(self, frame, *, loss_name="loss"):
        super().__init__(frame)
        self.loss_name = loss_name

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, **kwargs):
        """Draw the search of a fitted estimator.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            A fitted one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            See ``plot``.

        Returns
        -------
        display : SearchHistoryDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        name = loss_name(estimator)
        return cls.from_history(estimator.history_, loss_name=name, ax=ax, **kwargs)

    @classmethod
    def from_history(cls, history, *, loss_name=None, ax=None, **kwargs):
        """Draw a history, such as that of ``minimize``.

        Parameters
        ----------
        history : History
            The trials.
        loss_name : str, default=None
            Label of the loss; None takes the name of the first objective.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            See ``plot``.

        Returns
        -------
        display : SearchHistoryDisplay
            What was drawn.
        """
        import pandas as pd

        rows = [
            {
                "trial": trial.number,
                "seconds": trial.ended,
                "loss": trial.loss if math.isfinite(trial.loss) else np.nan,
                "status": trial.status,
                "eligible": trial.ok and trial.fidelity == 1.0 and history.feasible(trial),
                "algorithm": algorithm_of(trial),
                "origin": trial.origin or "-",
            }
            for trial in history
        ]
        display = cls(pd.DataFrame(rows), loss_name=loss_name or history.objectives[0])
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax=None, *, x="trial", by="algorithm"):
        """Draw the trials.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        x : {"trial", "seconds"}, default="trial"
            Over what.
        by : {"algorithm", "origin"}, default="algorithm"
            What the colours stand for.

        Returns
        -------
        self : SearchHistoryDisplay
            With its artists.
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
                ax.scatter([], [], s=28, marker=marker, color=color, label=name)
        best = frame["loss"].where(frame["eligible"]).cummin().ffill()
        (self.incumbent_,) = ax.step(
            frame[x], best, where="post", color=BLACK, label="best so far"
        )
        if not measured["eligible"].all():
            ax.scatter([], [], s=28, edgecolors=GREY, facecolors="none", label="not eligible")
        self.failed_ = self._mark_failures(ax, frame.loc[frame["loss"].isna(), x])
        ax.set(xlabel="trial" if x == "trial" else "time [s]", ylabel=self.loss_name)
        ax.xaxis.get_major_locator().set_params(integer=x == "trial")
        if is_wide(measured["loss"]):
            ax.set_yscale("log")
        legend_outside(ax)
        return self

    def _mark_failures(self, ax, where):
        """Put crosses on the upper edge: there is no loss to draw them at."""
        if where.empty:
            return None
        (line,) = ax.plot(
            where,
            np.ones(len(where)),
            "x",
            color=BLACK,
            transform=ax.get_xaxis_transform(),
            clip_on=False,
            label="no score",
        )
        return line
