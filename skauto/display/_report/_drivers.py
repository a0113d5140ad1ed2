"""Which columns drive the answers: sampled permutation importance, and directions."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from skauto.data._table import Cells, Levels, Numbers, read_columns, text_of
from skauto.display._base import column_names, columns_read
from skauto.display._predictions import answers_of
from skauto.display._report._evidence import (
    HELD_OUT,
    MAX_ROWS,
    OUT_OF_FOLD,
    WITHOUT_CLASSES,
    Evidence,
)
from skauto.display._report._permuted import with_rows_of
from skauto.display._report._verdict import name_of_score
from skauto.exceptions import UnreadableCellsWarning
from skauto.selection._intervals import Answers, score_answers
from skauto.utils import FloatArray, IntArray, take_rows

# Rows that are predicted: as many as the model predicts in these seconds, and at least some.
_SECONDS = 2.0
_MIN_PREDICTED = 1_000
# Share of them that is predicted for the directions.
_DIRECTED = 0.25
# Permuted rows: fewer of them say little.
_MIN_ROWS = 100
_MAX_REPEATS = 5
_MAX_COLUMNS = 100
# Directions: columns, least and most rows, and quantiles of the values that are set.
_N_DIRECTED, _MIN_ROWS_SET, _MAX_ROWS_SET = 8, 30, 200
_QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
# A direction is a change of the mean probability of at least this, and steps against it are at
# most this share of it.
_MIN_CHANGE, _MAX_REVERSAL = 0.02, 0.1
# Numbers from here on are written without decimals.
_LARGE = 1_000.0
# Kinds of columns whose values have an order.
_ORDERED_KINDS = ("numeric", "boolean", "ordinal")


@dataclass(frozen=True)
class Plan:
    """Columns that are permuted, on how many rows, and how often."""

    columns: IntArray
    n_rows: int
    n_repeats: int


def drivers(evidence: Evidence, importance: Any) -> dict[str, Any] | None:
    """Importance of the columns that are read, the largest first; None without rows.

    `importance` is a result of `cross_validated_importance`; None permutes the rows given. With
    classes, the importance is the loss of the score; without, the change of the probabilities.
    """
    estimator = evidence.estimator
    names, read = column_names(estimator), columns_read(estimator.reader_)
    # The rows given were predicted before, which warns.
    with warnings.catch_warnings(action="ignore", category=UnreadableCellsWarning):
        if importance is not None:
            found = _cross_validated(importance, names, read)
        elif evidence.given is not None and estimator.member_weights_:
            found = _permute(evidence, evidence.given, names)
        else:
            return None
        found["columns"].sort(key=lambda row: -np.nan_to_num(row["importance"], nan=-math.inf))
        _add_directions(evidence, found["columns"], names)
    return {"score_name": name_of_score(estimator), "n_columns": len(read), **found}


def _cross_validated(importance: Any, names: list[str], read: IntArray) -> dict[str, Any]:
    return {
        "measured_on": OUT_OF_FOLD,
        "n_rows": None,
        "n_repeats": importance.importances.shape[1],
        "columns": [
            {
                "column": names[j],
                "importance": importance.importances_mean[j],
                "std": importance.importances_std[j],
                "changed_answers": None,
            }
            for j in read
        ],
    }


def _permute(evidence: Evidence, given: Answers, names: list[str]) -> dict[str, Any]:
    """Permute columns of a sample of the rows given."""
    estimator, rng = evidence.estimator, check_random_state(0)
    plan = plan_of(evidence, given)
    rows = np.sort(rng.choice(len(given.labels), plan.n_rows, replace=False))
    X, before = take_rows(evidence.X, rows), given.take(rows)
    loss = _loss_of(evidence, rows, before)

    losses = np.empty((len(plan.columns), plan.n_repeats))
    changed = np.empty_like(losses)
    for i, repeat in np.ndindex(losses.shape):
        permuted = with_rows_of(X, int(plan.columns[i]), rng.permutation(plan.n_rows))
        after = answers_of(estimator, permuted)
        losses[i, repeat] = loss(after)
        changed[i, repeat] = np.mean(after.labels != before.labels)
    columns = [
        {
            "column": names[column],
            "importance": float(losses[i].mean()),
            "std": float(losses[i].std()),
            "changed_answers": float(changed[i].mean()),
        }
        for i, column in enumerate(plan.columns)
    ]
    return {
        "measured_on": WITHOUT_CLASSES if evidence.held_out is None else HELD_OUT,
        "n_rows": plan.n_rows,
        "n_repeats": plan.n_repeats,
        "columns": columns,
    }


def _loss_of(evidence: Evidence, rows: IntArray, before: Answers) -> Callable[[Answers], float]:
    """Return the loss of permuted rows: of the score, or without classes of the probabilities."""
    known = evidence.held_out
    if known is None:
        return lambda after: float(
            0.5 * np.abs(after.probabilities - before.probabilities).sum(axis=1).mean()
        )
    scorer, truth = evidence.estimator.scorer_, known.truth_of(None, evidence.X).take(rows)
    score = score_answers(scorer, before, truth)
    return lambda after: score - score_answers(scorer, after, truth)


def plan_of(evidence: Evidence, given: Answers) -> Plan:
    """Choose columns, rows and repeats so that few enough rows are predicted."""
    estimator = evidence.estimator
    columns, n_known = columns_read(estimator.reader_), len(given.labels)
    budget = int((1.0 - _DIRECTED) * _row_budget(evidence))
    n_most = min(_MAX_COLUMNS, max(1, budget // min(_MIN_ROWS, n_known)))
    if len(columns) > n_most:
        columns = np.sort(columns[np.argsort(-_relations(evidence, given)[columns])[:n_most]])
    n_rows, n_tables = min(n_known, MAX_ROWS), max(1, len(columns))
    while n_tables * n_rows > budget and n_rows >= 2 * _MIN_ROWS:
        n_rows //= 2  # not in small steps: a second report has mostly the same rows
    n_repeats = min(max(1, budget // (n_tables * n_rows)), _MAX_REPEATS)
    return Plan(columns, n_rows, n_repeats)


def _row_budget(evidence: Evidence) -> int:
    return max(int(_SECONDS / evidence.seconds_per_row), _MIN_PREDICTED)


def _relations(evidence: Evidence, given: Answers) -> FloatArray:
    """Largest correlation of the outputs of each column with a probability.

    The days between two columns of dates are outputs of both.
    """
    rows = np.arange(len(given.labels))[:MAX_ROWS]
    reader = evidence.estimator.reader_
    Z = _dense(reader.transform(take_rows(evidence.X, rows)))
    P = given.probabilities[rows]
    Z, P = Z - Z.mean(axis=0), P - P.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)[:, None] * np.linalg.norm(P, axis=0)
    related = np.divide(np.abs(Z.T @ P), norms, out=np.zeros_like(norms), where=norms > 0)
    by_output = related.max(axis=1)
    if reader.columns_ is None:
        return np.asarray(by_output)
    ends = np.cumsum([int(column.keep.sum()) for column in reader.columns_])
    *parts, days = np.split(by_output, ends)
    by_column = np.array([part.max(initial=0.0) for part in parts])
    for interval, related_days in zip(reader.intervals_, days, strict=True):
        both = np.searchsorted(ends, [interval.first, interval.last], side="right")
        by_column[both] = np.maximum(by_column[both], related_days)
    return by_column


# --- directions


def _add_directions(evidence: Evidence, columns: list[dict[str, Any]], names: list[str]) -> None:
    """Add the entry "direction" to the rows of columns, None if they have none."""
    for row in columns:
        row["direction"] = None
    estimator = evidence.estimator
    if evidence.given is None or not estimator.member_weights_:
        return
    rng = check_random_state(0)
    n_known = len(evidence.given.labels)
    most = int(_DIRECTED * _row_budget(evidence)) // (_N_DIRECTED * len(_QUANTILES))
    n_set = min(n_known, _MAX_ROWS_SET)
    while n_set > most and n_set >= 2 * _MIN_ROWS_SET:
        n_set //= 2  # as in `plan_of`
    rows = np.sort(rng.choice(n_known, n_set, replace=False))
    X = take_rows(evidence.X, rows)
    wanted = {names.index(row["column"]): row for row in columns[:_N_DIRECTED]}
    for column, given, texts in _grids(estimator.reader_, X, sorted(wanted), names):
        set_to = (with_rows_of(X, column, np.full(n_set, row)) for row in given)
        means = [answers_of(estimator, table).probabilities.mean(axis=0) for table in set_to]
        direction = direction_of(np.array(means), texts, estimator.classes_)
        wanted[column]["direction"] = direction


def _grids(
    reader: Any, X: Any, positions: list[int], names: list[str]
) -> Iterator[tuple[int, IntArray, list[str]]]:
    """Yield columns whose values have an order or are two, with the cells that all rows get.

    The cells are rows of X, ascending by their values, and come with their texts.
    """
    for position, values, text in _ordered_columns(reader, X, positions, names):
        known = np.flatnonzero(~np.isnan(values))
        distinct, firsts = np.unique(values[known], return_index=True)
        if len(distinct) > 2:
            chosen = np.quantile(values[known], _QUANTILES, method="nearest")
            firsts = firsts[np.searchsorted(distinct, np.unique(chosen))]
        rows = known[firsts]
        if len(rows) > 1:
            yield position, rows, [text(row) for row in rows]


def _ordered_columns(
    reader: Any, X: Any, positions: list[int], names: list[str]
) -> Iterator[tuple[int, FloatArray, Any]]:
    """Yield position, numbers of the cells, and the text of a cell."""
    if reader.columns_ is None:
        for position in positions:
            values = _dense(X[:, [position]])[:, 0]
            yield position, values, partial(_text_of_cell, Numbers(values))
        return
    shown = [j for j in positions if _has_order(reader.columns_[j])]
    for position, cells in zip(shown, read_columns(X, {j: names[j] for j in shown}), strict=True):
        block = reader.columns_[position].read(cells, [])
        values = np.asarray(block.rows(0, len(cells.missing)), dtype=np.float64)
        yield position, values[:, 0], partial(_text_of_cell, cells)


def _dense(table: Any) -> FloatArray:
    dense = table.toarray() if sparse.issparse(table) else table  # type: ignore[attr-defined]
    return np.nan_to_num(np.asarray(dense, dtype=np.float64))


def _has_order(column: Any) -> bool:
    if not column.keep.any():
        return False
    kind = column.kind.name
    return kind in _ORDERED_KINDS or (kind == "categorical" and column.n_levels == 2)


def _text_of_cell(cells: Cells, row: int) -> str:
    if isinstance(cells, Levels):
        return text_of(cells.levels[cells.codes[row]])
    value = cells.values[row]
    if isinstance(cells, Numbers) and cells.form == "booleans":
        return "True" if value else "False"
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.4g}"


def direction_of(means: FloatArray, texts: list[str], classes: Any) -> dict[str, Any] | None:
    """Find the class whose mean probability changes most and in one direction only.

    `means` has a row for each value of the column, ascending, and a column for each class. With
    two classes it is the second one. None: no class has a direction.
    """
    codes = [1] if len(classes) == 2 else range(len(classes))
    steps, changes = np.diff(means, axis=0), means[-1] - means[0]
    best = max(codes, key=lambda code: abs(changes[code]))
    change = changes[best]
    against = np.minimum(np.sign(change) * steps[:, best], 0.0).sum()
    if abs(change) < _MIN_CHANGE or -against > _MAX_REVERSAL * abs(change):
        return None
    return {
        "class": classes[best],
        "trend": "rising" if change > 0 else "falling",
        "low_value": texts[0],
        "high_value": texts[-1],
        "share_at_low": float(means[0, best]),
        "share_at_high": float(means[-1, best]),
        "two_values": len(texts) == 2,
    }
