"""Differences between the table of ``fit`` and the rows that were given."""

import math
from typing import Any

import numpy as np

from skauto.data._encoders import NumericEncoder
from skauto.data._table import Cells, read_columns
from skauto.display._predictions import LabeledPredictions
from skauto.display._report._evidence import Evidence
from skauto.display._report._format import listed, percent, quoted
from skauto.selection._intervals import ENSEMBLE
from skauto.utils import FloatArray, IntArray

# Smallest differences of shares that are reported; each must also exceed three standard errors.
_MISSING, _ONE_SIDE, _CLASSES = 0.1, 0.2, 0.1
_N_ERRORS = 3.0
# Smallest share of cells of a column that fit has not seen that is reported.
_UNSEEN = 0.05
# Kinds of columns in which cells that cannot be parsed count as missing in `fit`.
_PARSED = ("numeric", "boolean", "date", "ordinal", "compound")
_SENTENCES = {
    "missing": "Other shares of missing cells than in the fit",
    "unseen": "Cells that the fit has never seen, and that count as unknown",
    "shifted": "Other values than in the fit",
}


def drift(evidence: Evidence) -> list[str]:
    """Describe what differs in the rows that were given, in one sentence each."""
    known = evidence.held_out
    if known is None:
        return []
    return [*_scores(evidence), *_classes(known, evidence.counts), *_columns(evidence)]


def _scores(evidence: Evidence) -> list[str]:
    """Compare the score with the interval of the out-of-fold predictions."""
    estimator = evidence.estimator
    score, _, high = evidence.held_out_scores[ENSEMBLE]
    expected, (low, top) = estimator.ensemble_score_, estimator.ensemble_score_interval_
    if score < low and high < expected:
        return [
            f"The score on the rows given, {score:.3g}, is below what fit estimated, {low:.3g} "
            f"to {top:.3g}. The rows may differ from those of the fit."
        ]
    return []


def _classes(known: LabeledPredictions, counts: IntArray) -> list[str]:
    if not counts.any():
        return []
    before = counts / counts.sum()
    after = np.bincount(known.truth, minlength=len(counts)) / len(known.truth)
    change = np.abs(after - before)
    worst = int(np.argmax(change))
    error = _error(before[worst], int(counts.sum()), len(known.truth))
    if change[worst] < max(_CLASSES, _N_ERRORS * error):
        return []
    return [
        f"Class {quoted(known.classes[worst])} is {percent(after[worst])} of the rows given, and "
        f"was {percent(before[worst])} of the rows of the fit."
    ]


def _columns(evidence: Evidence) -> list[str]:
    """Compare missing cells, unseen cells and medians of the columns."""
    reader = evidence.estimator.reader_
    if reader.columns_ is None:
        return []
    used = {j: column for j, column in enumerate(reader.columns_) if column.keep.any()}
    cells_of = read_columns(evidence.X, {j: column.name for j, column in used.items()})
    found: dict[str, list[str]] = {what: [] for what in _SENTENCES}
    starts = np.cumsum([0, *(int(column.keep.sum()) for column in used.values())])[:-1]
    fills = reader.fill_[starts].tolist()
    for column, fill, cells in zip(used.values(), fills, cells_of, strict=True):
        for what, text in _of_column(column, fill, cells, evidence.n_rows_of_table).items():
            found[what].append(f"{quoted(column.name)} ({text})")
    return [f"{_SENTENCES[what]}: {listed(texts)}." for what, texts in found.items() if texts]


def _of_column(column: Any, fill: float, cells: Cells, n_fitted: int) -> dict[str, str]:
    block, n_rows = column.read(cells, []), len(cells.missing)
    values = np.asarray(block.rows(0, n_rows), dtype=np.float64)
    parsed = column.kind.name in _PARSED
    missing = np.isnan(values).all(axis=1) if parsed else cells.missing
    before, after = column.n_missing / max(1, n_fitted), float(missing.mean())
    found = {}
    if abs(after - before) >= max(_MISSING, _N_ERRORS * _error(before, n_fitted, n_rows)):
        found["missing"] = f"{percent(before)} then, {percent(after)} now"
    unread = block.unread and block.unread.without(column.ignored)
    if unread is not None and unread.n_unread >= _UNSEEN * unread.n_cells:
        found["unseen"] = percent(unread.n_unread / unread.n_cells)
    if isinstance(column.encoder, NumericEncoder) and not math.isnan(fill):
        shift = _shift(values[:, 0], fill)
        if shift:
            found["shifted"] = shift
    return found


def _shift(values: FloatArray, median: float) -> str:
    """Say how many values are on one side of the median of the fit; empty if about half are."""
    known = values[~np.isnan(values)]
    if not len(known):
        return ""
    margin = max(_ONE_SIDE, _N_ERRORS * 0.5 / math.sqrt(len(known)))
    for side, share in (("above", (known > median).mean()), ("below", (known < median).mean())):
        if share > 0.5 + margin:
            return f"{percent(share)} {side} {median:.4g}, the median of the fit"
    return ""


def _error(share: float, n_before: int, n_after: int) -> float:
    """Return the standard error of the difference of two shares."""
    return math.sqrt(share * (1.0 - share) * (1.0 / max(1, n_before) + 1.0 / max(1, n_after)))
