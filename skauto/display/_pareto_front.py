"""Plot of the trials by two quantities, and their Pareto front."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skauto.constraints import Constraint
from skauto.display._base import (
    BLACK,
    BLUE,
    GRAY,
    RED,
    SKY,
    HistoryDisplay,
    check_choice,
    is_wide,
    legend_outside,
    loss_name,
)
from skauto.display._quantities import quantities, readable, values_of
from skauto.history import History
from skauto.utils import non_dominated

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# Units of the quantities that are not shares. Their axes may be logarithmic.
_UNITS = {"prediction_latency": "s per row", "model_size": "bytes"}


@dataclass(eq=False, repr=False)
class ParetoFrontDisplay(HistoryDisplay):
    """Trials by two minimized quantities, and their Pareto front.

    The quantities are objectives or constraints. Hollow marks are trials that exceed a limit,
    possibly of a quantity that is not drawn. Small dots are trials on a part of the rows, which
    are not part of the front.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each completed trial. The columns are "trial", both quantities, "feasible"
        (exceeds no limit), "complete" (ran on all rows) and "front".
    x, y : str
        Columns of the quantities. ``from_estimator`` and ``from_history`` take names of objectives
        or constraints. Their default ``y`` is the first objective. The default ``x`` is the second
        objective, or the first constraint if there is only one objective.
    limits : dict of str to float, default=None
        Upper limits, by quantity.
    labels : dict of str to str, default=None
        Axis labels, by quantity. The default label is the name of the quantity.
    chosen : int, default=None
        Number of the trial to mark as the best pipeline.

    Attributes
    ----------
    trials_ : matplotlib PathCollection
        The trials on all rows.
    front_ : matplotlib Line2D
        The Pareto front, a step line.
    limit_lines_ : dict of str to matplotlib Line2D
        Limits of the drawn quantities.
    chosen_ : matplotlib PathCollection or None
        The mark of the best pipeline.
    reference_ : matplotlib Line2D or None
        The reference point.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    HypervolumeDisplay : Hypervolume of the front during the search.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from skauto import minimize
    >>> from skauto.plotting import ParetoFrontDisplay
    >>> from skauto.space import SearchSpace
    >>> space = SearchSpace().add("classifier", "model", parameters={"x": uniform(0, 1)})
    >>> def objective(configuration):
    ...     x = configuration.parameters("classifier")["x"]
    ...     return {"left": x, "right": (1 - x) ** 2}
    >>> result = minimize(objective, space, strategy="random", objectives=("left", "right"),
    ...                   max_evals=10, random_state=0)
    >>> display = ParetoFrontDisplay.from_history(result.history)
    >>> int(display.frame["front"].sum())
    10
    """

    x: str = field(kw_only=True)
    y: str = field(kw_only=True)
    limits: Mapping[str, float] | None = field(default=None, kw_only=True)
    labels: Mapping[str, str] | None = field(default=None, kw_only=True)
    chosen: int | None = field(default=None, kw_only=True)

    _choices = ("x", "y")

    @classmethod
    def _of_estimator(cls, estimator: Any, **choices: Any) -> Self:
        history = estimator.history_
        labels = {history.goal.objectives[0]: loss_name(estimator)}
        for constraint in getattr(estimator, "constraints", ()):
            labels[constraint.key] = _constraint_label(constraint)
        best = estimator.best_trial_ or history.least_violating
        chosen = None if best is None else best.number
        return cls._of_history(history, **choices, labels=labels, chosen=chosen)

    @classmethod
    def _of_history(
        cls,
        history: History,
        x: str | None = None,
        y: str | None = None,
        labels: Mapping[str, str] | None = None,
        chosen: int | None = None,
    ) -> Self:
        import pandas as pd

        names = quantities(history)
        x = (names[1] if len(names) > 1 else names[0]) if x is None else x
        y = names[0] if y is None else y
        for parameter, name in (("x", x), ("y", y)):
            check_choice(cls, parameter, name, names)
        if x == y:
            raise ValueError(
                f"{cls.__name__} needs two different quantities: 'x' and 'y' are both {x!r}. The "
                f"history has {names}."
            )
        trials = [trial for trial in history if trial.ok]
        values = values_of(history, trials, (x, y))
        complete = np.array([trial.complete for trial in trials], dtype=bool)
        feasible = np.array([history.feasible(trial) for trial in trials], dtype=bool)
        frame = pd.DataFrame(
            {
                "trial": [trial.number for trial in trials],
                x: values[:, 0],
                y: values[:, 1],
                "feasible": feasible,
                "complete": complete,
                "front": non_dominated(np.where(complete[:, None], values, np.inf)),
            }
        )
        return cls(frame, x=x, y=y, limits=history.goal.limits, labels=labels, chosen=chosen)

    def plot(
        self, ax: "Axes | None" = None, *, reference: tuple[float, float] | None = None
    ) -> Self:
        """Draw trials, front, limits and the chosen trial.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        reference : tuple of float, default=None
            Reference point of the hypervolume to mark, as (x, y).

        Returns
        -------
        self : ParetoFrontDisplay
            The display with its artists.
        """
        ax = self._make_axes(ax)
        frame = self.frame
        self._draw_trials(ax, frame[frame["complete"]], frame[~frame["complete"]])
        front = frame[frame["front"]].sort_values([self.x, self.y])
        (self.front_,) = ax.step(
            front[self.x], front[self.y], where="post", color=BLUE, label="Pareto front", zorder=2
        )
        self.limit_lines_: dict[str, Line2D] = {}
        for name, draw in ((self.x, ax.axvline), (self.y, ax.axhline)):
            limit = (self.limits or {}).get(name)
            if limit is not None:
                label = None if self.limit_lines_ else "limit"
                self.limit_lines_[name] = draw(limit, color=BLACK, linestyle="--", label=label)
        self.chosen_ = None
        chosen = frame[frame["trial"] == self.chosen]
        if len(chosen):
            self.chosen_ = ax.scatter(
                chosen[self.x],
                chosen[self.y],
                s=130,
                marker="o",
                edgecolors=RED,
                facecolors="none",
                linewidths=2,
                label="best pipeline",
                zorder=4,
            )
        self.reference_ = None
        if reference is not None:
            (self.reference_,) = ax.plot(
                *reference, "P", color=BLACK, markersize=9, linestyle="", label="reference point"
            )
        labels = {name: readable(name) for name in (self.x, self.y)} | dict(self.labels or {})
        ax.set(xlabel=labels[self.x], ylabel=labels[self.y])
        for name, set_scale in ((self.x, ax.set_xscale), (self.y, ax.set_yscale)):
            if _unit(name) and is_wide(frame[name]):
                set_scale("log")
        legend_outside(ax)
        return self

    def _draw_trials(self, ax: "Axes", complete: "pd.DataFrame", partial: "pd.DataFrame") -> None:
        edges = np.select([complete["front"], complete["feasible"]], [BLUE, SKY], GRAY).tolist()
        filled = [
            edge if feasible else "none"
            for edge, feasible in zip(edges, complete["feasible"], strict=True)
        ]
        self.trials_ = ax.scatter(
            complete[self.x], complete[self.y], s=28, edgecolors=edges, facecolors=filled, zorder=3
        )
        if complete["feasible"].any():
            ax.scatter([], [], s=28, color=SKY, label="trial")
        if not complete["feasible"].all():
            ax.scatter([], [], s=28, edgecolors=GRAY, facecolors="none", label="beyond a limit")
        if len(partial):
            label = "on a part of the rows"
            ax.scatter(partial[self.x], partial[self.y], s=6, color=GRAY, label=label, zorder=1)


def _constraint_label(constraint: Constraint) -> str:
    """Name a constraint with its unit; a lower bound as the distance from the best value."""
    best, next_to_it = constraint.reported(0.0), constraint.reported(1.0)
    name = readable(constraint.key)
    if next_to_it < best:
        return f"{best:g} - {name}"
    unit = _unit(constraint.key)
    return name if unit is None else f"{name} [{unit}]"


def _unit(key: str) -> str | None:
    """Return the unit of a constraint by its key, which may have details in parentheses."""
    return _UNITS.get(key.partition("(")[0])
