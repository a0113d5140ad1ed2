"""How the operator splitting converges."""

from skauto.display._base import (
    BLUE,
    ORANGE,
    RED,
    BaseDisplay,
    is_wide,
    legend_outside,
    record_of,
)

_LINES = {
    "primal": (BLUE, "o", "primal residual"),
    "dual": (ORANGE, "s", "dual residual"),
    "violation": (RED, "^", "violation of limits"),
}


class ResidualsDisplay(BaseDisplay):
    """Residuals of ADMM after each of its iterations.

    The primal residual is how far the relaxed integers are from legal ones, the dual one how far
    the legal ones have moved; both are measured on the unit scale of the ranges. The violation is
    the sum over the limits of what exceeds them, in units of the limits; it is drawn where it is
    ever positive.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row an iteration: a table of the strategy's ``residuals_``, see
        :class:`~skauto.strategies.ADMM`.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        By the column of the frame.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauto.plotting import ResidualsDisplay
    >>> records = {"n_trials": [32, 96], "primal": [0.4, 0.1], "dual": [0.5, 0.0]}
    >>> display = ResidualsDisplay(pd.DataFrame({**records, "violation": [0.0, 0.0]})).plot()
    >>> sorted(display.lines_)
    ['dual', 'primal']
    """

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the iterations of a fitted estimator with ``strategy="admm"``.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            A fitted one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ResidualsDisplay
            What was drawn.
        """
        return cls(record_of(estimator, cls, "residuals_", '"admm"')).plot(ax=ax)

    def plot(self, ax=None):
        """Draw the residuals over the trials.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self : ResidualsDisplay
            With its artists.
        """
        ax = self._make_axes(ax)
        self.lines_ = {}
        for column, (color, marker, label) in _LINES.items():
            values = self.frame[column]
            if column != "violation" or values.gt(0).any():
                (self.lines_[column],) = ax.plot(
                    self.frame["n_trials"], values, color=color, marker=marker, label=label
                )
        # Residuals shrink by orders of magnitude, and reach zero where all integers are legal.
        drawn = self.frame[list(self.lines_)].to_numpy()
        if is_wide(drawn[drawn > 0]):
            ax.set_yscale("symlog", linthresh=drawn[drawn > 0].min())
        ax.set_ylim(bottom=0.0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="trials at the end of the iteration", ylabel="residual")
        legend_outside(ax)
        return self
