"""The number of output columns of texts, by the rows of the table and the time limit."""

import math
from collections.abc import Sequence

import numpy as np

from skauto.data._table import Levels

# Maximum number of output columns and of cells (160 MB) of all name and text columns together.
_MAX_COLUMNS = 500
_MAX_CELLS = 20_000_000
# Cells for each second of the search: a fit on them takes a small part of it.
_CELLS_PER_SECOND = 50_000
# Share of the search in which texts are read, and the seconds that a column takes: for itself, for
# a different string, and for a character.
_SHARE = 1 / 3
_SECONDS_OF_COLUMN, _SECONDS_OF_LEVEL, _SECONDS_OF_CHARACTER = 0.02, 5e-5, 2e-6


def text_widths(
    columns: Sequence[Levels],
    n_rows: int,
    time_limit: float | None,
    requested: Sequence[bool] | None = None,
) -> list[int]:
    """Return the maximum number of outputs of each column of names or texts.

    A column that cannot be read in a third of the time limit (seconds; None is none) beside the
    cheaper ones, and beside those that are requested, has 0. The others have the same, at least 2.
    """
    limit = math.inf if time_limit is None else time_limit
    seconds = np.array([_seconds(column) for column in columns])
    first = np.array([False] * len(columns) if requested is None else requested, dtype=bool)
    order = np.lexsort((seconds, ~first))
    affordable = first.copy()
    affordable[order] |= np.cumsum(seconds[order]) <= _SHARE * limit
    cells = min(_MAX_CELLS, _CELLS_PER_SECOND * limit)
    n_outputs = min(_MAX_COLUMNS, int(cells) // max(1, n_rows))
    width = max(2, n_outputs // max(1, int(affordable.sum())))
    return [width if can else 0 for can in affordable.tolist()]


def _seconds(column: Levels) -> float:
    n_levels, n_characters = len(column.levels), sum(map(len, column.levels))
    seconds = _SECONDS_OF_LEVEL * n_levels + _SECONDS_OF_CHARACTER * n_characters
    return _SECONDS_OF_COLUMN + seconds
