"""Plot of the effect of each algorithm on loss and time."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from skauto.display._base import BLUE, RED, ROW_HEIGHT, BaseDisplay, loss_name, record_of, rows_of
from skauto.display._words import as_written

if TYPE_CHECKING:
    import pandas as pd

    from skauto.display._base import AxesPair


@dataclass(eq=False, repr=False)
class EffectsDisplay(BaseDisplay):
    """Effect of each algorithm on the loss and the seconds, with ``strategy="flash"``.

    The bars are the weights of the linear models of FLASH. Algorithms are grouped by step and
    sorted by their effect on the loss; negative effects are improvements. The number of trials is
    in brackets. Algorithms without a trial are left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each algorithm: the attribute ``effects_`` of
        :class:`~skauto.strategies.FLASH` as a table.
    loss_name : str, default="loss"
        Label of the loss.

    Attributes
    ----------
    bars_ : list of 2 matplotlib BarContainer
        Effects on the loss and on the seconds, in the order of ``shown_``.
    shown_ : pandas.DataFrame
        The drawn algorithms. The column "y" is their vertical position.
    axes_ : ndarray of 2 matplotlib Axes
        Axes of the loss and of the seconds.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauto.plotting import EffectsDisplay
    >>> effects = {"step": ["classifier"] * 2, "algorithm": ["lda", "svm"], "n_trials": [3, 4],
    ...            "loss": [-0.02, 0.01], "seconds": [-0.5, 1.0]}
    >>> display = EffectsDisplay(pd.DataFrame(effects), loss_name="1 - accuracy").plot()
    >>> [ax.get_xlabel() for ax in display.axes_]
    ['change of 1 - accuracy', 'change of the time [s]']
    """

    loss_name: str = field(default="loss", kw_only=True)

    @classmethod
    def _of_estimator(cls, estimator: Any) -> Self:
        frame = record_of(estimator, cls, "effects_", "flash")
        return cls(frame, loss_name=loss_name(estimator))

    def plot(self, ax: "AxesPair | None" = None) -> Self:
        shown, headings = _in_rows(self.frame[self.frame["n_trials"] > 0])
        self.shown_ = shown
        n_rows = len(shown) + len(headings)
        axes = self._make_axes_pair(ax, width=8.5, height=1.0 + 0.8 * ROW_HEIGHT * n_rows)
        labels = [f"change of {as_written(self.loss_name)}", "change of the time [s]"]
        self.bars_ = []
        for one, column, label in zip(axes, ("loss", "seconds"), labels, strict=True):
            colors = [BLUE if value < 0 else RED for value in shown[column]]
            self.bars_.append(one.barh(shown["y"], shown[column], color=colors, height=0.75))
            one.axvline(0.0, color="black", linewidth=0.8)
            one.set(xlabel=label, ylim=(n_rows - 0.4, -0.6))
            one.grid(axis="x", alpha=0.3)
            one.set_axisbelow(True)
            one.tick_params(axis="y", length=0)
        names = [f"{row.algorithm} ({row.n_trials})" for row in rows_of(shown)]
        axes[0].set_yticks(
            [*headings.values(), *shown["y"]], [as_written(name) for name in (*headings, *names)]
        )
        for text in axes[0].get_yticklabels()[: len(headings)]:
            text.set_fontweight("bold")
        axes[0].tick_params(axis="y", labelsize="small")
        return self


def _in_rows(frame: "pd.DataFrame") -> "tuple[pd.DataFrame, dict[str, int]]":
    """Assign a row to the heading of each step and to its algorithms, the best first."""
    import pandas as pd

    headings: dict[str, int] = {}
    rows: list[pd.DataFrame] = []
    for step, own in frame.groupby("step", sort=False):
        start = len(headings) + sum(map(len, rows))
        headings[str(step)] = start
        own = own.sort_values("loss", kind="stable")
        rows.append(own.assign(y=range(start + 1, start + 1 + len(own))))
    return pd.concat(rows, ignore_index=True), headings
