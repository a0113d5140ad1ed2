"""Splits in the order of a column of dates or numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import TimeSeriesSplit

from skauto.data._encoders import make_encoder
from skauto.data._kinds import requested_kind
from skauto.data._numbers import NumberFormat
from skauto.data._splits import Split
from skauto.data._table import Levels, Numbers, as_table, column_names, read_columns
from skauto.utils import closest


class TimeSplit(BaseEstimator):
    """Splitter whose validation rows are later than its training rows, by a column of the table.

    Use it as ``cv`` if the model will predict rows that are later than those of ``fit``: random
    folds would flatter it. The rows are ordered by the column, and
    :class:`sklearn.model_selection.TimeSeriesSplit` splits them: each fold trains on all rows
    before its validation rows. Rows of the same time are on one side.

    Parameters
    ----------
    column : str or int
        Name or position of a column of dates or numbers, also written as strings.
    n_splits : int, default=5
        Number of folds.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauto.data import TimeSplit
    >>> X = pd.DataFrame({"day": ["3/1/2024", "1/1/2024", "4/1/2024", "2/1/2024"], "x": 0})
    >>> [(train.tolist(), test.tolist()) for train, test in TimeSplit("day", 3).split(X)]
    [([1], [3]), ([1, 3], [0]), ([0, 1, 3], [2])]
    """

    def __init__(self, column: str | int, n_splits: int = 5) -> None:
        self.column = column
        self.n_splits = n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield the training and validation rows of each fold.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            The table.
        y, groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            Numbers of the rows.

        Raises
        ------
        ValueError
            If the column does not exist, holds no dates or numbers, or has missing values.
        """
        times = self._times(X)
        order = np.argsort(times, kind="stable")
        ordered = times[order]
        for train, test in TimeSeriesSplit(self.n_splits).split(order):
            before = train[ordered[train] < ordered[test[0]]]
            if before.size:  # else all earlier rows have the time of the first validation row
                yield np.sort(order[before]), np.sort(order[test])

    get_n_splits = TimeSeriesSplit.get_n_splits

    def _times(self, X: Any) -> NDArray[np.float64]:
        X = as_table(X)
        names = [str(name) for name in column_names(X) or []]
        if isinstance(self.column, str) and self.column not in names:
            raise ValueError(
                f"The 'column' of TimeSplit must be a column of X. Got {self.column!r}."
                + closest(self.column, names)
            )
        position = names.index(self.column) if isinstance(self.column, str) else self.column
        name = str(self.column)
        (cells,) = read_columns(X, {position: name})
        numeric = isinstance(cells, Numbers)
        if isinstance(cells, Levels):
            numeric = not np.isnan(NumberFormat.of(cells.levels).parse(cells.levels)).any()
        kind = requested_kind(cells, name, "numeric" if numeric else "date")
        values = make_encoder(kind, cells, 0).encode(cells, name).rows(0, X.shape[0])[:, 0]
        if n_missing := int(np.isnan(values).sum()):
            raise ValueError(
                f"The column {name!r} of TimeSplit must have a time in every row. Got "
                f"{n_missing} rows without one; drop them, or fill them."
            )
        return values
