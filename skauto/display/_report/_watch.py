"""What to watch: facts that should make a reader careful, in plain sentences."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from skauto.data._identifiers import is_identifier_name, may_be_identifiers
from skauto.display._report._drift import drift
from skauto.display._report._evidence import Evidence
from skauto.display._report._format import listed, percent, quoted
from skauto.display._words import count

# Rows of a class below which little can be said about it, and of a table.
_FEW_ROWS, _SMALL_TABLE = 30, 200
# Share of missing cells that is reported.
_MISSING = 0.2
# Shares of the importance: of one column that decides nearly alone, and of an identifier.
_DOMINANT, _NOTABLE = 0.7, 0.05
# Columns whose doubt is reported in full.
_MAX_DOUBTS = 4
# Share of the rows of a class that are found, below which the class is reported.
_RARELY_FOUND = 0.3


def watch(
    evidence: Evidence, drivers: dict[str, Any] | None, errors: dict[str, Any] | None
) -> list[dict[str, str]]:
    """List what to watch, with the topic of each sentence."""
    topics = {
        "limits": _limits(evidence.estimator),
        "columns that decide": [*_deciding(evidence, drivers), *_perfect(errors)],
        "rows given": drift(evidence),
        "classes": [*_rows(evidence), *_rarely_found(errors)],
        "columns": _doubts(evidence.estimator),
        "missing cells": _missing(evidence),
    }
    return [{"topic": topic, "text": text} for topic, texts in topics.items() for text in texts]


def _limits(estimator: Any) -> Iterator[str]:
    if not getattr(estimator, "feasible_", True):
        yield "The model does not keep all of the limits that were set."


def _deciding(evidence: Evidence, drivers: dict[str, Any] | None) -> Iterator[str]:
    """Name a column that decides nearly alone, and identifiers that matter."""
    rows = [] if drivers is None else drivers["columns"]
    values = np.array([max(0.0, np.nan_to_num(row["importance"])) for row in rows])
    if not values.sum() > 0.0:
        return
    shares = values / values.sum()
    first = rows[0]
    if len(rows) > 1 and shares[0] > _DOMINANT:
        yield (
            f"Column {quoted(first['column'])} alone has {percent(shares[0])} of the importance. "
            "Check that it is known before the answer is, and does not follow from it."
        )
    identifiers = set(_identifiers(evidence))
    for row, share in zip(rows, shares, strict=True):
        if share > _NOTABLE and row["column"] in identifiers:
            yield (
                f"Column {quoted(row['column'])} seems to be an identifier, and has "
                f"{percent(share)} of the importance. Identifiers seldom tell anything about new "
                "rows; check why it does."
            )


def _identifiers(evidence: Evidence) -> Iterator[str]:
    """Yield columns with the name of an identifier and many different values."""
    for column in evidence.estimator.reader_.columns_ or []:
        doubted = "identifier" in (column.kind.doubt or "")
        n_levels = column.n_levels or 0
        many = may_be_identifiers(n_levels, evidence.n_rows_of_table - column.n_missing)
        if doubted or (is_identifier_name(column.name) and many):
            yield column.name


def _perfect(errors: dict[str, Any] | None) -> Iterator[str]:
    matrix = np.array([[0]] if errors is None else errors["confusion_matrix"])
    if matrix.sum() >= _FEW_ROWS and matrix.sum() == matrix.trace():
        yield (
            "Not one answer is wrong, which is rare. Check that no column follows from the answer."
        )


def _rows(evidence: Evidence) -> Iterator[str]:
    counts, classes = evidence.counts, evidence.estimator.classes_
    total = int(counts.sum())
    few = [
        f"{quoted(label)} ({n})"
        for label, n in zip(classes, counts.tolist(), strict=True)
        if n < _FEW_ROWS
    ]
    if 0 < total < _SMALL_TABLE:
        yield f"The model was fitted on {count(total, 'row')} only; all numbers are uncertain."
    elif few and total:
        yield f"Classes with few rows in the fit, of which little is certain: {listed(few)}."


def _rarely_found(errors: dict[str, Any] | None) -> Iterator[str]:
    rare = [
        f"{quoted(row['class'])} ({round(row['recall'] * row['support'])} of {row['support']})"
        for row in ([] if errors is None else errors["by_class"])
        if row["support"] and row["recall"] < _RARELY_FOUND
    ]
    if rare:
        yield f"Classes of which few rows are found: {listed(rare)}."


def _doubts(estimator: Any) -> list[str]:
    """Doubts of the columns, without advice on how to write the call of ``fit``."""
    found = []
    for column in estimator.reader_.columns_ or []:
        if column.kind.doubt:
            parts = column.kind.doubt.split("; ")
            text = "; ".join(part for part in parts if "column_kinds" not in part)
            found.append(f"Column {quoted(column.name)}: {text}.")
    more = len(found) - _MAX_DOUBTS
    if more > 0:
        rest = f"{count(more, 'other column')} with a doubt: see the columns on the last page."
        return [*found[:_MAX_DOUBTS], rest]
    return found


def _missing(evidence: Evidence) -> Iterator[str]:
    n_rows = evidence.n_rows_of_table
    shares = [
        (column.n_missing / n_rows, column.name)
        for column in evidence.estimator.reader_.columns_ or []
        if n_rows and column.keep.any()
    ]
    many = sorted((pair for pair in shares if pair[0] >= _MISSING), reverse=True)
    if many:
        texts = [f"{quoted(name)} ({percent(share)})" for share, name in many]
        yield f"Columns with many missing cells in the fit: {listed(texts)}."
