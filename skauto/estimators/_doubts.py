"""What `fit` doubts: rows that belong together, columns that follow from the class, and labels."""

import re
from collections.abc import Iterator

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.cluster import contingency_matrix

from skauto.data._identifiers import is_identifier_name
from skauto.data._notations import CSV_NULLS, IDENTIFIED, spellings
from skauto.data._reader import ColumnReader
from skauto.data._table import Numbers, as_levels, column_names, column_of, read_columns
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
_ROWS_PER_VALUE, _MAX_ERRORS, _MAX_CELLS = 20, 0.02, 300_000
_MAX_DOUBTS = 5


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
    named = column_names(table.X) is not None
    for j, (column, outputs) in enumerate(_outputs(table)):
        if column.kind.name == "date" and column.keep[0]:
            days = outputs[:n_rows, 0]
            order = np.argsort(days, kind="stable")[: np.count_nonzero(~np.isnan(days))]
            key = repr(column.name) if named else j
            advice = f"are later: then pass cv=TimeSplit({key}) of skauto.data"
            yield f"that follow each other by {column.name!r}", advice, order, slice(None)
    for j, column in enumerate(table.reader.columns_ or []):
        name = column.name
        is_entity = is_identifier_name(name) or _ENTITY.fullmatch(name.lower())
        if is_entity and column.kind.name != "drop":
            (cells,) = read_columns(table.X, {j: name})
            if isinstance(cells, Numbers) and (cells.values % 1 > 0).any():
                continue  # a measurement, such as "cons.price.idx"
            codes = as_levels(cells).codes[:n_rows]
            order = np.argsort(codes, kind="stable")[np.count_nonzero(codes < 0) :]
            if codes.max() >= _MIN_IDENTIFIERS - 1:
                advice = f"have other values of it: then pass groups={name!r} to fit"
                yield f"of the same {name!r}", advice, order, np.diff(codes[order]) == 0
    hashes = table.hashes[:n_rows]
    order, (_, first) = np.argsort(hashes), np.unique(hashes, return_index=True)
    if len(first) <= _MAX_DIFFERENT * n_rows and not issparse(table.Z):
        n_own = max(len(np.unique(values)) for values in table.Z[first].T)
        if n_own >= _MIN_OWN * len(first):
            advice = (
                "are no copies: then pass each once, and the number of copies as sample_weight"
            )
            yield "with the same cells", advice, order, hashes[order[1:]] == hashes[order[:-1]]
    n_changes = np.count_nonzero(np.diff(table.y[:n_rows]))
    if n_changes >= 2 * len(table.classes):  # else the table is sorted by its class
        advice = (
            "are later, or of other entities: then pass cv=TimeSeriesSplit() of "
            "sklearn.model_selection, or the entities as groups to fit"
        )
        yield "that follow each other in the table", advice, np.arange(n_rows), slice(None)


def _outputs(table: ReadTable) -> Iterator[tuple[ColumnReader, FloatArray]]:
    """Yield the columns of a table with their outputs."""
    start = 0
    for column in table.reader.columns_ or []:
        stop = start + int(column.keep.sum())
        yield column, table.Z[:, start:stop]
        start = stop


def check_target(table: ReadTable, target: str | None = None) -> None:
    """Refuse the target, of this name, as a column; warn of labels and columns in doubt.

    Such columns tell a class alone, or have the name of the target. Such labels mean a missing
    class, or differ only by case and spaces.
    """
    target = target if target in (column_names(table.X) or []) else None
    n_rows = min(len(table.y), _MAX_CELLS // table.Z.shape[1])
    rows = np.linspace(0, len(table.y) - 1, n_rows).astype(int)
    told = [
        column.name
        for column, outputs in _outputs(table)
        if outputs.size
        and (
            column.name == target or (n_rows >= _MIN_ROWS and _tells(outputs[rows], table.y[rows]))
        )
    ]
    same = target in told and column_of(table.X, str(target))
    if np.array_equal(np.asarray(same), table.classes[table.y]):
        raise ValueError(
            f"X must not hold the class of each row. Its column {target!r} is y; leave it out, "
            f"for instance by X.drop(columns={target!r}) in pandas, or by column_kinds="
            f"{{{target!r}: 'drop'}}."
        )
    doubts = [
        f"column {name!r} tells a class alone or has the name of y; if it is not known before y, "
        f"the scores are too high: leave it out by column_kinds={{{name!r}: 'drop'}}"
        for name in told
    ]
    labels = [label for label in table.classes.tolist() if isinstance(label, str)]
    same_class = [" and ".join(map(repr, group)) for group in spellings(labels) if len(group) > 1]
    doubts += [f"the labels {group} differ only by case or spaces" for group in same_class]
    doubts += [f"the label {x!r} means a missing class" for x in labels if x in CSV_NULLS]
    if doubts:
        warn(f"Check what is predicted: {'; '.join(doubts[:_MAX_DOUBTS])}.", TargetWarning)


def _tells(outputs: FloatArray, y: IntArray) -> bool:
    """Whether the values of a column, or the most frequent one, tell the rows of a class."""
    values = outputs[:, 0] if outputs.shape[1] == 1 else row_hashes(outputs)
    inside = contingency_matrix(y, values)
    if inside.shape[1] > len(y) / _ROWS_PER_VALUE:
        usual = inside[:, [inside.sum(axis=0).argmax()]]
        inside = np.hstack([usual, inside.sum(axis=1, keepdims=True) - usual])
    outside = inside.sum(axis=0) - inside
    errors = np.minimum(inside, outside).sum(axis=1)
    guess = np.minimum(inside.sum(axis=1), outside.sum(axis=1))
    return bool(((guess >= _ROWS_PER_VALUE) & (errors <= _MAX_ERRORS * guess)).any())
