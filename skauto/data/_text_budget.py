"""The number of output columns of texts, by the rows of the table and the limits of the reader."""

import math
from collections.abc import Sequence

import numpy as np

from skauto.data._table import Levels

# Maximum number of output columns and of cells (160 MB) of all name and text columns together.
_MAX_COLUMNS = 500
_MAX_CELLS = 20_000_000
# Predicted seconds of a column: for itself, for a different string, and for a character.
_SECONDS_OF_COLUMN, _SECONDS_OF_LEVEL, _SECONDS_OF_CHARACTER = 0.02, 5e-5, 2e-6


def text_widths(
    columns: Sequence[Levels],
    n_rows: int,
    seconds: float | None,
    max_cells: float | None,
    requested: Sequence[bool] | None = None,
) -> list[int]:
    """Return the maximum number of outputs of each column of names or texts.

    A column that cannot be read in these seconds (None is no limit) beside the cheaper ones, and
    beside those that are requested, has 0. The others have the same, at least 2.
    """
    predicted = np.array([_seconds(column) for column in columns])
    first = np.array([False] * len(columns) if requested is None else requested, dtype=bool)
    order = np.lexsort((predicted, ~first))
    affordable = first.copy()
    affordable[order] |= np.cumsum(predicted[order]) <= (math.inf if seconds is None else seconds)
    cells = _MAX_CELLS if max_cells is None else min(_MAX_CELLS, int(max_cells))
    n_outputs = min(_MAX_COLUMNS, cells // max(1, n_rows))
    width = max(2, n_outputs // max(1, int(affordable.sum())))
    return [width if can else 0 for can in affordable.tolist()]


def _seconds(column: Levels) -> float:
    n_levels, n_characters = len(column.levels), sum(map(len, column.levels))
    seconds = _SECONDS_OF_LEVEL * n_levels + _SECONDS_OF_CHARACTER * n_characters
    return _SECONDS_OF_COLUMN + seconds
