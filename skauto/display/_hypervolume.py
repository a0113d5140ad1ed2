"""How the Pareto front grew."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauto.display._base import COLORS, BaseDisplay, check_choice, legend_outside
from skauto.display._quantities import quantities, values_of
from skauto.utils._pareto import running_hypervolume

_COSTS = {"seconds": "time of evaluations [s]", "rows": "cost in evaluations on all rows"}


class HypervolumeDisplay(BaseDisplay):
    """Hypervolume of the Pareto front over what the search has cost.

    The hypervolume is the volume that the trials on all rows dominate, up to a reference point.
    Trials on a part of the rows add to the cost alone.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a trial, with the columns "trial", "seconds" and "rows" (both accumulated) and
        "hypervolume".
    reference : ndarray of shape (n_quantities,)
        The reference point.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The hypervolume.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        Its figure.

    See Also
    --------
    ParetoFrontDisplay : The front at the end.

    Notes
    -----
    Volumes of different searches can be compared if they have the same reference point.

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

    def __init__(self, frame, *, reference):
        super().__init__(frame)
        self.reference = reference

    @classmethod
    def from_estimator(cls, estimator, *, reference=None, ax=None, **kwargs):
        """Draw the search of a fitted estimator.

        Parameters
        ----------
        estimator : ConstrainedAutoClassifier
            A fitted one.
        reference : array-like of shape (n_quantities,), default=None
            See ``from_history``.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            See ``plot``.

        Returns
        -------
        display : HypervolumeDisplay
            What was drawn.
        """
        check_is_fitted(estimator)
        return cls.from_history(estimator.history_, reference=reference, ax=ax, **kwargs)

    @classmethod
    def from_history(cls, history, *, reference=None, ax=None, **kwargs):
        """Draw a history, such as that of ``minimize``.

        Parameters
        ----------
        history : History
            The trials. The quantities are the objectives; if there is only one, the constraints
            count too.
        reference : array-like of shape (n_quantities,), default=None
            Worst corner of the volume; None takes the worst value that was seen of each quantity.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            See ``plot``.

        Returns
        -------
        display : HypervolumeDisplay
            What was drawn.
        """
        import pandas as pd

        several = len(history.objectives) > 1
        names = history.objectives if several else quantities(history)
        values = values_of(history, history, names)
        counts = np.array([t.ok and t.fidelity == 1.0 for t in history], dtype=bool)
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
        return cls(frame, reference=np.asarray(reference)).plot(ax=ax, **kwargs)

    def plot(self, ax=None, *, cost="seconds", name=None):
        """Draw the hypervolume.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        cost : {"seconds", "rows"}, default="seconds"
            Seconds of the evaluations, summed over the workers; or their number, where one on a
            part of the rows counts pro rata.
        name : str, default=None
            What the legend calls the line.

        Returns
        -------
        self : HypervolumeDisplay
            With its artists.
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
