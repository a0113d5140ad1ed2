"""What each algorithm adds to the error and to the time."""

from skauto.display._base import (
    BLUE,
    RED,
    ROW_HEIGHT,
    BaseDisplay,
    loss_name,
    record_of,
)


class EffectsDisplay(BaseDisplay):
    """What each algorithm adds to the loss and to the seconds of an average trial.

    The weights of FLASH's linear models, step by step, the most helpful algorithm first. Bars to
    the left are improvements. An algorithm that was never tried is left out; beside the others is
    the number of their trials.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row an algorithm: a table of the strategy's ``effects_``, see
        :class:`~skauto.strategies.FLASH`.
    loss_name : str, default="loss"
        Label of the loss.

    Attributes
    ----------
    bars_ : list of 2 matplotlib BarContainer
        Of the loss and of the seconds, in the order of ``shown_``.
    shown_ : pandas.DataFrame
        The algorithms that are drawn, with their row "y".
    axes_ : ndarray of 2 matplotlib Axes
        Where they are drawn.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauto.plotting import EffectsDisplay
    >>> effects = {"step": ["classifier"] * 2, "algorithm": ["lda", "svm"], "n_trials": [3, 4],
    ...            "loss": [-0.02, 0.01], "seconds": [-0.5, 1.0]}
    >>> display = EffectsDisplay(pd.DataFrame(effects), loss_name="1 - accuracy").plot()
    >>> [ax.get_xlabel() for ax in display.axes_]
    ['change of 1 - accuracy', 'change of the time [s]']
    """

    def __init__(self, frame, *, loss_name="loss"):
        super().__init__(frame)
        self.loss_name = loss_name

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the linear models of a fitted estimator with ``strategy="flash"``.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            A fitted one.
        ax : array-like of 2 matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : EffectsDisplay
            What was drawn.
        """
        frame = record_of(estimator, cls, "effects_", '"flash"')
        return cls(frame, loss_name=loss_name(estimator)).plot(ax=ax)

    def plot(self, ax=None):
        """Draw the effect on the loss on the left, on the seconds on the right.

        Parameters
        ----------
        ax : array-like of 2 matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self : EffectsDisplay
            With its artists.
        """
        shown, headings = _in_rows(self.frame[self.frame["n_trials"] > 0])
        self.shown_ = shown
        n_rows = len(shown) + len(headings)
        axes = self._make_axes(ax, 2, width=8.5, height=1.0 + 0.8 * ROW_HEIGHT * n_rows)
        labels = [f"change of {self.loss_name}", "change of the time [s]"]
        self.bars_ = []
        for one, column, label in zip(axes, ("loss", "seconds"), labels, strict=True):
            colors = [BLUE if value < 0 else RED for value in shown[column]]
            self.bars_.append(one.barh(shown["y"], shown[column], color=colors, height=0.75))
            one.axvline(0.0, color="black", linewidth=0.8)
            one.set(xlabel=label, ylim=(n_rows - 0.4, -0.6))
            one.grid(axis="x", alpha=0.3)
            one.set_axisbelow(True)
        names = [f"{row.algorithm} ({row.n_trials})" for row in shown.itertuples()]
        axes[0].set_yticks([*headings.values(), *shown["y"]], [*headings, *names])
        for text in axes[0].get_yticklabels()[: len(headings)]:
            text.set_fontweight("bold")
        axes[0].tick_params(axis="y", labelsize="small")
        for one in axes:
            one.tick_params(axis="y", length=0)
        return self


def _in_rows(frame):
    """Give each step a heading and each of its algorithms a row below, the best first."""
    headings, rows = {}, []
    for step, own in frame.groupby("step", sort=False):
        start = len(headings) + sum(map(len, rows))
        headings[step] = start
        own = own.sort_values("loss", kind="stable")
        rows.append(own.assign(y=range(start + 1, start + 1 + len(own))))
    import pandas as pd

    return pd.concat(rows, ignore_index=True), headings
