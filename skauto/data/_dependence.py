"""Rows that share their class because they belong together, and columns that follow from it."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skauto.data._identifiers import is_identifier_name
from skauto.data._notations import IDENTIFIED
from skauto.data._table import column_names, column_of, is_missing
from skauto.data._training import ReadTable
from skauto.exceptions import DependentRowsWarning, TargetWarning
from skauto.utils import BoolArray, FloatArray, IntArray, row_hashes, warn

_ENTITY = re.compile(IDENTIFIED)
# Fewest rows that show a dependence, and the number of the first ones that are compared.
_MIN_ROWS, _MAX_ROWS = 100, 200_000
# Minimum number of different identifiers; a column of fewer is a category.
_MIN_IDENTIFIERS = 20
# Minimum lead of the pairs of one class over chance: its share of the largest lead, and its
# standard errors.
_MIN_LEAD, _MIN_ERRORS = 0.2, 5.0
# Rows are copies if at most this share of them differ, and at least this share of the different
# ones have a value of their own in some column; else rows may be equal by chance.
_MAX_DIFFERENT, _MIN_OWN = 0.95, 0.5
# A column tells a class if its values, of this number of rows on average, leave this share of the
# errors of a constant answer; on evenly spaced rows with about this number of cells.
_ROWS_PER_VALUE, _MAX_ERRORS, _MAX_CELLS = 20, 0.02, 1_000_000


def warn_of_dependent_rows(table: ReadTable) -> None:
    """Warn if neighboring rows share their class more often than by chance.

    Neighbors are rows that follow each other by a column of dates, that have the same identifier,
    that are copies, or that follow each other in the table. Only the first of these is told.
    """
    y = table.y[:_MAX_ROWS]
    if len(y) < _MIN_ROWS:
        return
    for which, advice, order, pairs in _neighbors(table, len(y)):
        ordered = y[order]
        frequencies = np.bincount(ordered) / max(1, len(ordered))
        chance = float(frequencies @ frequencies)
        same = (ordered[1:] == ordered[:-1])[pairs]
        lead = float(same.mean()) - chance if same.size else 0.0
        error = np.sqrt(chance * (1 - chance) / max(same.size, 1))
        if lead > max(_MIN_LEAD * (1 - chance), _MIN_ERRORS * error):
            warn(
                f"Rows {which} have the same class in {chance + lead:.0%} of the pairs, and in "
                f"{chance:.0%} by chance. Random folds flatter the model if new rows {advice}.",
                DependentRowsWarning,
            )
            return


def _neighbors(
    table: ReadTable, n_rows: int
) -> Iterator[tuple[str, str, IntArray, BoolArray | slice]]:
    """Yield descriptions, an order of the first rows, and which successive pairs belong together.

    The descriptions are those of the pairs, and of new rows with what to do about them.
    """
    columns = table.reader.columns_ or []
    named = column_names(table.X) is not None
    for j, (column, outputs) in enumerate(zip(columns, _outputs(table, table.Z), strict=True)):
        if column.kind.name == "date" and column.keep[0]:
            days = outputs[:n_rows, 0]
            order = np.argsort(days, kind="stable")[: np.count_nonzero(~np.isnan(days))]
            key = repr(column.name) if named else j
            advice = f"are later: then pass cv=TimeSplit({key}) of skauto.data"
            yield f"that follow each other by {column.name!r}", advice, order, slice(None)
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
    different, first, codes = np.unique(
        table.hashes[:n_rows], return_index=True, return_inverse=True
    )
    if len(different) <= _MAX_DIFFERENT * n_rows and _have_own_values(table.Z[first]):
        advice = "are no copies: then pass each once, and the number of copies as sample_weight"
        order = np.argsort(codes, kind="stable")
        yield "with the same cells", advice, order, np.diff(codes[order]) == 0
    n_changes = np.count_nonzero(np.diff(table.y[:n_rows]))
    if n_changes >= 2 * len(table.classes):  # else the table is sorted by its class
        advice = (
            "are later, or of other entities: then pass cv=TimeSeriesSplit() of "
            "sklearn.model_selection, or the entities as groups to fit"
        )
        yield "that follow each other in the table", advice, np.arange(n_rows), slice(None)


def _have_own_values(Z: Any) -> bool:
    """Whether most of the rows, which differ, have a value of their own in one column."""
    return not issparse(Z) and any(len(np.unique(z)) >= _MIN_OWN * len(z) for z in Z.T)


def _outputs(table: ReadTable, Z: FloatArray) -> list[FloatArray]:
    """Split a matrix of outputs into those of each column of the table; none if it is sparse."""
    columns = table.reader.columns_ or []
    ends = np.cumsum([int(column.keep.sum()) for column in columns])
    return np.split(Z, ends, axis=1)[:-1] if columns else []


def warn_of_telling_columns(table: ReadTable) -> None:
    """Warn of columns that tell a class alone, as those do that follow from it."""
    n_rows = min(len(table.y), _MAX_CELLS // table.Z.shape[1])
    if n_rows < _MIN_ROWS or issparse(table.Z):
        return
    rows = np.linspace(0, len(table.y) - 1, n_rows).astype(int)
    Z = np.nan_to_num(table.Z[rows], nan=np.inf)
    ascending = np.sort(Z, axis=0)
    repeat = (ascending[_ROWS_PER_VALUE:] == ascending[:-_ROWS_PER_VALUE]).any(axis=0)
    is_class = (table.y[rows, None] == np.arange(len(table.classes))).astype(float)
    blocks = zip(_outputs(table, Z), _outputs(table, repeat[None]), strict=True)
    told = [j for j, (z, repeats) in enumerate(blocks) if np.any(repeats) and _tells(z, is_class)]
    if told:
        names = [table.reader.columns_[j].name for j in told]  # type: ignore[index]
        key = repr(names[0]) if column_names(table.X) is not None else told[0]
        warn(
            f"A class is told by the column {', '.join(map(repr, names))} alone, in nearly all "
            "rows. If a column follows from the class, or is not known before it, the scores are "
            f"too high for new rows: leave it out, by column_kinds={{{key}: 'drop'}}.",
            TargetWarning,
        )


def _tells(outputs: FloatArray, is_class: FloatArray) -> bool:
    """Whether the values of a column, or the most frequent one, tell the rows of a class."""
    values = outputs[:, 0] if outputs.shape[1] == 1 else row_hashes(outputs)
    found, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(found) > len(codes) / _ROWS_PER_VALUE:
        codes = (codes == counts.argmax()).astype(int)
    inside = np.array([np.bincount(codes, column) for column in is_class.T])
    outside = np.bincount(codes) - inside
    errors = np.minimum(inside, outside).sum(axis=1)
    guess = np.minimum(inside.sum(axis=1), outside.sum(axis=1))
    return bool(((guess >= _ROWS_PER_VALUE) & (errors <= _MAX_ERRORS * guess)).any())
