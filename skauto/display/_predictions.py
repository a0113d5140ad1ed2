"""Predicted probabilities and labels of some rows, with their true classes."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from skauto.data._table import column_names
from skauto.exceptions import RowsOfFitWarning, UnreadableCellsWarning
from skauto.selection._intervals import Answers, Truth
from skauto.utils import FloatArray, IntArray, n_rows, row_hashes, take_rows, warn

# Rows that are compared with those of `fit`.
_MAX_COMPARED = 1_000


@dataclass(frozen=True)
class LabeledPredictions:
    """Probabilities by class, predicted class codes and true class codes of some rows.

    `rows` are their numbers among the rows of ``fit`` whose weight is not 0; None for other rows.
    """

    probabilities: FloatArray
    labels: IntArray
    truth: IntArray
    classes: NDArray[Any]
    rows: IntArray | None = None

    @classmethod
    def out_of_fold(cls, estimator: Any) -> "LabeledPredictions | None":
        """Return the out-of-fold predictions of the ensemble; None if it has none."""
        history = estimator.history_
        if history.goal.targets is None or estimator._out_of_fold is None:
            return None
        ensemble = estimator._out_of_fold
        total, rows = ensemble.predictions, ensemble.rows
        decision = estimator.ensemble_.decision_
        probabilities = decision.scale(total[rows] / total[rows].sum(axis=1, keepdims=True))
        labels = estimator._out_of_fold_labels[rows]
        return cls(probabilities, labels, history.goal.targets[rows], estimator.classes_, rows)

    @classmethod
    def held_out(cls, estimator: Any, X: Any, y: NDArray[Any]) -> "LabeledPredictions":
        """Predict held-out rows; a class that ``fit`` has not seen raises a ValueError."""
        classes, y = estimator.classes_, column_or_1d(y)
        check_consistent_length(X, y)
        unknown = np.setdiff1d(y, classes)
        if len(unknown):
            raise ValueError(
                f"The 'y' of held-out rows must hold classes of fit, {classes.tolist()}. Got "
                f"{unknown.tolist()[0]!r}."
            )
        found = answers_of(estimator, X)
        return cls(found.probabilities, found.labels, np.searchsorted(classes, y), classes)

    @property
    def answers(self) -> Answers:
        """Probabilities and labels, for scores."""
        return Answers(self.probabilities, self.labels)

    def truth_of(self, weight: FloatArray | None, X: Any = None) -> Truth:
        """True classes, for scores; weight and table are those of all rows, or None."""
        if self.rows is not None:
            weight = None if weight is None else weight[self.rows]
            X = None if X is None else take_rows(X, self.rows)
        return Truth(self.truth, self.classes, weight, X)

    @property
    def binary(self) -> bool:
        """Whether there are two classes."""
        return len(self.classes) == 2


def answers_of(estimator: Any, X: Any) -> Answers:
    """Predict rows: probabilities and codes of the labels."""
    probabilities, decision = estimator.ensemble_.read(X)
    return Answers(probabilities, decision.labels(probabilities))


def name_of_classes(y: Any) -> str | None:
    """Return the name of a series, or of the column of a table; None if it has none."""
    names = column_names(y)
    name = getattr(y, "name", None) if names is None else names[0]
    return str(name) if isinstance(name, str | int) and name != "" else None


def sample_of(X: Any, size: int) -> Any:
    """Return a table, or a random sample of its rows if it has more of them."""
    if n_rows(X) <= size:
        return X
    return take_rows(X, np.sort(check_random_state(0).choice(n_rows(X), size, replace=False)))


def are_rows_of_fit(estimator: Any, X: Any, consequence: str) -> bool:
    """Whether most of the rows are rows of ``fit``; then a warning says so.

    New rows can be equal to rows of ``fit`` by chance. Their share is that of the rows of ``fit``
    that are equal to others.
    """
    # The ensemble has read the same rows.
    with warnings.catch_warnings(action="ignore", category=UnreadableCellsWarning):
        reader = estimator.reader_
        Z = reader.without_scores(reader.transform(sample_of(X, _MAX_COMPARED)))
    rows, counts = np.unique(estimator._row_hashes, return_counts=True)
    by_chance = counts[counts > 1].sum() / counts.sum()
    share = np.isin(row_hashes(Z), rows).mean()
    if share - by_chance <= (1.0 - by_chance) / 2.0:
        return False
    warn(
        f"The rows given are rows of fit, {share:.0%} of them. {consequence} Give rows that fit "
        "has not seen.",
        RowsOfFitWarning,
    )
    return True
