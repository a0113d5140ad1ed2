"""Plot of the permutation importance of the columns."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skauto.display._base import (
    BLUE,
    ROW_HEIGHT,
    BaseDisplay,
    column_names,
    columns_read,
    score_name,
)
from skauto.display._words import as_written
from skauto.inspection import cross_validated_importance

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Longest label of a bar, in characters.
_MAX_NAME = 40


@dataclass(eq=False, repr=False)
class PermutationImportanceDisplay(BaseDisplay):
    """Permutation importance of the raw columns, the most important column first.

    A bar is the mean loss of score over folds and repetitions; its line is the standard deviation.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each column of the table: "column", "mean" and "std".
    score_name : str, default="score"
        Label of the score.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The bars, in the order of ``shown_``.
    shown_ : pandas.DataFrame
        The drawn columns.
    ax_ : matplotlib Axes
        Axes of the bars.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauto.plotting import PermutationImportanceDisplay
    >>> frame = pd.DataFrame({"column": ["age", "city"], "mean": [0.02, 0.2], "std": [0.01, 0.05]})
    >>> display = PermutationImportanceDisplay(frame, score_name="accuracy").plot()
    >>> display.shown_["column"].tolist()
    ['city', 'age']
    """

    score_name: str = field(default="score", kw_only=True)

    @classmethod
    def from_estimator(  # type: ignore[override]  # needs the table
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        n_repeats: int = 5,
        random_state: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the importance of the columns on the validation rows of each fold.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            Fitted on ``X`` and ``y``. Its members are refitted in each fold.
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,)
            Classes.
        n_repeats : int, default=5
            Permutations of each column in each fold.
        random_state : int, RandomState instance or None, default=None
            Seed of the folds and the permutations.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.

        Returns
        -------
        display : PermutationImportanceDisplay
            The drawn display.
        """
        result = cross_validated_importance(
            estimator, X, y, n_repeats=n_repeats, random_state=random_state
        )
        return cls.from_result(estimator, result).plot(ax=ax)

    @classmethod
    def from_result(cls, estimator: Any, result: Any) -> Self:
        """Build the display from a computed importance, without drawing it.

        Columns that the model does not read are left out.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            The fitted estimator.
        result : Bunch
            Result of :func:`skauto.inspection.cross_validated_importance` or
            :func:`sklearn.inspection.permutation_importance`.

        Returns
        -------
        display : PermutationImportanceDisplay
            The display; call ``plot``.
        """
        import pandas as pd

        frame = pd.DataFrame(
            {
                "column": column_names(estimator),
                "mean": result.importances_mean,
                "std": result.importances_std,
            }
        )
        frame = frame.iloc[columns_read(estimator.reader_)].reset_index(drop=True)
        return cls(frame, score_name=score_name(estimator))

    def plot(self, ax: "Axes | None" = None, max_columns: int = 20) -> Self:
        """Draw a bar for each column.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        max_columns : int, default=20
            Largest number of columns that are drawn.

        Returns
        -------
        self : PermutationImportanceDisplay
            The display with its artists.
        """
        order = self.frame.sort_values("mean", ascending=False, kind="stable")
        self.shown_ = order.head(max_columns).reset_index(drop=True)
        ax = self._make_axes(ax, height=1.2 + ROW_HEIGHT * len(self.shown_))
        rows = np.arange(len(self.shown_))
        self.bars_ = ax.barh(
            rows, self.shown_["mean"], xerr=self.shown_["std"], color=BLUE, ecolor="0.3"
        )
        ax.set_yticks(rows, [as_written(str(n)[:_MAX_NAME]) for n in self.shown_["column"]])
        ax.invert_yaxis()
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.set_xlabel(f"loss of {as_written(self.score_name)} when permuted")
        ax.grid(axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        return self
