"""The kind of a column (numbers, categories, text, dates, ...), inferred from its values."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.data._contract import DurationFormat
from skauto.data._dates import DateFormat
from skauto.data._numbers import NumberFormat, has_leading_zeros, is_null_word
from skauto.data._table import Cells, Dates, Levels, Numbers, distinct_strings
from skauto.data._text import words

# Allowed values of column_kinds.
KINDS = ("numeric", "boolean", "categorical", "name", "text", "date", "tags", "drop")

BOOLEAN_PAIRS = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"))
BOOLEAN_VALUES = {word: float(i) for pair in BOOLEAN_PAIRS for i, word in enumerate(pair)}
BOOLEAN_VALUES |= {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0}
SEPARATORS = (";", "|", ",")

# Kinds are inferred from at most this number of evenly spaced levels.
_MAX_LEVELS = 5_000
# Strings are numbers or dates if all levels can be parsed, or if at least 30 levels and 95% of the
# cells can. The other cells are then missing.
_MIN_PARSED_SHARE = 0.95
_MIN_PARSED_LEVELS = 30
# Strings are categories if they have at most 20 levels, or at most 100 with a mean of 5 rows.
_FEW_LEVELS = 20
_MANY_LEVELS = 100
_MIN_ROWS_PER_LEVEL = 5
# Minimum mean number of words of a text; shorter strings are names.
_MIN_WORDS_OF_TEXT = 4
# Minimum number of rows of an identifier column.
_MIN_IDENTIFIERS = 50
# Number of decimal digits that a float holds exactly.
_EXACT_DIGITS = 15
# Maximum mean number of words of a tag, and minimum mean number of uses.
_MAX_WORDS_OF_TAG = 3
_MIN_USES_OF_TAG = 5
_IDENTIFIER_NAME = re.compile(r"(.*[ _.-])?(id|index|rowid)|unnamed: 0")


@dataclass(frozen=True)
class Kind:
    """The kind of a column and the reason for it.

    ``name`` is one of `KINDS`, "constant" or "identifier"; ``doubt`` is what the user should
    check; ``parser`` parses the strings: a `NumberFormat`, `DateFormat`, `BooleanWords`, or the
    separator of tags.
    """

    name: str
    why: str
    doubt: str | None = None
    parser: Any = None


@dataclass(frozen=True)
class BooleanWords:
    """The two words for false and true, such as "no" and "yes"."""

    false: str
    true: str

    def parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Parse strings as 0 and 1, NaN for other words; words of other pairs are read too."""
        value = {**BOOLEAN_VALUES, self.false: 0.0, self.true: 1.0}
        return np.array([value.get(text.strip().casefold(), np.nan) for text in texts])


@dataclass(frozen=True)
class _Sample:
    """Up to `_MAX_LEVELS` levels of a column of strings without null words, and their counts."""

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
        """Whether the values are all different, and enough to be identifiers."""
        return self.n_levels == self.n_rows >= _MIN_IDENTIFIERS

    def share(self, mask: NDArray[np.bool_]) -> float:
        """Share of the cells whose level is in the mask."""
        return float(self.rows[mask].sum() / max(1, self.rows.sum()))


def find_kind(cells: Cells, name: str) -> Kind:
    """Infer the kind of a column from its values and its name."""
    if isinstance(cells, Numbers):
        return Kind("numeric", "the values are numbers", doubt=_doubt_of_number(cells, name))
    if isinstance(cells, Dates):
        return Kind("date", "the values are dates")
    if not cells.levels:
        return Kind("constant", "all values are missing")
    if cells.declared:
        return Kind("categorical", "categorical dtype")
    sample = _Sample.of(cells)
    if len(sample.texts) < 2:
        return Kind("categorical", "strings of one or two levels")
    for find in (_boolean, _numeric, _duration, _date, _tags, _identifier):
        kind = find(sample)
        if kind is not None:
            return kind
    return _strings(sample)


def requested_kind(cells: Cells, name: str, wanted: str) -> Kind:
    """Return the kind `wanted` by the user, with a parser; raise if no value can be read so."""
    why = "set by column_kinds"
    texts = distinct_strings(cells)
    if wanted in ("categorical", "drop"):
        return Kind(wanted, why)
    if isinstance(cells, {"numeric": Numbers, "date": Dates}.get(wanted, ())):
        return Kind(wanted, why)
    parser = None if texts is None else _parser_for(wanted, texts)
    if texts is None or (parser is None and wanted not in ("name", "text")):
        raise ValueError(
            f"Column {name!r} of X cannot be read as {wanted!r}, as set by the 'column_kinds' "
            f"parameter. It holds {_describe_cells(cells)}; leave it out of 'column_kinds'."
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


def _describe_cells(cells: Cells) -> str:
    if isinstance(cells, Levels):
        return f"strings such as {cells.levels[0]!r}" if cells.levels else "no value"
    return "numbers" if isinstance(cells, Numbers) else "dates"


def _doubt_of_number(cells: Numbers, name: str) -> str | None:
    """Return a doubt if the name and the distinct integers of a column suggest an identifier."""
    values = cells.values
    if _IDENTIFIER_NAME.fullmatch(str(name).lower()) is None or len(values) < _MIN_IDENTIFIERS:
        return None
    if np.isnan(values).any() or len(np.unique(values)) < len(values):
        return None
    if not np.array_equal(values, np.floor(values)):
        return None
    return "its name and its distinct integers suggest an identifier; it is read as numbers"


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
    if not _enough_parsed(sample, readable):
        return None
    if sample.all_differ and readable.all() and _is_row_number(sample, values):
        return Kind("identifier", "all values differ and number the rows")
    why = "numbers written as strings"
    if number_format.decimal == ",":
        why += ", decimal comma"
    return Kind("numeric", why, _doubt_of_rest(sample, readable, "numbers"), number_format)


def _duration(sample: _Sample) -> Kind | None:
    parser = DurationFormat()
    if np.isnan(parser.parse(sample.texts)).any():
        return None
    return Kind("numeric", "durations or times of day written as strings", parser=parser)


def _is_row_number(sample: _Sample, values: NDArray[np.float64]) -> bool:
    """Whether distinct integers are monotonic, consecutive, or too long to be quantities."""
    if not all(map(str.isdigit, map(str.strip, sample.texts))):
        return False
    monotonic = bool((np.diff(values) > 0).all() or (np.diff(values) < 0).all())
    consecutive = sample.complete and np.ptp(values) == len(values) - 1
    return monotonic or consecutive or min(map(len, sample.texts)) > _EXACT_DIGITS


def _date(sample: _Sample) -> Kind | None:
    date_format = DateFormat.of(sample.texts)
    readable = ~np.isnat(date_format.parse(sample.texts))
    if not _enough_parsed(sample, readable):
        return None
    doubt = _doubt_of_rest(sample, readable, "dates")
    if date_format.ambiguous:
        doubt = "the order of day and month is ambiguous; the month is read first"
    why = "dates written as strings" + (", day first" if date_format.day_first else "")
    return Kind("date", why, doubt, date_format)


def _enough_parsed(sample: _Sample, readable: NDArray[np.bool_]) -> bool:
    """Whether all strings can be parsed, or many levels and nearly all cells."""
    if readable.all():
        return True
    enough_levels = readable.sum() >= _MIN_PARSED_LEVELS
    return bool(enough_levels and sample.share(readable) >= _MIN_PARSED_SHARE)


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
        if not 0 < len(uses) < sample.n_levels:
            continue
        short = np.mean([len(words(tag)) for tag in uses]) <= _MAX_WORDS_OF_TAG
        if short and uses.total() >= _MIN_USES_OF_TAG * len(uses):
            return Kind("tags", f"lists separated by {separator!r}", parser=separator)
    return None


def split_tags(text: str, separator: str) -> set[str]:
    """Split a list of tags, ignoring case and surrounding spaces."""
    return {tag.strip().casefold() for tag in text.split(separator)} - {""}


def _identifier(sample: _Sample) -> Kind | None:
    if not sample.all_differ or any(" " in text.strip() for text in sample.texts):
        return None
    if _share_of_common_ngrams(sample.texts) >= 1 - _MIN_PARSED_SHARE:
        return None
    plain_words = all(map(str.isalpha, sample.texts))
    doubt = "all its words differ, so it is left out as an identifier" if plain_words else None
    return Kind("identifier", "all values differ and share no n-grams", doubt)


def _share_of_common_ngrams(texts: list[str]) -> float:
    """Share of the strings with a 4-gram that 2% of them contain, common affixes removed."""
    prefix = len(os.path.commonprefix(texts))
    suffix = len(os.path.commonprefix([text[:prefix:-1] for text in texts]))
    cores = [text[prefix : len(text) - suffix] for text in texts]
    ngrams = [{core[i : i + 4] for i in range(len(core) - 3)} for core in cores]
    n_texts = Counter(ngram for found in ngrams for ngram in found)
    common = {ngram for ngram, n in n_texts.items() if n >= max(3, 0.02 * len(texts))}
    return float(np.mean([not found.isdisjoint(common) for found in ngrams]))


def _strings(sample: _Sample) -> Kind:
    n_levels = sample.n_levels
    most = min(_MANY_LEVELS, max(_FEW_LEVELS, sample.n_rows // _MIN_ROWS_PER_LEVEL))
    if n_levels <= most:
        return Kind("categorical", f"strings of {n_levels} levels")
    n_words = float(np.mean([len(words(text)) for text in sample.texts]))
    if n_words >= _MIN_WORDS_OF_TEXT:
        return Kind("text", f"{n_levels} different strings of {n_words:.0f} words on average")
    return Kind("name", f"{n_levels} different short strings")
