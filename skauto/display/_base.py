"""Base class of the displays, and their colors, markers and labels."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skauto.history import History, Trial
from skauto.utils import IntArray, check_installed, scorer_function, scorer_is_loss, scorer_options

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

    AxesPair = Sequence[Axes] | NDArray[Any]

# Palette for color-blind readers: M. Okabe and K. Ito, "Color universal design", 2008. Its yellow
# is left out, because small yellow marks are hard to see on white.
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
RED, PURPLE, SKY, BLACK = "#D55E00", "#CC79A7", "#56B4E9", "#000000"
COLORS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK)
GRAY = "0.65"
# Low values are dark; the order is also visible in grayscale.
COLORMAP = "cividis"
MARKERS = ("o", "s", "^", "D", "v", "P")
# Inches.
WIDTH, HEIGHT, ROW_HEIGHT = 7.0, 4.0, 0.26
# Axes are logarithmic if the largest value exceeds the smallest one by this factor.
_LARGE_RATIO = 50.0


@dataclass(eq=False, repr=False)
class BaseDisplay(ABC):
    """Base class of the displays: a frame of data, and the axes it was drawn on.

    Warning: This class should not be used directly. Use its subclasses.
    """

    frame: "pd.DataFrame"
    ax_: "Axes" = field(init=False)
    axes_: "AxesPair" = field(init=False)
    figure_: "Figure | SubFigure" = field(init=False)

    # Parameters of `from_estimator` that choose the data of the frame.
    _choices: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the display of a fitted estimator.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            A fitted estimator.
        ax : matplotlib Axes or array-like of 2 matplotlib Axes, default=None
            Axes to draw on, two if the display has ``axes_``; None creates a figure.
        **kwargs : dict
            Parameters of the display that choose its data, and those of ``plot``.

        Returns
        -------
        display : BaseDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        choices = {name: kwargs.pop(name) for name in cls._choices if name in kwargs}
        return cls._of_estimator(estimator, **choices).plot(ax=ax, **kwargs)

    @classmethod
    def _of_estimator(cls, estimator: Any) -> Self:
        """Return the display of a fitted estimator before it is drawn."""
        raise NotImplementedError

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or array-like of 2 matplotlib Axes, default=None
            Axes to draw on, two if the display has ``axes_``; None creates a figure.

        Returns
        -------
        self : BaseDisplay
            The display with its artists.
        """

    def _make_axes(self, ax: "Axes | None", *, height: float = HEIGHT) -> "Axes":
        """Return the given axes, or those of a new figure."""
        check_installed(f"{type(self).__name__}.plot", "plot", "matplotlib")
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class HistoryDisplay(BaseDisplay):
    """Base class of the displays of the trials of a search.

    Warning: This class should not be used directly. Use its subclasses.
    """

    @classmethod
    def from_history(cls, history: History, *, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw a history, such as that of ``minimize``.

        Parameters
        ----------
        history : History
            The trials.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        **kwargs : dict
            Parameters of the display that choose its data, and those of ``plot``.

        Returns
        -------
        display : HistoryDisplay
            The drawn display.
        """
        choices = {name: kwargs.pop(name) for name in cls._choices if name in kwargs}
        return cls._of_history(history, **choices).plot(ax=ax, **kwargs)

    @classmethod
    @abstractmethod
    def _of_history(cls, history: History) -> Self:
        """Return the display of a history before it is drawn."""

    @classmethod
    def _of_estimator(cls, estimator: Any, **choices: Any) -> Self:
        return cls._of_history(estimator.history_, **choices)


def loss_name(estimator: Any) -> str:
    """Name the loss of a fitted estimator, such as "1 - accuracy" or "log loss"."""
    function = scorer_function(estimator.scorer_)
    if function is None:
        return "loss"
    name: str = function.__name__.removesuffix("_score").replace("_", " ")
    average = scorer_options(estimator.scorer_).get("average", "binary")
    name += "" if average == "binary" else f" {average}"
    return name if scorer_is_loss(estimator.scorer_) else f"1 - {name}"


def score_name(estimator: Any) -> str:
    """Name the score that the search maximized: "accuracy", "negative log loss"."""
    if scorer_function(estimator.scorer_) is None:
        return "score"
    name = loss_name(estimator)
    return f"negative {name}" if scorer_is_loss(estimator.scorer_) else name.removeprefix("1 - ")


def than_guessing(score: float, guess: float) -> str:
    """Compare a score that does not differ surely from that of guessing."""
    return "may be no better than" if score > guess else "is no better than"


def defined_scores(trial: Trial) -> list[float]:
    """Scores of a trial on the folds that have one, by the first scorer."""
    scores = next(iter(trial.fold_scores.values()), ())
    return [score for score in scores if not math.isnan(score)]


def mean_score(trial: Trial) -> float:
    """Mean score of a trial over the folds that have one; else NaN."""
    scores = defined_scores(trial)
    return float(np.mean(scores)) if scores else math.nan


def columns_read(reader: Any) -> IntArray:
    """Positions of the columns that the reader does not leave out."""
    if reader.columns_ is None:
        return np.arange(reader.n_features_in_)
    return np.flatnonzero([column.keep.any() for column in reader.columns_])


def column_names(estimator: Any) -> list[str]:
    """Names of the columns of the table."""
    numbers = [f"x{j}" for j in range(estimator.n_features_in_)]
    return list(getattr(estimator, "feature_names_in_", numbers))


def styles(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Assign a color and a marker to each different name, in the order of appearance."""
    return {
        name: (COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(dict.fromkeys(names))
    }


def is_wide(values: "pd.Series[float] | NDArray[Any]") -> bool:
    """Whether values are positive and span a range that needs a logarithmic axis."""
    return bool(
        len(values) > 0 and values.min() > 0 and values.max() > _LARGE_RATIO * values.min()
    )


def legend_outside(ax: "Axes") -> None:
    """Put the legend to the right of the axes."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small")


def check_choice(owner: type, name: str, value: object, choices: Sequence[str]) -> None:
    """Raise a ValueError if the parameter ``name`` of a class is not among the choices."""
    if value not in choices:
        raise ValueError(
            f"The '{name}' of {owner.__name__} must be one of {list(choices)}. "
            f"Got {value!r} instead."
        )
