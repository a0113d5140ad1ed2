"""Plot of recall and precision by the share of flagged rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from skauto.display._base import BLACK, BLUE, ORANGE, BaseDisplay, legend_outside
from skauto.display._words import as_written

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class OperatingPointDisplay(BaseDisplay):
    """Recall and precision of a class by the share of rows that are predicted as the class.

    They are measured on the out-of-fold predictions. A dashed line is the operating point that
    ``choose_operating_point`` has chosen for the class.

    Parameters
    ----------
    frame : pandas.DataFrame
        Result of ``operating_points()`` of an estimator.
    chosen : float, default=None
        Share of flagged rows of the chosen operating point.
    pos_label : object, default=None
        The class, for the label of the axis.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        Recall and precision.
    chosen_line_ : matplotlib Line2D or None
        The operating point.
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skauto import AutoClassifier
    >>> from skauto.plotting import OperatingPointDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = AutoClassifier(max_evals=3, cv=3, random_state=0).fit(X, y)
    >>> clf = clf.choose_operating_point(recall=0.99)
    >>> display = OperatingPointDisplay.from_estimator(clf)
    >>> bool(display.chosen == clf.operating_point_["flagged"])
    True
    """

    chosen: float | None = None
    pos_label: Any = None

    _choices = ("pos_label",)

    @classmethod
    def _of_estimator(cls, estimator: Any, pos_label: Any = None) -> Self:
        point = estimator.operating_point_ or {}
        if pos_label is None:
            pos_label = point.get("pos_label")
        frame = estimator.operating_points(pos_label)
        label = estimator.classes_.tolist()[estimator._position(pos_label)]
        of_class = point.get("pos_label") == label
        return cls(frame, point["flagged"] if of_class else None, label)

    def plot(self, ax: "Axes | None" = None) -> Self:
        ax = self._make_axes(ax)
        self.lines_ = [
            ax.plot(self.frame["flagged"], self.frame[name], color=color, label=name)[0]
            for name, color in (("recall", BLUE), ("precision", ORANGE))
        ]
        self.chosen_line_ = None
        if self.chosen is not None:
            label = "operating point"
            self.chosen_line_ = ax.axvline(self.chosen, color=BLACK, linestyle="--", label=label)
        label = "" if self.pos_label is None else f" as {as_written(self.pos_label)}"
        ax.set(xlabel=f"share of rows flagged{label}", xlim=(0, 1), ylim=(0, 1.02))
        legend_outside(ax)
        return self
