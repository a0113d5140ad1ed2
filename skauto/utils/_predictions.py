"""Stored predictions with the interface of a fitted classifier."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from skauto.utils._compat import n_rows
from skauto.utils._types import IntArray


@dataclass(eq=False, repr=False)
class Predictions(ClassifierMixin, BaseEstimator):
    """A fitted classifier that returns stored probabilities (n_samples, n_classes).

    With it, any scikit-learn scorer can score out-of-fold predictions and ensembles. `labels` are
    the class codes of the output of ``predict``; None for the most probable class. `X` are the
    predicted rows: the predictions of some of them, in any order, can be asked for, and other rows
    raise a ValueError. Without `X`, the predictions are returned for any input.
    """

    probabilities: NDArray[Any]
    classes: NDArray[Any]
    labels: NDArray[np.integer[Any]] | None = None
    X: Any = None

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels."""
        return self.classes

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the stored probabilities of the rows."""
        return self.probabilities[self._rows(X)]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the stored labels of the rows, or the first ones of largest probability."""
        labels = np.argmax(self.probabilities, axis=1) if self.labels is None else self.labels
        return self.classes_[labels[self._rows(X)]]

    def _rows(self, X: Any) -> IntArray | slice:
        """Find rows among the predicted ones, by their content and their label in an index."""
        if self.X is None or X is self.X:
            return slice(None)
        tables = (self.X, X)
        if any(n_rows(table) == 0 for table in tables):
            raise ValueError(_refusal("no rows"))
        named = all(_names(table) is not None for table in tables)
        labeled = all(hasattr(table, "iloc") for table in tables)
        for with_labels in [True, False] if labeled else [False]:
            known, asked = (_row_keys(table, named, with_labels) for table in tables)
            if known == asked:
                return slice(None)
            first: dict[Any, int] = {}
            firsts = [first.setdefault(key, i) for i, key in enumerate(known)]
            if all(key in first for key in asked):
                return self._unambiguous(firsts, [first[key] for key in asked])
        n_unknown = sum(key not in first for key in asked)
        raise ValueError(_refusal(f"{n_unknown} of {len(asked)} rows that are not in X"))

    def _unambiguous(self, firsts: list[int], rows: list[int]) -> IntArray:
        """Return `rows`; refuse equal rows with two predictions. `firsts` are the equal rows."""
        same = np.all(self.probabilities == self.probabilities[firsts], axis=1)
        if self.labels is not None:
            same &= self.labels == self.labels[firsts]
        if set(np.array(firsts)[~same]) & set(rows):
            raise ValueError(_refusal("rows that occur in X twice, with two predictions"))
        return np.array(rows, dtype=np.intp)


def _refusal(got: str) -> str:
    return (
        "The function called predict or predict_proba of an estimator that holds the out-of-fold "
        "predictions of the rows of X. It can be asked for these rows only, or some of them, "
        f"because no model is fitted. Got {got}; pass X, or rows of X, as they are."
    )


def _row_keys(X: Any, named: bool, labeled: bool) -> list[Any]:
    """Return a hashable key of each row: its content, its label in an index, column names."""
    names = _names(X)
    if named and names is not None:
        names = sorted(names, key=str)
        columns = [_cells(X[name]) for name in names]
    else:
        is_sparse = sparse.issparse(X)  # no type narrowing
        cells = X.toarray() if is_sparse else np.asarray(X, dtype=object)
        names, columns = [], [_cells(column) for column in cells.reshape(len(cells), -1).T]
    labels = X.index.tolist() if labeled else [None] * n_rows(X)
    rows = zip(*columns, strict=True)
    return [(label, *names, *row) for label, row in zip(labels, rows, strict=True)]


def _names(X: Any) -> list[Any] | None:
    """Return the names of the columns of a dataframe; None for other tables."""
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    return None if names is None else list(names)


def _cells(column: Any) -> list[Any]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else np.asarray(column, object)
    return [_cell(value) for value in values]


def _cell(value: Any) -> Any:
    """Return a value that is hashable and equal to itself."""
    try:
        return value if value == value and hash(value) is not None else str(value)
    except TypeError:  # such as pandas.NA, and lists
        return str(value)
