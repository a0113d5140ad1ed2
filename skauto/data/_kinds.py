"""What a column holds, decided from its distinct values."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.data._dates import DateFormat
from skauto.data._numbers import NumberFormat, has_leading_zeros, is_null_word
from skauto.data._table import Cells, Dates, Levels, Numbers, distinct_strings
from skauto.data._text import words

# What column_kinds may ask for.
KINDS = ("numeric", "boolean", "categorical", "name", "text", "date", "tags", "drop")

BOOLEAN_PAIRS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"))
SEPARATORS = (";", "|", ",")

# Kinds are decided from so many levels, at equal distances.
_MAX_LEVELS = 5_000
# Share of the cells that must be readable as numbers or dates, and the distinct readable ones
# that must be there to take the others for missing.
_READABLE = 0.95
_MIN_READABLE = 30
# Strings are categories up to 20 levels; beyond, while a level has five rows, up to 100.
_FEW_LEVELS = 20
_MANY_LEVELS = 100
_ROWS_A_LEVEL = 5
# A text has so many words on average.
_WORDS_OF_TEXT = 4
# Fewer different values are not called identifiers.
_MIN_IDENTIFIERS = 50
_EXACT_DIGITS = 15
# Tags are short, and each is used several times.
_WORDS_OF_TAG = 3
_USES_OF_TAG = 5
_IDENTIFIER_NAME = re.compile(r"(.*[ _.-])?(id|index|rowid)|unnamed: 0")


@dataclass(frozen=True)
class Kind:
    """What a column holds and why.

    Parameters
    ----------
    name : str
        One of `KINDS`, "constant" or "identifier".
    why : str
        The reason in a few words.
    doubt : str or None, default=None
        What the user should check.
    parser : NumberFormat, DateFormat, BooleanWords, str or None, default=None
        How strings are read; the separator of tags.
    """

    name: str
    why: str
    doubt: str | None = None
    parser: Any = None


@dataclass(frozen=True)
class BooleanWords:
    """Two words for false and true, such as "no" and "yes"."""

    false: str
    true: str

    def parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Read strings as 0 and 1, NaN for other words."""
        value = {self.false: 0.0, self.true: 1.0}
        return np.array([value.get(text.strip().casefold(), np.nan) for text in texts])


@dataclass(frozen=True)
class _Sample:
    """Some levels of a column of strings: which are no null words, and their rows."""

    texts: list[str]
    rows: NDArray[np.integer]
    n_levels: int
    n_rows: int
    complete: bool

    @classmethod
    def of(cls, cells: Levels) -> "_Sample":
        counts = np.bincount(cells.codes + 1, minlength=len(cells.levels) + 1)[1:]
        step = max(1, len(cells.levels) // _MAX_LEVELS)
        levels, some = cells.levels[::step], counts[::step]
        known = [not is_null_word(level) for level in levels]
        texts = [level for level, keep in zip(levels, known, strict=True) if keep]
        return cls(texts, some[known], len(cells.levels), int(counts.sum()), step == 1)

    @property
    def all_differ(self) -> bool:
        """Whether so many values are all different that they could be identifiers."""
        return self.n_levels == self.n_rows >= _MIN_IDENTIFIERS

    def share(self, mask: NDArray[np.bool_]) -> float:
        """Share of the cells."""
        return float(self.rows[mask].sum() / max(1, self.rows.sum()))


def find_kind(cells: Cells, name: str) -> Kind:
    """Decide what a column holds.

    Parameters
    ----------
    cells : Numbers, Dates or Levels
        The column.
    name : str
        Its name.

    Returns
    -------
    kind : Kind
        What it holds and why.
    """
    if isinstance(cells, Numbers):
        return Kind("numeric", "the values are numbers", doubt=_doubt_of_number(cells, name))
    if isinstance(cells, Dates):
        return Kind("date", "the values are dates")
    if not cells.levels:
        return Kind("constant", "no value is there")
    if cells.declared:
        return Kind("categorical", "the dtype says so")
    sample = _Sample.of(cells)
    if len(sample.texts) < 2:
        return Kind("categorical", "strings of one or two levels")
    for find in (_boolean, _numeric, _date, _tags, _identifier):
        kind = find(sample)
        if kind is not None:
            return kind
    return _strings(sample)


def asked_kind(cells: Cells, name: str, wanted: str) -> Kind:
    """Read a column as the user wants.

    Parameters
    ----------
    cells : Numbers, Dates or Levels
        The column.
    name : str
        Its name.
    wanted : str
        One of `KINDS`.

    Returns
    -------
    kind : Kind
        Of the name that is wanted.

    Raises
    ------
    ValueError
        If the column cannot be read in that way.
    """
    why = "column_kinds says so"
    texts = distinct_strings(cells)
    if wanted in ("categorical", "drop"):
        return Kind(wanted, why)
    if isinstance(cells, {"numeric": Numbers, "date": Dates}.get(wanted, ())):
        return Kind(wanted, why)
    parser = None if texts is None else _parser_for(wanted, texts)
    if texts is None or (parser is None and wanted not in ("name", "text")):
        raise ValueError(
            f"Column {name!r} of X cannot be read as {wanted!r}, which the 'column_kinds' "
            f"parameter asks for. It holds {_shown(cells)}; leave it out of 'column_kinds'."
        )
    return Kind(wanted, why, parser=parser)


def _parser_for(wanted: str, texts: Sequence[str]) -> Any:
    if wanted == "numeric":
        number_format = NumberFormat.of(texts)
        return number_format if np.isfinite(number_format.parse(texts)).any() else None
    if wanted == "date":
        date_format = DateFormat.of(texts)
        return None if np.isnat(date_format.parse(texts)).all() else date_format
    if wanted == "boolean":
        return _boolean_words(texts)
    if wanted == "tags":
        return max(SEPARATORS, key=lambda mark: sum(mark in text for text in texts))
    return None


def _shown(cells: Cells) -> str:
    if isinstance(cells, Levels):
        return f"strings such as {cells.levels[0]!r}" if cells.levels else "no value"
    return "numbers" if isinstance(cells, Numbers) else "dates"


def _doubt_of_number(cells: Numbers, name: str) -> str | None:
    """Say so where a column is named like an identifier and holds a different integer a row."""
    values = cells.values
    if _IDENTIFIER_NAME.fullmatch(str(name).lower()) is None or len(values) < _MIN_IDENTIFIERS:
        return None
    if np.isnan(values).any() or len(np.unique(values)) < len(values):
        return None
    if not np.array_equal(values, np.floor(values)):
        return None
    return "its name and its different integers suggest an identifier, and it is read as numbers"


def _boolean_words(texts: Sequence[str]) -> BooleanWords | None:
    found = {text.strip().casefold() for text in texts if not is_null_word(text)}
    pair = next((pair for pair in BOOLEAN_PAIRS if found == set(pair)), None)
    return None if pair is None else BooleanWords(*pair)


def _boolean(sample: _Sample) -> Kind | None:
    parser = _boolean_words(sample.texts) if sample.complete else None
    if parser is None:
        return None
    return Kind("boolean", f"{parser.false!r} and {parser.true!r}", parser=parser)


def _numeric(sample: _Sample) -> Kind | None:
    if has_leading_zeros(sample.texts):
        return None
    number_format = NumberFormat.of(sample.texts)
    values = number_format.parse(sample.texts)
    readable = np.isfinite(values)
    if not _enough(sample, readable):
        return None
    if sample.all_differ and readable.all() and _numbers_the_rows(sample, values):
        return Kind("identifier", "all values differ and count the rows")
    why = "numbers written as strings"
    if number_format.decimal == ",":
        why += ", decimal comma"
    return Kind("numeric", why, _doubt_of_rest(sample, readable, "numbers"), number_format)


def _numbers_the_rows(sample: _Sample, values: NDArray[np.float64]) -> bool:
    """Whether all-different integers only count rows, or are too long to be quantities."""
    if not all(map(str.isdigit, map(str.strip, sample.texts))):
        return False
    rises = bool((np.diff(values) > 0).all() or (np.diff(values) < 0).all())
    dense = sample.complete and np.ptp(values) == len(values) - 1
    return rises or dense or min(map(len, sample.texts)) > _EXACT_DIGITS


def _date(sample: _Sample) -> Kind | None:
    date_format = DateFormat.of(sample.texts)
    readable = ~np.isnat(date_format.parse(sample.texts))
    if not _enough(sample, readable):
        return None
    doubt = _doubt_of_rest(sample, readable, "dates")
    if date_format.ambiguous:
        doubt = "the order of day and month cannot be told; the month is taken to come first"
    why = "dates written as strings" + (", day first" if date_format.day_first else "")
    return Kind("date", why, doubt, date_format)


def _enough(sample: _Sample, readable: NDArray[np.bool_]) -> bool:
    """Whether all strings are readable, or many different ones and nearly all cells."""
    if readable.all():
        return True
    return bool(readable.sum() >= _MIN_READABLE and sample.share(readable) >= _READABLE)


def _doubt_of_rest(sample: _Sample, readable: NDArray[np.bool_], what: str) -> str | None:
    if readable.all():
        return None
    first = sample.texts[int(np.argmin(readable))]
    return f"it holds {what} and other strings such as {first!r}, which are read as missing"


def _tags(sample: _Sample) -> Kind | None:
    for separator in SEPARATORS:
        holds = np.array([separator in text for text in sample.texts])
        if sample.share(holds) < 0.3:
            continue
        uses: Counter[str] = Counter()
        for text, rows in zip(sample.texts, sample.rows.tolist(), strict=True):
            for tag in split_tags(text, separator):
                uses[tag] += rows
        short = np.mean([len(words(tag)) for tag in uses]) <= _WORDS_OF_TAG if uses else False
        if short and len(uses) < sample.n_levels and uses.total() >= _USES_OF_TAG * len(uses):
            return Kind("tags", f"lists separated by {separator!r}", parser=separator)
    return None


def split_tags(text: str, separator: str) -> set[str]:
    """Split a list of tags; case and spaces around a tag do not matter."""
    return {tag.strip().casefold() for tag in text.split(separator)} - {""}


def _identifier(sample: _Sample) -> Kind | None:
    if not sample.all_differ or any(" " in text.strip() for text in sample.texts):
        return None
    if _shared_pieces(sample.texts) >= 1 - _READABLE:
        return None
    plain_words = all(map(str.isalpha, sample.texts))
    doubt = "all its words differ, so it is left out as an identifier" if plain_words else None
    return Kind("identifier", "all values differ and have nothing in common", doubt)


def _shared_pieces(texts: list[str], size: int = 4) -> float:
    """Share of the strings with a piece, beyond what all begin with, that 2% of them hold."""
    prefix = len(os.path.commonprefix(texts))
    suffix = len(os.path.commonprefix([text[:prefix:-1] for text in texts]))
    cores = [text[prefix : len(text) - suffix] for text in texts]
    pieces = [{core[i : i + size] for i in range(len(core) - size + 1)} for core in cores]
    n_holders = Counter(piece for found in pieces for piece in found)
    common = {piece for piece, n in n_holders.items() if n >= max(3, 0.02 * len(texts))}
    return float(np.mean([not found.isdisjoint(common) for found in pieces]))


def _strings(sample: _Sample) -> Kind:
    n_levels = sample.n_levels
    most = min(_MANY_LEVELS, max(_FEW_LEVELS, sample.n_rows // _ROWS_A_LEVEL))
    if n_levels <= most:
        return Kind("categorical", f"strings of {n_levels} levels")
    n_words = float(np.mean([len(words(text)) for text in sample.texts]))
    if n_words >= _WORDS_OF_TEXT:
        return Kind("text", f"{n_levels} different strings of {n_words:.0f} words on average")
    return Kind("name", f"{n_levels} different short strings")
