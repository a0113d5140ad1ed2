"""What all displays share: one look, and how their axes are made."""

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauto.history import Trial
from skauto.utils import check_matplotlib_support, scorer_function, scorer_is_loss

# Told apart by the colour-blind too: M. Okabe and K. Ito, "Color universal design", 2008, without
# the yellow, which is too light for small marks on white.
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
RED, PURPLE, SKY, BLACK = "#D55E00", "#CC79A7", "#56B4E9", "#000000"
COLORS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK)
GREY = "0.65"
# Dark is low, and it reads in grey as well.
COLORMAP = "cividis"
MARKERS = ("o", "s", "^", "D", "v", "P")
# Inches.
WIDTH, HEIGHT, ROW_HEIGHT = 7.0, 4.0, 0.26
# Values that span a larger ratio are drawn on a logarithmic axis.
_LARGE_RATIO = 50.0


class BaseDisplay:
    """Base class of the displays: a frame, and where it was drawn.

    Warning: This class should not be used directly. Use its subclasses.
    """

    def __init__(self, frame):
        self.frame = frame

    def _make_axes(self, ax, n_columns=1, *, width=WIDTH, height=HEIGHT):
        """Give the axes to draw on: those of the user, or new ones that share their rows."""
        owner = type(self).__name__
        check_matplotlib_support(f"{owner}.plot")
        import matplotlib.pyplot as plt

        if ax is None:
            size = (width, height)
            _, ax = plt.subplots(1, n_columns, figsize=size, sharey=True, layout="constrained")
        if n_columns == 1:
            self.ax_, self.figure_ = ax, ax.figure
            return ax
        if len(ax) != n_columns:
            raise ValueError(
                f"The 'ax' of {owner}.plot must hold {n_columns} axes. Got {len(ax)} instead."
            )
        self.axes_, self.figure_ = ax, ax[0].figure
        return ax


def record_of(estimator, owner, name, known_by):
    """Give what a strategy remembers of its search, as a frame.

    Parameters
    ----------
    estimator : estimator
        A fitted one.
    owner : type
        The display that asks, for the error.
    name : str
        Attribute of the strategy.
    known_by : str
        Name of the strategy that has it, for the error.

    Returns
    -------
    frame : pandas.DataFrame
        One row an entry.
    """
    import pandas as pd

    check_is_fitted(estimator)
    strategy = estimator.strategy_
    record = getattr(strategy, name, None)
    if not record:
        raise ValueError(
            f"{owner.__name__} draws what a search with strategy={known_by} records in '{name}'. "
            f"The strategy of this estimator, {type(strategy).__name__}, has recorded nothing."
        )
    return pd.DataFrame(record)


def loss_name(estimator):
    """Say what the loss of an estimator is.

    Parameters
    ----------
    estimator : estimator
        A fitted one.

    Returns
    -------
    name : str
        Such as "1 - accuracy" or "log loss".
    """
    function = scorer_function(estimator.scorer_)
    if function is None:
        return "loss"
    name = function.__name__.removesuffix("_score").replace("_", " ")
    return name if scorer_is_loss(estimator.scorer_) else f"1 - {name}"


def algorithm_of(trial):
    """Name the algorithm in the last step of a trial's configuration, which predicts."""
    return trial.configuration.structure[-1]


def describe_pipeline(trial: Trial) -> str:
    """Name the algorithms of a trial's pipeline in their order, without the steps left out.

    Parameters
    ----------
    trial : Trial
        Any.

    Returns
    -------
    pipeline : str
        Such as "one_hot → standard → logistic_regression".
    """
    return " → ".join(name for name in trial.configuration.structure if name != "none")


def mean_score(trial: Trial) -> float:
    """Mean over the folds of the score that the search maximised; NaN where there is none."""
    scores = next(iter(trial.fold_scores.values()), ())
    return float(np.mean(scores)) if scores else math.nan


def score_name(estimator: Any) -> str:
    """Name the scorer that the search maximised."""
    return loss_name(estimator).removeprefix("1 - ")


def styles(names):
    """Give each name a colour and a marker of its own.

    Parameters
    ----------
    names : iterable of str
        In the order of their first occurrence; copies do not count.

    Returns
    -------
    styles : dict of str to (str, str)
        Colour and marker.
    """
    return {
        name: (COLORS[i % len(COLORS)], MARKERS[(i + i // len(COLORS)) % len(MARKERS)])
        for i, name in enumerate(dict.fromkeys(names))
    }


def is_wide(values):
    """Whether positive values span so much that they need a logarithmic axis."""
    return len(values) > 0 and values.min() > 0 and values.max() > _LARGE_RATIO * values.min()


def legend_outside(ax):
    """Put the legend to the right of the axes, where it hides nothing."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small")


def check_choice(owner, name, value, choices):
    """Refuse a value that is not among the choices.

    Parameters
    ----------
    owner : type
        Whose method has the parameter.
    name : str
        The parameter.
    value : object
        What was passed.
    choices : sequence of str
        What is allowed.
    """
    if value not in choices:
        raise ValueError(
            f"The '{name}' of {owner.__name__} must be one of {list(choices)}. "
            f"Got {value!r} instead."
        )
