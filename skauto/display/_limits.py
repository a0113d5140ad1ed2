"""Plot of measured constraint values relative to their limits."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skauto.display._base import BLACK, BLUE, GRAY, RED, ROW_HEIGHT, BaseDisplay, legend_outside
from skauto.display._quantities import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LimitsDisplay(BaseDisplay):
    """Value of each constraint in units of its limit.

    A point is the mean over the folds with its standard error. A diamond is the value that is
    compared with the limit: the fitted model for seconds and bytes, the mean with its safety
    margin for everything else. Red diamonds exceed their limit. A lower bound is drawn as an upper
    limit on the distance from the best value.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each model and constraint with a limit. The columns are "model", "constraint",
        "limit", "value", "error", "bound" and "met". Lower bounds are stated as upper limits.

    Attributes
    ----------
    points_ : list of matplotlib ErrorbarContainer
        Means over the folds, one for each model.
    bounds_ : list of matplotlib PathCollection
        Values compared with the limits, one for each model.
    limit_line_ : matplotlib Line2D
        The limits, at 1.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    ParetoFrontDisplay : All trials by two quantities.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skauto import ConstrainedAutoClassifier
    >>> from skauto.constraints import FalseNegativeRate, ModelSize
    >>> from skauto.plotting import LimitsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> limits = [ModelSize(100_000), FalseNegativeRate(0.1)]
    >>> clf = ConstrainedAutoClassifier(limits, "random", max_evals=3, cv=3, random_state=0)
    >>> display = LimitsDisplay.from_estimator(clf.fit(X, y))
    >>> display.frame["met"].all()
    np.True_
    """

    @classmethod
    def _of_estimator(cls, estimator: Any) -> Self:
        frame = getattr(estimator, "constraint_values_", None)
        if frame is None or not len(frame) or not np.isfinite(frame["limit"]).any():
            raise ValueError(
                "LimitsDisplay needs a ConstrainedAutoClassifier with at least one constraint "
                "that states a limit, and a model that was fitted in time."
            )
        frame = frame[np.isfinite(frame["limit"])].reset_index(drop=True)
        constraints = {constraint.key: constraint for constraint in estimator.constraints}
        for column in ("limit", "value", "bound"):  # a lower bound becomes an upper limit
            frame[column] = [
                constraints[key].reported(value)
                for key, value in zip(frame["constraint"], frame[column], strict=True)
            ]
        columns = ["model", "constraint", "limit", "value", "error", "bound", "met"]
        return cls(frame[columns])

    def plot(self, ax: "Axes | None" = None) -> Self:
        keys = list(dict.fromkeys(self.frame["constraint"]))
        ax = self._make_axes(ax, height=1.4 + 2 * ROW_HEIGHT * len(keys))
        self.points_, self.bounds_ = [], []
        models = (("best", "best pipeline", -0.15, GRAY), ("ensemble", "ensemble", 0.15, BLUE))
        for model, name, shift, color in models:
            rows = self.frame[self.frame["model"] == model]
            places = np.array([keys.index(key) for key in rows["constraint"]]) + shift
            unit = rows["limit"].abs().where(rows["limit"] != 0, 1.0)
            offset = np.where(rows["limit"] == 0, 1.0, 0.0)  # a limit of 0 is drawn at 1 as well
            self.points_.append(
                ax.errorbar(
                    rows["value"] / unit + offset,
                    places,
                    xerr=(rows["error"] / unit).fillna(0.0),
                    fmt="o",
                    color=color,
                    capsize=3,
                    label=f"{name}: folds",
                )
            )
            self.bounds_.append(
                ax.scatter(
                    rows["bound"] / unit + offset,
                    places,
                    marker="D",
                    s=45,
                    facecolors="none",
                    edgecolors=[color if met else RED for met in rows["met"]],
                    label=f"{name}: compared with the limit",
                    zorder=3,
                )
            )
        self.limit_line_ = ax.axvline(1.0, color=BLACK, linestyle="--", label="limit")
        ax.set_yticks(range(len(keys)), [readable(key) for key in keys])
        ax.set(xlabel="value in units of the limit", ylim=(len(keys) - 0.5, -0.5))
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        legend_outside(ax)
        return self
