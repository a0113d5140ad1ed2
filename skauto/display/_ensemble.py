"""Plot of the weights and the diversity of the members of an ensemble."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from skauto.display._base import BLUE, COLORMAP, ROW_HEIGHT, BaseDisplay
from skauto.display._words import as_written
from skauto.utils import FloatArray, check_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from skauto.display._base import AxesPair

# Largest number of members for which the values of the matrix are written.
_MAX_NUMBERED = 8


@dataclass(eq=False, repr=False)
class EnsembleDisplay(BaseDisplay):
    """Weight of each member of an ensemble and diversity of each pair of members.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each member, with the columns "trial", "algorithm" (of the last step), "weight"
        and "loss".
    diversity : ndarray of shape (n_members, n_members)
        Diversity of each pair, see :func:`~skauto.selection.pairwise_diversity`.
    disagreement : float, default=None
        Mean share of rows that two members label differently.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The weights.
    image_ : matplotlib AxesImage
        The diversity.
    axes_ : ndarray of 2 matplotlib Axes
        Axes of the weights and of the diversity.
    figure_ : matplotlib Figure
        Figure of the axes.

    See Also
    --------
    SearchHistoryDisplay : All trials, members or not.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.plotting import EnsembleDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AutoClassifier("random", max_evals=4, cv=3, random_state=0).fit(X, y)
    >>> display = EnsembleDisplay.from_estimator(clf)
    >>> len(display.bars_) == len(clf.member_weights_)
    True
    """

    diversity: FloatArray = field(kw_only=True)
    disagreement: float | None = field(default=None, kw_only=True)

    @classmethod
    def _of_estimator(cls, estimator: Any) -> Self:
        import pandas as pd

        weights = estimator.member_weights_
        if not weights:
            raise ValueError(
                "EnsembleDisplay needs an ensemble with members. Nothing was fitted in time: give "
                "a longer time_limit."
            )
        trials = [estimator.history_[number] for number in weights]
        frame = pd.DataFrame(
            {
                "trial": list(weights),
                "algorithm": [trial.configuration.algorithm for trial in trials],
                "weight": list(weights.values()),
                "loss": [trial.loss for trial in trials],
            }
        )
        ensemble = estimator.ensemble_
        return cls(frame, diversity=ensemble.diversity_, disagreement=ensemble.disagreement_)

    def plot(self, ax: "AxesPair | None" = None) -> Self:
        n = len(self.frame)
        size = max(8.5, 5.0 + ROW_HEIGHT * n), max(3.0, 1.4 + ROW_HEIGHT * n)
        check_installed("EnsembleDisplay.plot", "plot", "matplotlib")
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(1, 2, figsize=size, sharey=True, layout="constrained")
        if len(ax) != 2:
            raise ValueError(f"The 'ax' of EnsembleDisplay.plot must hold 2 axes. Got {len(ax)}.")
        left, right = ax
        self.axes_, self.figure_ = ax, left.figure
        self.bars_ = left.barh(range(n), self.frame["weight"], color=BLUE, height=0.7)
        members = zip(self.frame["algorithm"], self.frame["trial"], strict=True)
        names = [as_written(f"{algorithm} #{trial}") for algorithm, trial in members]
        left.set(xlabel="weight in the ensemble", ylim=(n - 0.5, -0.5))
        left.set_yticks(range(n), names)
        largest = self.diversity.max() or 1.0
        self.image_ = right.imshow(
            self.diversity, cmap=COLORMAP, vmin=0.0, vmax=largest, aspect="auto"
        )
        numbers = [f"#{trial}" for trial in self.frame["trial"]]
        rotation = 90 if n > _MAX_NUMBERED else 0
        right.set_xticks(range(n), numbers, rotation=rotation, size="small")
        right.set_ylim(n - 0.5, -0.5)
        right.tick_params(axis="y", length=0)
        title = "diversity of the members"
        if self.disagreement is not None and n > 1:
            title += f"\n(two members label {self.disagreement:.1%} of the rows differently)"
        right.set_title(title, fontsize="medium")
        self.figure_.colorbar(self.image_, ax=right, label="distance of probabilities")
        if n <= _MAX_NUMBERED:
            self._write_numbers(right, largest / 2)
        return self

    def _write_numbers(self, ax: "Axes", middle: float) -> None:
        for i, row in enumerate(self.diversity):
            for j, value in enumerate(row):
                color = "white" if value <= middle else "black"
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", size=8, color=color)
