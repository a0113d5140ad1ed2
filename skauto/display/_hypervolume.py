"""Plot of the hypervolume of the Pareto front over the cost of the search."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from skauto.display._base import COLORS, HistoryDisplay, check_choice, legend_outside
from skauto.display._quantities import quantities, values_of
from skauto.history import History
from skauto.utils._pareto import running_hypervolume

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COSTS = {"seconds": "time of evaluations [s]", "rows": "cost in evaluations on all rows"}


@dataclass(eq=False, repr=False)
class HypervolumeDisplay(HistoryDisplay):
    """Hypervolume of the Pareto front over the cost of the search.

    The hypervolume is the volume between the front of the trials on all rows and a reference
    point. Trials on a part of the rows only add to the cost. The quantities are the objectives. If
    there is only one objective, they are the objective and the constraints.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each trial, with the columns "trial", "seconds" and "rows" (both accumulated)
        and "hypervolume".
    reference : array-like of shape (n_quantities,)
        The reference point. ``from_estimator`` and ``from_history`` take the largest value of each
        quantity in the history by default.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The hypervolume.
    ax_ : matplotlib Axes
        Axes of the line.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    ParetoFrontDisplay : The front at the end of the search.

    Notes
    -----
    Compare different searches only with the same reference point.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from skauto import minimize
    >>> from skauto.plotting import HypervolumeDisplay
    >>> from skauto.space import SearchSpace
    >>> space = SearchSpace().add("classifier", "model", parameters={"x": uniform(0, 1)})
    >>> def objective(configuration):
    ...     x = configuration.parameters("classifier")["x"]
    ...     return {"left": x, "right": (1 - x) ** 2}
    >>> result = minimize(objective, space, strategy="random", objectives=("left", "right"),
    ...                   max_evals=10, random_state=0)
    >>> display = HypervolumeDisplay.from_history(result.history, reference=(1, 1))
    >>> bool(display.frame["hypervolume"].is_monotonic_increasing)
    True
    """

    reference: ArrayLike = field(kw_only=True)

    _choices = ("reference",)

    @classmethod
    def _of_history(cls, history: History, reference: ArrayLike | None = None) -> Self:
        import pandas as pd

        several = len(history.goal.objectives) > 1
        names = history.goal.objectives if several else quantities(history)
        values = values_of(history, history, names)
        counts = np.array([t.complete for t in history], dtype=bool)
        values[~counts] = np.inf
        if reference is None:
            reference = values[np.isfinite(values).all(axis=1)].max(axis=0, initial=-np.inf)
        frame = pd.DataFrame(
            {
                "trial": [trial.number for trial in history],
                "seconds": np.cumsum([trial.cost for trial in history]),
                "rows": np.cumsum([trial.fidelity for trial in history]),
                "hypervolume": running_hypervolume(values, reference),
            }
        )
        return cls(frame, reference=np.asarray(reference))

    def plot(
        self, ax: "Axes | None" = None, *, cost: str = "seconds", name: str | None = None
    ) -> Self:
        """Draw the hypervolume.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        cost : {"seconds", "rows"}, default="seconds"
            "seconds" sums the time of all evaluations. "rows" counts the evaluations, each with
            its share of the rows.
        name : str, default=None
            Label of the line in the legend.

        Returns
        -------
        self : HypervolumeDisplay
            The display with its artists.
        """
        check_choice(type(self), "cost", cost, list(_COSTS))
        ax = self._make_axes(ax)
        (self.line_,) = ax.step(
            self.frame[cost],
            self.frame["hypervolume"],
            where="post",
            color=COLORS[len(ax.lines) % len(COLORS)],
            label=name,
        )
        ax.set(xlabel=_COSTS[cost], ylabel="hypervolume")
        if name is not None:
            legend_outside(ax)
        return self
