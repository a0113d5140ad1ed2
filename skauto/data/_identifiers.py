"""Columns that number or name the rows, by their name or as a count."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skauto.data._notations import IDENTIFIED, IDENTIFIER_NAMES, IDENTIFIER_WORDS

_WORD = re.compile(r"(?<![^\W\d_])(?i:no[23])\b|[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\dA-Z_])|\d+")
_PERIODS = {"year", "quarter", "month", "week", "day", "hour"}  # which have numbers
_COMPOUND = re.compile(rf"(?:{IDENTIFIED})_?(?:id|no|nr|num)s?|.+nummer")
# Minimum numbers of rows of a count, and of identifiers by name.
_MIN_COUNT, _MIN_ROWS = 50, 20
# Minimum share of the rows with a value, and of the values that differ, of identifiers by name.
_MIN_DISTINCT = 0.95
# Share of different values above which an identifier by name is doubtful.
_MANY_DISTINCT = 0.2
# Number of decimal digits that a float holds exactly.
_EXACT_DIGITS = 15


def is_identifier_name(name: str) -> bool:
    """Return whether a name is one of identifiers: "PassengerId", "id_customer", "Order #"."""
    words = [word.lower() for word in _WORD.findall(name.replace("#", " no "))]
    if not words:
        return False
    if "id" in words or " ".join(words) in IDENTIFIER_NAMES or _COMPOUND.fullmatch(words[-1]):
        return True
    while len(words) > 1 and words[-1].isdigit():  # "id_1"
        words.pop()
    return words[-1] in IDENTIFIER_WORDS and _PERIODS.isdisjoint(words)


def is_count(values: NDArray[np.number], n_rows: int) -> bool:
    """Return whether at least 50 distinct integers have no gap, one for each row."""
    if not _MIN_COUNT <= len(values) == n_rows:
        return False
    low, high = values.min(), values.max()
    return bool(high - low == n_rows - 1) and len(np.unique(values)) == n_rows


def are_identifiers(n_levels: int, n_known: int, n_rows: int) -> bool:
    """Return whether nearly all rows have a value of their own."""
    enough = n_known >= max(_MIN_ROWS, _MIN_DISTINCT * n_rows)
    return enough and n_levels >= _MIN_DISTINCT * n_known


def may_be_identifiers(n_levels: int, n_known: int) -> bool:
    """Return whether many rows have a value of their own."""
    return n_known >= _MIN_COUNT and n_levels > _MANY_DISTINCT * n_known


def are_long(texts: Sequence[str]) -> bool:
    """Return whether all strings are digits that are too long to be quantities."""
    digits = [text.strip() for text in texts]
    return all(map(str.isdigit, digits)) and min(map(len, digits)) > _EXACT_DIGITS
