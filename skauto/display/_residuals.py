"""Plot of the residuals of ADMM."""

from typing import TYPE_CHECKING, Any, Self

from skauto.display._base import BLUE, ORANGE, RED, BaseDisplay, is_wide, legend_outside, record_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = {
    "primal": (BLUE, "o", "primal residual"),
    "dual": (ORANGE, "s", "dual residual"),
    "violation": (RED, "^", "violation of limits"),
}


class ResidualsDisplay(BaseDisplay):
    """Residuals of ``strategy="admm"`` after each iteration.

    The primal residual is the distance between the relaxed and the rounded integer
    hyper-parameters. The dual residual is ``rho`` times the distance that the rounded ones have
    moved. Both are on the unit scale of the ranges. The violation is the sum of the excesses over
    the limits, in units of the limits. It is drawn only if it is positive after some iteration.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each iteration: the attribute ``residuals_`` of
        :class:`~skauto.strategies.ADMM` as a table.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        The lines, by column of the frame.
    ax_ : matplotlib Axes
        Axes of the lines.
    figure_ : matplotlib Figure
        Figure of the axes.

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
    def _of_estimator(cls, estimator: Any) -> Self:
        return cls(record_of(estimator, cls, "residuals_", "admm"))

    def plot(self, ax: "Axes | None" = None) -> Self:
        ax = self._make_axes(ax)
        self.lines_ = {}
        for column, (color, marker, label) in _LINES.items():
            values = self.frame[column]
            if column != "violation" or values.gt(0).any():
                (self.lines_[column],) = ax.plot(
                    self.frame["n_trials"], values, color=color, marker=marker, label=label
                )
        # Residuals span orders of magnitude, and are 0 if the relaxed integers are integers.
        drawn = self.frame[list(self.lines_)].to_numpy()
        if is_wide(drawn[drawn > 0]):
            ax.set_yscale("symlog", linthresh=drawn[drawn > 0].min())
        ax.set_ylim(bottom=0.0)
        ax.locator_params(axis="x", integer=True)
        ax.set(xlabel="trials at the end of the iteration", ylabel="residual")
        legend_outside(ax)
        return self
