"""Copies of a table with the cells of one column taken from other rows."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from skauto.utils import IntArray


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
