"""Copies of a table with the cells of one column taken from other rows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from skauto.utils import FloatArray, IntArray, n_rows

# Largest number of cells of the tables that are predicted by one call.
_MAX_CELLS = 2_000_000


def with_rows_of(X: Any, column: int, rows: IntArray) -> Any:
    """Return a copy of a table whose column, at a position, has the cells of other rows."""
    if sparse.issparse(X):
        columns: Any = X.tocsc()  # type: ignore[attr-defined]
        other = columns[:, [column]][rows]
        parts = [columns[:, :column], other, columns[:, column + 1 :]]
        return sparse.hstack(parts, format="csr")
    if isinstance(X, np.ndarray):
        changed = X.copy()
        changed[:, column] = X[rows, column]
        return changed
    if hasattr(X, "iloc"):
        changed = X.copy()
        changed.isetitem(column, X.iloc[rows, column].array)
        return changed
    frame = nw.from_native(X, eager_only=True)
    return frame.with_columns(frame[frame.columns[column]][rows]).to_native()


def predict_stacked(
    ensemble: Any, tables: Iterable[Any], n_columns: int
) -> Iterator[tuple[FloatArray, IntArray]]:
    """Yield probabilities and label codes of tables of equal size, many in each call."""
    waiting: list[Any] = []
    for table in tables:
        waiting.append(table)
        if (len(waiting) + 1) * n_rows(table) * n_columns > _MAX_CELLS:
            yield from _predict(ensemble, waiting)
            waiting = []
    if waiting:
        yield from _predict(ensemble, waiting)


def _predict(ensemble: Any, tables: Sequence[Any]) -> Iterator[tuple[FloatArray, IntArray]]:
    probabilities, decision = ensemble.read(_stacked(tables))
    labels = decision.labels(probabilities)
    parts = np.split(probabilities, len(tables)), np.split(labels, len(tables))
    yield from zip(*parts, strict=True)


def _stacked(tables: Sequence[Any]) -> Any:
    first = tables[0]
    if sparse.issparse(first):
        return sparse.vstack(tables, format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate(tables)
    if hasattr(first, "iloc"):
        from pandas import concat

        return concat(tables, ignore_index=True)
    return nw.concat([nw.from_native(table, eager_only=True) for table in tables]).to_native()
