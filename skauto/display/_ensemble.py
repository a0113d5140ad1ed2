"""The members of an ensemble: how much each counts, and how different they are."""

from sklearn.utils.validation import check_is_fitted

from skauto.display._base import (
    BLUE,
    COLORMAP,
    ROW_HEIGHT,
    BaseDisplay,
    algorithm_of,
)

# In larger matrices there is no room for the numbers.
_MAX_NUMBERED = 8


class EnsembleDisplay(BaseDisplay):
    """Weight of each member of an ensemble, and how different every two of them predict.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a member, with the columns "trial", "algorithm" (of the last step), "weight" and
        "loss".
    diversity : ndarray of shape (n_members, n_members)
        Diversity of each pair, see :func:`~skauto.selection.pairwise_diversity`.
    disagreement : float, default=None
        Share of the rows that two members label differently, on average over the pairs.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The weights.
    image_ : matplotlib AxesImage
        The diversity.
    axes_ : ndarray of 2 matplotlib Axes
        Where they are drawn.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    SearchHistoryDisplay : All the trials that could be members.

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

    def __init__(self, frame, *, diversity, disagreement=None):
        super().__init__(frame)
        self.diversity = diversity
        self.disagreement = disagreement

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the ensemble of a fitted estimator.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            A fitted one.
        ax : array-like of 2 matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : EnsembleDisplay
            What was drawn.
        """
        import pandas as pd

        check_is_fitted(estimator)
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
                "algorithm": [algorithm_of(trial) for trial in trials],
                "weight": list(weights.values()),
                "loss": [trial.loss for trial in trials],
            }
        )
        ensemble = estimator.ensemble_
        display = cls(frame, diversity=ensemble.diversity_, disagreement=ensemble.disagreement_)
        return display.plot(ax=ax)

    def plot(self, ax=None):
        """Draw weights on the left, diversity on the right.

        Parameters
        ----------
        ax : array-like of 2 matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self : EnsembleDisplay
            With its artists.
        """
        n = len(self.frame)
        width, height = max(8.5, 5.0 + ROW_HEIGHT * n), max(2.4, 1.4 + ROW_HEIGHT * n)
        left, right = self._make_axes(ax, 2, width=width, height=height)
        self.bars_ = left.barh(range(n), self.frame["weight"], color=BLUE, height=0.7)
        names = [f"{row.algorithm} #{row.trial}" for row in self.frame.itertuples()]
        left.set(xlabel="weight in the vote", ylim=(n - 0.5, -0.5))
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
            title += f"\n(on average two label {self.disagreement:.1%} of the rows differently)"
        right.set_title(title, fontsize="medium")
        self.figure_.colorbar(self.image_, ax=right, label="distance of probabilities")
        if n <= _MAX_NUMBERED:
            self._write_numbers(right, largest / 2)
        return self

    def _write_numbers(self, ax, middle):
        for i, row in enumerate(self.diversity):
            for j, value in enumerate(row):
                color = "white" if value <= middle else "black"
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", size=8, color=color)
