"""The trade between two quantities, and its Pareto front."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauto.display._base import (
    BLACK,
    BLUE,
    GREY,
    RED,
    SKY,
    BaseDisplay,
    check_choice,
    is_wide,
    legend_outside,
    loss_name,
)
from skauto.display._quantities import quantities, values_of
from skauto.utils import non_dominated

# Of quantities that are no shares; those may span orders of magnitude.
_UNITS = {"prediction_latency": "s a row", "model_size": "bytes"}


class ParetoFrontDisplay(BaseDisplay):
    """Trials by two quantities that should both be small, and those that no other one beats.

    The quantities are objectives or constraints. Hollow trials exceed a limit, which may be one of
    a quantity that is not shown. Dots are trials on a part of the rows, which are never part of
    the front.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a completed trial, with the columns "trial", both quantities, "feasible" (exceeds
        no limit), "complete" (ran on all the rows) and "front".
    x, y : str
        Columns of the quantities.
    limits : dict of str to float, default=None
        Upper limits, by quantity.
    labels : dict of str to str, default=None
        Labels of the quantities, where these are not to be their names.
    chosen : int, default=None
        Number of the trial that is used.

    Attributes
    ----------
    trials_ : matplotlib PathCollection
        The complete trials.
    front_ : matplotlib Line2D
        The front, with a step from each trial to the next one.
    limit_lines_ : dict of str to matplotlib Line2D
        Limits of the quantities that are shown.
    chosen_ : matplotlib PathCollection or None
        The trial that is used.
    reference_ : matplotlib Line2D or None
        The reference point.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    HypervolumeDisplay : How the front grew.

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

    def __init__(self, frame, *, x, y, limits=None, labels=None, chosen=None):
        super().__init__(frame)
        self.x = x
        self.y = y
        self.limits = limits
        self.labels = labels
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, estimator, *, x=None, y=None, ax=None, **kwargs):
        """Draw the trials of a fitted estimator, and mark the best pipeline.

        Parameters
        ----------
        estimator : ConstrainedAutoClassifier
            A fitted one.
        x, y : str, default=None
            See ``from_history``.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            See ``plot``.

        Returns
        -------
        display : ParetoFrontDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        history = estimator.history_
        labels = {history.objectives[0]: loss_name(estimator)}
        for constraint in getattr(estimator, "constraints", ()):
            labels[constraint.key] = _constraint_label(constraint)
        display = cls._of(history, x, y, labels, _chosen_trial(estimator))
        return display.plot(ax=ax, **kwargs)

    @classmethod
    def from_history(cls, history, *, x=None, y=None, ax=None, **kwargs):
        """Draw a history, such as that of ``minimize``.

        Parameters
        ----------
        history : History
            The trials.
        x, y : str, default=None
            Names of objectives or constraints. None takes the second objective, or the first
            constraint if there is only one objective, and the first objective.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            See ``plot``.

        Returns
        -------
        display : ParetoFrontDisplay
            What was drawn.
        """
        return cls._of(history, x, y, None, None).plot(ax=ax, **kwargs)

    @classmethod
    def _of(cls, history, x, y, labels, chosen):
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
        complete = np.array([trial.fidelity == 1.0 for trial in trials], dtype=bool)
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
        return cls(frame, x=x, y=y, limits=history.limits, labels=labels, chosen=chosen)

    def plot(self, ax=None, *, reference=None):
        """Draw trials, front, limits and the chosen trial.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        reference : tuple of float, default=None
            Worst corner of the hypervolume, as (x, y), to be marked.

        Returns
        -------
        self : ParetoFrontDisplay
            With its artists.
        """
        ax = self._make_axes(ax)
        frame = self.frame
        self._draw_trials(ax, frame[frame["complete"]], frame[~frame["complete"]])
        front = frame[frame["front"]].sort_values([self.x, self.y])
        (self.front_,) = ax.step(
            front[self.x], front[self.y], where="post", color=BLUE, label="Pareto front", zorder=2
        )
        self.limit_lines_ = {}
        for name, draw in ((self.x, ax.axvline), (self.y, ax.axhline)):
            limit = (self.limits or {}).get(name)
            if limit is not None:
                label = None if self.limit_lines_ else "limit"
                self.limit_lines_[name] = draw(limit, color=BLACK, linestyle="--", label=label)
        self.chosen_ = self._mark_chosen(ax)
        self.reference_ = None
        if reference is not None:
            (self.reference_,) = ax.plot(
                *reference, "P", color=BLACK, markersize=9, linestyle="", label="reference point"
            )
        labels = {name: _readable(name) for name in (self.x, self.y)} | (self.labels or {})
        ax.set(xlabel=labels[self.x], ylabel=labels[self.y])
        for name, set_scale in ((self.x, ax.set_xscale), (self.y, ax.set_yscale)):
            if name in _UNITS and is_wide(frame[name]):
                set_scale("log")
        legend_outside(ax)
        return self

    def _draw_trials(self, ax, complete, partial):
        edges = np.select([complete["front"], complete["feasible"]], [BLUE, SKY], GREY)
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
            ax.scatter([], [], s=28, edgecolors=GREY, facecolors="none", label="beyond a limit")
        if len(partial):
            label = "on a part of the rows"
            ax.scatter(partial[self.x], partial[self.y], s=6, color=GREY, label=label, zorder=1)

    def _mark_chosen(self, ax):
        row = self.frame[self.frame["trial"] == self.chosen]
        if row.empty:
            return None
        return ax.scatter(
            row[self.x],
            row[self.y],
            s=130,
            marker="o",
            edgecolors=RED,
            facecolors="none",
            linewidths=2,
            label="best pipeline",
            zorder=4,
        )


def _readable(name):
    return name.replace("_", " ").replace("(", " (")


def _constraint_label(constraint):
    """Name a constraint with its unit; a lower bound is measured as what is left to the best."""
    best, next_to_it = constraint.reported(0.0), constraint.reported(1.0)
    name = _readable(constraint.key)
    if next_to_it < best:
        return f"{best:g} - {name}"
    unit = _UNITS.get(constraint.key)
    return name if unit is None else f"{name} [{unit}]"


def _chosen_trial(estimator):
    """Number of the trial behind the best pipeline."""
    best = estimator.best_trial_ or estimator.history_.least_violating
    return None if best is None else best.number
