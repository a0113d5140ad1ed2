"""Rows that share their class because they belong together, by the order or an identifier."""

import re
import warnings
from collections.abc import Iterator

import numpy as np

from skauto.data._identifiers import is_identifier_name
from skauto.data._notations import IDENTIFIED
from skauto.data._table import column_names, column_of, is_missing
from skauto.data._training import ReadTable
from skauto.exceptions import DependentRowsWarning
from skauto.utils import BoolArray, IntArray, level_of_caller

_ENTITY = re.compile(IDENTIFIED)
# Fewest rows that show a dependence, and the number of the first ones that are compared.
_MIN_ROWS, _MAX_ROWS = 100, 200_000
# Minimum number of different identifiers; a column of fewer is a category.
_MIN_IDENTIFIERS = 20
# Minimum lead of the pairs of one class over chance: its share of the largest lead, and its
# standard errors.
_MIN_LEAD, _MIN_ERRORS = 0.2, 5.0


def warn_of_dependent_rows(table: ReadTable) -> None:
    """Warn if neighboring rows share their class more often than by chance.

    Neighbors are rows that follow each other by a column of dates, that have the same identifier,
    or that follow each other in the table. Only the first of these is told.
    """
    y = table.y[:_MAX_ROWS]
    if len(y) < _MIN_ROWS:
        return
    frequencies = np.bincount(y) / len(y)
    chance = float(frequencies @ frequencies)
    for which, advice, order, pairs in _neighbors(table, len(y)):
        ordered = y[order]
        same = (ordered[1:] == ordered[:-1])[pairs]
        lead = float(same.mean()) - chance if same.size else 0.0
        error = np.sqrt(chance * (1 - chance) / max(same.size, 1))
        if lead > max(_MIN_LEAD * (1 - chance), _MIN_ERRORS * error):
            warnings.warn(
                f"Rows {which} have the same class in {chance + lead:.0%} of the pairs, and in "
                f"{chance:.0%} by chance. Random folds flatter the model if new rows {advice}.",
                DependentRowsWarning,
                stacklevel=level_of_caller(),
            )
            return


def _neighbors(
    table: ReadTable, n_rows: int
) -> Iterator[tuple[str, str, IntArray, BoolArray | slice]]:
    """Yield descriptions, an order of the first rows, and which successive pairs belong together.

    The descriptions are those of the pairs, and of new rows with what to do about them.
    """
    columns, start = table.reader.columns_ or [], 0
    named = column_names(table.X) is not None
    for j, column in enumerate(columns):
        if column.kind.name == "date" and column.keep[0]:
            days = table.Z[:n_rows, start]
            order = np.argsort(days, kind="stable")[: np.count_nonzero(~np.isnan(days))]
            key = repr(column.name) if named else j
            advice = f"are later: then pass cv=TimeSplit({key}) of skauto.data"
            yield f"that follow each other by {column.name!r}", advice, order, slice(None)
        start += int(column.keep.sum())
    for column in columns:
        name = column.name
        is_entity = is_identifier_name(name) or _ENTITY.fullmatch(name.lower())
        if is_entity and column.kind.name != "drop":
            cells = np.asarray(column_of(table.X, name), dtype=object)[:n_rows].tolist()
            if any(isinstance(cell, float) and cell % 1 > 0 for cell in cells):
                continue  # a measurement, such as "cons.price.idx"
            rows = np.array([i for i, cell in enumerate(cells) if not is_missing(cell)], dtype=int)
            levels, codes = np.unique([str(cells[i]) for i in rows], return_inverse=True)
            order = np.argsort(codes, kind="stable")
            if len(levels) >= _MIN_IDENTIFIERS:
                advice = f"have other values of it: then pass groups={name!r} to fit"
                yield f"of the same {name!r}", advice, rows[order], np.diff(codes[order]) == 0
    n_changes = np.count_nonzero(np.diff(table.y[:n_rows]))
    if n_changes >= 2 * len(table.classes):  # else the table is sorted by its class
        advice = (
            "are later, or of other entities: then pass cv=TimeSeriesSplit() of "
            "sklearn.model_selection, or the entities as groups to fit"
        )
        yield "that follow each other in the table", advice, np.arange(n_rows), slice(None)
