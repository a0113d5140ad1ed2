"""The kind of a column (numbers, categories, text, dates, ...), inferred from its values."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.data._dates import DateFormat, filler_dates, is_date, label_of
from skauto.data._durations import DurationFormat, is_duration
from skauto.data._identifiers import (
    are_identifiers,
    are_long,
    is_count,
    is_identifier_name,
    may_be_identifiers,
)
from skauto.data._notations import (
    BOOLEAN_PAIRS,
    CSV_NULLS,
    SCALES,
    folded,
    is_foreign_word,
    is_null_word,
    spellings,
)
from skauto.data._numbers import (
    FILLER_NUMBERS,
    NumberFormat,
    filler_numbers,
    is_quantity,
    may_be_numbers,
)
from skauto.data._table import Cells, Dates, Levels, Numbers, as_levels, distinct_strings, text_of
from skauto.data._text import words

# Allowed values of column_kinds.
KINDS = (
    *("numeric", "boolean", "ordinal", "categorical", "name", "text", "date", "tags", "compound"),
    "drop",
)

# Kinds of strings that are described by their terms.
TEXT_KINDS = ("name", "text")

BOOLEAN_VALUES = {word: float(i) for pair in BOOLEAN_PAIRS for i, word in enumerate(pair)}
BOOLEAN_VALUES |= {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0}
SEPARATORS = (";", "|", ",")

# Kinds are inferred from at most this number of evenly spaced levels.
_MAX_LEVELS = 5_000
# Strings are numbers or dates if all levels can be parsed, or 95% of the cells and at least 10
# levels. They also are if the others are at most 5 words without a digit, and either at least 3
# times as many levels can be parsed, which are half of the cells, or 10 and (beside more than two
# words) 5% of the cells; or twice as many and 95% of the cells. The others are then missing.
_MIN_PARSED_SHARE = 0.95
_MIN_PARSED_LEVELS = 10
_MIN_SHARE_OF_FEW = 0.5
_MAX_FOREIGN_WORDS = 5
_MIN_LEVELS_PER_WORD = 3
# Minimum number of levels of a scale of answers, and of compact dates such as 20240131 or 1312024.
_MIN_ANSWERS = 3
_MIN_ADJECTIVE = 4
_NEUTRAL = re.compile("(neither|weder|ni) |(neutral|neutre|undecided|teils[-/, ]+teils)$")
_AGREE = re.compile(r"(?:stimme|trifft) (?:(.*) )?zu")
_MIN_COMPACT_DATES = 10
_FIRST_COMPACT_DATES = (16_000_101, 1_011_900)
# Maximum number of levels with two spellings that a doubt quotes.
_MAX_SPELLINGS = 2
_KEEP_APART = "pass a categorical dtype to keep them apart"
# Strings are categories if they have at most 20 levels, or at most 100 with a mean of 5 rows.
_FEW_LEVELS = 20
_MANY_LEVELS = 100
_MIN_ROWS_PER_LEVEL = 5
# Minimum mean number of words of a text; shorter strings are names.
_MIN_WORDS_OF_TEXT = 4
# Minimum number of rows of an identifier column.
_MIN_IDENTIFIERS = 50
# Maximum mean number of words of a tag between commas, and minimum mean number of uses of a tag.
_MAX_WORDS_OF_TAG = 3
_AROUND_TAGS = " []{}()'\""
_MIN_USES_OF_TAG = 5
# Separators of the parts of a compound, and their maximum number in a string. Those of products,
# such as "1920x1080", separate numbers only, as do the points of versions.
_TIMES = (" x ", "x", "×", "*")
_COMPOUND_MARKS = (
    *("@", "±", "+/-", " to ", " - ", "/", "_", "|", ":", "; ", ", ", ",", "-", "+"),
    *(*_TIMES, " ", "."),
)
_MAX_MARKS = 4
_BEFORE_BRACKET = re.compile(r"^\s*[^\W\d_]+\s*(?=\(.*\)\s*$)")
_SIGN = re.compile(r"(?:^|[\s(\[,;/])-\d")
_NUMBERED = re.compile(r"(\D*)(\d{1,15})(\D*)")
_COMPACT_DATE = re.compile(
    r"(?:(?:1[6-9]|2[01])\d\d|9999)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
)
_YEAR_LAST = re.compile(r"(?:\d{3,4}|(?:0[1-9]|1[0-2])\.)(?:19|20)\d\d")


@dataclass(frozen=True)
class Kind:
    """The kind of a column and the reason for it.

    ``name`` is one of `KINDS`, "constant" or "identifier"; ``doubt`` is what the user should
    check; ``parser`` parses the strings: a `NumberFormat`, `DateFormat`, `BooleanWords`,
    `CompoundFormat`, the separator of tags, or the levels of an ordinal column. ``fillers`` are
    dates or numbers that mean a missing value.
    """

    name: str
    why: str
    doubt: str | None = None
    parser: Any = None
    fillers: tuple[Any, ...] = ()


@dataclass(frozen=True)
class CompoundFormat:
    """The separator of the parts of strings such as "B/0/P", and the kind of each part."""

    separator: str
    kinds: tuple[Kind, ...]

    @property
    def of_numbers(self) -> bool:
        """Whether the first part is a number, and the others are too or are constant: "4.1/5"."""
        names = [kind.name for kind in self.kinds]
        return names[0] == "numeric" and {"numeric", "constant"}.issuperset(names)

    @property
    def is_code(self) -> bool:
        """Whether a number follows constant words and a mark of codes: "city_103"."""
        n_constant = [kind.name for kind in self.kinds].count("constant")
        last_varies = self.kinds[-1].name != "constant"
        return self.separator in "_-" and last_varies and n_constant == len(self.kinds) - 1


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
    n_cells: int
    complete: bool
    column: str

    @classmethod
    def of(cls, cells: Levels, column: str) -> "_Sample":
        counts = np.bincount(cells.codes + 1, minlength=len(cells.levels) + 1)[1:]
        step = max(1, len(cells.levels) // _MAX_LEVELS)
        levels, some = cells.levels[::step], counts[::step]
        known = [not is_null_word(level) for level in levels]
        texts = [level for level, keep in zip(levels, known, strict=True) if keep]
        n_null = 0 if step > 1 else len(levels) - len(texts)
        n_rows = int(counts.sum() - (some.sum() - some[known].sum() if step == 1 else 0))
        n_levels = len(cells.levels) - n_null
        return cls(texts, some[known], n_levels, n_rows, len(cells.codes), step == 1, column)

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
        return _kind_of_numbers(cells, name)
    if isinstance(cells, Dates):
        return _kind_of_dates("the values are dates", cells.values, None, None)
    if not cells.levels:
        return Kind("constant", "all values are missing")
    if cells.declared:
        if cells.ordered:
            return Kind("ordinal", "ordered categorical dtype", parser=cells.levels)
        return Kind("categorical", "categorical dtype")
    sample = _Sample.of(cells, name)
    if len(sample.texts) < 2:
        return Kind("categorical", "strings of one or two levels")
    kind = _boolean(sample) or _answers(sample) or _compact_dates(sample.texts, sample.rows)
    kind = kind or _numeric(sample) or _date(sample) or _duration(sample)
    if kind is not None:
        return kind
    tags, few = _tags(sample), _few_levels(cells, sample)
    if tags is None and few is not None and sample.n_levels <= _FEW_LEVELS:
        return few
    compound, other = _compound(cells, sample), tags or few
    if other is not None and (compound is None or not compound.parser.of_numbers):
        return other
    return compound or _identifier(sample) or _long(sample)


def requested_kind(cells: Cells, name: str, wanted: Any) -> Kind:
    """Return the kind `wanted` by the user, with a parser; raise if no value can be read so.

    A list holds the levels of an ordinal column in their order. A column without a value, as a
    fold of the rows may have one, is read as without `wanted`.
    """
    why = "set by column_kinds"
    if isinstance(wanted, str) and wanted != "drop" and cells.missing.all():
        return find_kind(cells, name)
    if not isinstance(wanted, str):
        return Kind("ordinal", why, parser=_checked_levels(cells, name, list(wanted)))
    texts = distinct_strings(cells)
    if wanted in ("categorical", "drop"):
        return Kind(wanted, why)
    if wanted == "ordinal" and isinstance(cells, Levels) and cells.ordered:
        return Kind(wanted, why, parser=cells.levels)
    if isinstance(cells, {"numeric": Numbers, "date": Dates}.get(wanted, ())):
        return Kind(wanted, why)
    parser = None if texts is None else _parser_for(wanted, texts, cells)
    if texts is None or (parser is None and wanted not in ("name", "text")):
        what = "numbers" if isinstance(cells, Numbers) else "dates"
        if isinstance(cells, Levels):
            what = f"strings such as {cells.levels[0]!r}"
        in_order = f"pass the levels in their order, column_kinds={{{name!r}: [...]}}"
        advice = in_order if wanted == "ordinal" else "leave it out of 'column_kinds'"
        raise ValueError(
            f"Column {name!r} of X cannot be read as {wanted!r}, as set by the 'column_kinds' "
            f"parameter. It holds {what}; {advice}."
        )
    return Kind(wanted, why, parser=parser)


def _parser_for(wanted: str, texts: Sequence[str], cells: Cells) -> Any:
    if wanted == "numeric":
        number_format = NumberFormat.of(texts)
        return number_format if np.isfinite(number_format.parse(texts)).any() else None
    if wanted == "date":
        date_format = DateFormat.of(texts)
        return None if np.isnat(date_format.parse(texts)).all() else date_format
    if wanted == "boolean":
        return _boolean_words(texts)
    if wanted == "ordinal":
        known = [text for text in texts if not is_null_word(text)]
        return _order_of_answers(known) if known else None
    if wanted == "compound" and isinstance(cells, Levels):
        bare = list(map(_without_brackets, texts))
        counts = {mark: max(text.count(mark) for text in bare) for mark in _COMPOUND_MARKS}
        found = (_compound_of(cells, mark, n + 1) for mark, n in counts.items() if n)
        return next(filter(None, found), None)
    if wanted == "tags":
        return max(SEPARATORS, key=lambda mark: sum(mark in text for text in texts))
    return None


def _checked_levels(cells: Cells, name: str, levels: list[Any]) -> list[Any]:
    known = {folded(text_of(level)) for level in levels}
    found = as_levels(cells).levels
    other = [x for x in found if folded(text_of(x)) not in known and not is_null_word(text_of(x))]
    if len(known) < max(2, len(levels)) or other:
        what = f"the column also holds {other[0]!r}" if other else "they must be two or more"
        raise ValueError(
            f"The levels of column {name!r} in the 'column_kinds' parameter must be all its "
            f"different values, in their order. Got {levels[:10]} instead; {what}."
        )
    return levels


def _kind_of_numbers(cells: Numbers, name: str) -> Kind:
    kind, values = Kind("numeric", "the values are numbers"), cells.values
    if cells.form != "numbers" or not len(values):
        return kind
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if high >= _FIRST_COMPACT_DATES[1] and _may_be_compact_dates(values):
        numbers, rows = np.unique(values[~cells.missing], return_counts=True)
        if dates := _compact_dates(list(map(text_of, numbers.tolist())), rows):
            return dates
    if low in FILLER_NUMBERS or high in FILLER_NUMBERS:
        kind = _with_fillers(kind, values)
    integers = values.dtype.kind in "iu"
    if not is_identifier_name(name) and not (integers and high - low == len(values) - 1):
        return kind
    known = values if integers else values[~np.isnan(values)]
    if not len(known) or not (integers or np.array_equal(known, np.floor(known))):
        return kind
    return _judged_integers(kind, known, len(values), name)


def _with_fillers(kind: Kind, values: NDArray[Any]) -> Kind:
    fillers = filler_numbers(values)
    return replace(
        kind, doubt=kind.doubt or _doubt_of_fillers(fillers, "numbers"), fillers=fillers
    )


def _doubt_of_fillers(fillers: Sequence[Any], what: str) -> str | None:
    found = " and ".join(map(text_of, fillers))
    return f"{found}: far from all other {what}, and read as missing" if fillers else None


def _judged_integers(kind: Kind, values: NDArray[Any], n_rows: int, name: str) -> Kind:
    """Return the kind of identifiers, or the kind of numbers with a doubt if they may be some.

    Identifiers count the rows, or have a name of identifiers and differ.
    """
    if is_count(values, n_rows):
        return _left_out("its integers count the rows", "numeric", name)
    if not is_identifier_name(name):
        return kind
    n_levels = len(np.unique(values))
    if are_identifiers(n_levels, len(values), n_rows):
        return _left_out("its name, and its values differ", "numeric", name)
    if not may_be_identifiers(n_levels, len(values)):
        return kind
    doubt = (
        "its name suggests an identifier that repeats; it is read as numbers. If new rows have "
        f"other ones, pass groups={name!r} to fit"
    )
    return replace(kind, doubt=doubt)


def _left_out(why: str, kind: str, name: str) -> Kind:
    advice = f"keep it by column_kinds={{{name!r}: {kind!r}}}"
    return Kind("identifier", why, f"it is left out as an identifier ({why}); {advice}")


def _may_be_compact_dates(values: NDArray[Any]) -> bool:
    """Whether the last digits of all numbers are a month and a day, or a year, but for zeros."""
    known = values[(values != 0) & ~np.isnan(values)]
    if not len(known) or known.min() < _FIRST_COMPACT_DATES[1]:
        return False
    years, months, days = known % 10_000, known // 100 % 100, known % 100
    if ((years >= 1900) & (years < 2100)).all():
        return True
    valid = (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)
    return bool(known.min() >= _FIRST_COMPACT_DATES[0] and valid.all())


def _compact_dates(texts: Sequence[str], rows: NDArray[np.integer]) -> Kind | None:
    """Return the kind of dates such as 20240131, of which zeros are missing; else None."""
    texts = [text.strip() for text in texts]
    days = [text for text in texts if text.strip("0")]
    patterns = (_COMPACT_DATE, _YEAR_LAST)
    if len(days) < _MIN_COMPACT_DATES or not any(all(map(p.fullmatch, days)) for p in patterns):
        return None
    date_format = DateFormat.of(days)
    dates = date_format.parse(texts)
    if np.isnat(dates).sum() > len(texts) - len(days):
        return None
    doubt = None if len(days) == len(texts) else "0 is no date, and read as missing"
    doubt = _doubt_of_order(date_format) or doubt
    return _kind_of_dates(f"dates such as {days[0]}", np.repeat(dates, rows), doubt, date_format)


def _kind_of_dates(why: str, dates: Any, doubt: str | None, parser: Any) -> Kind:
    fillers = tuple(filler_dates(dates))
    return Kind("date", why, doubt or _doubt_of_fillers(fillers, "dates"), parser, fillers)


def _boolean_words(texts: Sequence[str]) -> BooleanWords | None:
    found = {text.strip().casefold() for text in texts}
    pair = next((pair for pair in BOOLEAN_PAIRS if found.issuperset(pair)), None)
    others = (text for text in texts if text.strip().casefold() not in BOOLEAN_VALUES)
    if pair is None or not all(map(is_null_word, others)):
        return None
    return BooleanWords(*pair)


def _boolean(sample: _Sample) -> Kind | None:
    found = _boolean_words(sample.texts) if sample.complete else None
    return Kind("boolean", f"{found.false!r} and {found.true!r}", parser=found) if found else None


def _answers(sample: _Sample) -> Kind | None:
    if not sample.complete or not _MIN_ANSWERS <= sample.n_levels <= _FEW_LEVELS:
        return None
    levels = _order_of_answers(sample.texts)
    if levels is None or len({folded(level) for level in levels}) < _MIN_ANSWERS:
        return None
    return Kind("ordinal", f"answers from {levels[0]!r} to {levels[-1]!r}", parser=levels)


def _order_of_answers(texts: Sequence[str]) -> list[str] | None:
    """Sort the levels of a scale of answers; None if no scale holds them, one at a place.

    An adjective that ends all answers but the neutral one is left out: "very unlikely" is "very
    not", and "likely" is "".
    """
    plain = {text: _AGREE.sub(r"\1", folded(text.replace("_", " "))) for text in texts}
    ends = [x[::-1] for x in plain.values() if not _NEUTRAL.match(x)]
    adjective = commonprefix(ends)[::-1].strip()
    if len(adjective) >= _MIN_ADJECTIVE:
        end = re.compile(rf"\b(un|dis|in|des)?{re.escape(adjective)}\Z")
        for text, answer in plain.items():
            short = end.sub(lambda match: "not" if match[1] else "", answer).strip()
            plain[text] = "neutral" if _NEUTRAL.match(answer) else short
    for scale in SCALES:
        if set(plain.values()) <= scale.keys():
            places = {scale[word] for word in plain.values()}
            if len(places) == len(set(plain.values())):
                return sorted(texts, key=lambda text: (scale[plain[text]], text))
    return None


def _numeric(sample: _Sample) -> Kind | None:
    texts = sample.texts
    if not may_be_numbers(texts) or not _may_be_read(sample, is_quantity):
        return None
    number_format = NumberFormat.of(texts, sample.rows.tolist())
    values = number_format.parse(texts)
    readable = np.isfinite(values)
    if not _enough_parsed(sample, readable):
        return None
    doubt = _doubt_of_rest(sample, readable, "numbers")
    if sample.all_differ and are_long(texts):
        return _left_out("different numbers of many digits", "categorical", sample.column)
    why = "numbers written as strings"
    if number_format.decimal == "," or number_format.mixed:
        why += ", decimal point or comma" if number_format.mixed else ", decimal comma"
    if number_format.base:
        why += f", in {number_format.base}"
    if number_format.ambiguous:
        doubt = f"{texts[0]!r} may have a decimal comma; the comma is read as separator of groups"
    if pair := number_format.other_unit(texts, values):
        doubt = f"{pair[0]!r} and {pair[1]!r} are read in the same unit, though one is much larger"
    if len(number_format.currencies) > 1:
        doubt = f"amounts in {' and '.join(number_format.currencies)} are read in the same unit"
    kind = Kind("numeric", why, doubt, number_format)
    if np.isin([np.fmin.reduce(values), np.fmax.reduce(values)], FILLER_NUMBERS).any():
        kind = _with_fillers(kind, np.repeat(values, sample.rows))
    known = np.repeat(values[readable], sample.rows[readable])
    named = is_identifier_name(sample.column) and (known % 1 == 0).all()  # such as "#12"
    if sample.complete and (named or all(text.strip().isdigit() for text in texts)):
        return _judged_integers(kind, known, sample.n_cells, sample.column)
    return kind


def _duration(sample: _Sample) -> Kind | None:
    if not _may_be_read(sample, is_duration):
        return None
    parser = DurationFormat.of(sample.texts)
    readable = ~np.isnan(parser.parse(sample.texts))
    if not _enough_parsed(sample, readable):
        return None
    doubt = _doubt_of_rest(sample, readable, "durations")
    return Kind("numeric", "durations or times of day written as strings", doubt, parser)


def _date(sample: _Sample) -> Kind | None:
    if not _may_be_read(sample, is_date):
        return None
    date_format = DateFormat.of(sample.texts)
    dates = date_format.parse(sample.texts)
    readable = ~np.isnat(dates)
    if not _enough_parsed(sample, readable) or len({*map(label_of, sample.texts), ""}) > 2:
        return None
    doubt = _doubt_of_order(date_format) or _doubt_of_rest(sample, readable, "dates")
    why = "dates written as strings" + ", day first" * date_format.day_first
    return _kind_of_dates(why, np.repeat(dates, sample.rows), doubt, date_format)


def _doubt_of_order(date_format: DateFormat) -> str | None:
    if not date_format.ambiguous:
        return None
    first = "year" if date_format.year_first else "month"
    return f"the order of day and month is ambiguous; the {first} is read first"


def _may_be_read(sample: _Sample, is_read: Callable[[str], bool]) -> bool:
    """Whether a parser reads one of the first strings, or these are few enough to be missing."""
    most = (1 - _MIN_PARSED_SHARE) * sample.rows.sum()
    n_first = int(np.searchsorted(np.cumsum(sample.rows), most, side="right")) + 1
    first = sample.texts[:n_first]
    return any(map(is_read, first)) or _are_few_words(first)


def _are_few_words(texts: Sequence[str]) -> bool:
    few = len(set(map(folded, texts))) <= _MAX_FOREIGN_WORDS
    return few and all(map(is_foreign_word, texts))


def _enough_parsed(sample: _Sample, readable: NDArray[np.bool_]) -> bool:
    """Whether all strings can be parsed, or all but few words, or nearly all cells."""
    n_readable = int(readable.sum())
    if n_readable == 0 or n_readable == len(readable):
        return n_readable > 0
    rest = [text for text, read in zip(sample.texts, readable.tolist(), strict=True) if not read]
    few = _are_few_words(rest)
    enough_levels, share = n_readable >= _MIN_PARSED_LEVELS, sample.share(readable)
    if share >= _MIN_PARSED_SHARE:
        return enough_levels or (few and n_readable > 2 * len(rest))
    known = enough_levels and (len(rest) <= 2 or share > 1 - _MIN_PARSED_SHARE)
    known = known or share >= _MIN_SHARE_OF_FEW
    return few and known and n_readable >= _MIN_LEVELS_PER_WORD * len(rest)


def _doubt_of_rest(sample: _Sample, readable: NDArray[np.bool_], what: str) -> str | None:
    if readable.all():
        return None
    unread = ~readable
    n_cells = int(sample.rows[unread].sum())
    first = sample.texts[int(np.argmax(np.where(unread, sample.rows, 0)))]
    return f"it holds {what} and other strings such as {first!r}, which are read as missing " + (
        f"({n_cells} cells)" if sample.complete else "in some cells"
    )


def _tags(sample: _Sample) -> Kind | None:
    for separator in SEPARATORS:
        holds = np.array([separator in text for text in sample.texts])
        if sample.share(holds) < 0.3:
            continue
        uses = uses_of_tags(sample.texts, sample.rows, separator)
        if not 0 < len(uses) < sample.n_levels:
            continue
        if separator == "," and np.mean([len(words(tag)) for tag in uses]) > _MAX_WORDS_OF_TAG:
            continue
        if uses.total() >= _MIN_USES_OF_TAG * len(uses):
            return Kind("tags", f"lists separated by {separator!r}", parser=separator)
    return None


def split_tags(text: str, separator: str) -> set[str]:
    """Split a list of tags, ignoring case, and spaces, quotes and brackets around them."""
    return {tag.strip(_AROUND_TAGS).casefold() for tag in text.split(separator)} - {""}


def uses_of_tags(texts: Sequence[str], rows: NDArray[np.integer], separator: str) -> Counter[str]:
    """Count the rows of each tag, where the i-th list has ``rows[i]``."""
    uses: Counter[str] = Counter()
    for text, n in zip(texts, rows.tolist(), strict=True):
        uses.update(dict.fromkeys(split_tags(text, separator), n))
    return uses


def _identifier(sample: _Sample) -> Kind | None:
    numbered = list(filter(None, map(_NUMBERED.fullmatch, sample.texts)))
    if sample.all_differ and len(numbered) == len(sample.texts):  # "C-001", "C-002", ...
        numbers = [int(match[2]) for match in numbered]
        one_word = len({match.group(1, 3) for match in numbered}) == 1
        if one_word and max(numbers) - min(numbers) < sample.n_levels:
            return _left_out("its numbers count the rows", "name", sample.column)
    if not is_identifier_name(sample.column) or any(" " in text.strip() for text in sample.texts):
        return None
    if not are_identifiers(sample.n_levels, sample.n_rows, sample.n_cells):
        return None
    return _left_out("its name, and its values differ", "name", sample.column)


def _few_levels(cells: Levels, sample: _Sample) -> Kind | None:
    n_levels = sample.n_levels
    most = min(_MANY_LEVELS, max(_FEW_LEVELS, sample.n_rows // _MIN_ROWS_PER_LEVEL))
    if n_levels > most:
        return None
    doubt, nulls = _doubt_of_spelling(sample.texts), CSV_NULLS.intersection(cells.levels) - {""}
    if nulls and cells.missing.any():
        words = " and ".join(map(repr, sorted(nulls)))
        doubt = doubt or f"{words} are missing, as are other cells; {_KEEP_APART}"
    return Kind("categorical", f"strings of {n_levels} levels", doubt)


def _doubt_of_spelling(texts: Sequence[str]) -> str | None:
    same = [group for group in spellings(texts) if len(group) > 1]
    if not same:
        return None
    examples = "; ".join(" and ".join(map(repr, group[:2])) for group in same[:_MAX_SPELLINGS])
    return f"levels that differ only by case or spaces are one level: {examples}; {_KEEP_APART}"


def _compound(cells: Levels, sample: _Sample) -> Kind | None:
    bare = list(map(_without_brackets, sample.texts))
    together = "\n".join(bare)
    for separator in (mark for mark in _COMPOUND_MARKS if mark in together):
        if separator == "-" and any(map(_SIGN.search, sample.texts)):  # "POINT (-3.7 40.4)"
            continue
        n_marks = np.array([text.count(separator) for text in bare])
        usual = int(np.bincount(n_marks, sample.rows).argmax())
        if not 1 <= usual <= _MAX_MARKS or not _enough_parsed(sample, n_marks == usual):
            continue
        parser = _compound_of(cells, separator, usual + 1, sample.column)
        if parser is not None and not parser.is_code:
            parts = ", ".join(kind.name for kind in parser.kinds)
            doubt = _doubt_of_rest(sample, n_marks == usual, "compounds")
            return Kind("compound", f"parts separated by {separator!r}: {parts}", doubt, parser)
    return None


def _compound_of(
    cells: Levels, separator: str, n_parts: int, column: str = ""
) -> CompoundFormat | None:
    """Return the kinds of the parts; None if one is free text, or fewer than two vary."""
    parts = parts_of(cells, separator, n_parts)
    kinds = tuple(_kind_of_part(part, column) for part in parts)
    allowed = ("numeric", "boolean", "ordinal", "categorical", "date", "compound")
    if any(kind.name not in (*allowed, "constant", "identifier") for kind in kinds):
        return None
    nested = [kind.parser for kind in kinds if kind.name == "compound"]
    if nested and (separator == "," or not all(parser.of_numbers for parser in nested)):
        return None
    others = {kind.name for kind in kinds} - {"numeric", "constant" if separator == "." else ""}
    if others and separator in (*_TIMES, "."):
        return None
    varying = [j for j, kind in enumerate(kinds) if kind.name in allowed]
    if len(varying) == 1 and kinds[varying[0]].name == "numeric":  # such as "4.1/5"
        part = parts[varying[0]]
        n_known, digits = int(np.sum(part.codes >= 0)), all(map(str.isdigit, part.levels))
        is_unique = digits and are_identifiers(len(part.levels), n_known, len(part.codes))
        others = {kind.name for j, kind in enumerate(kinds) if j != varying[0]}
        return None if is_unique or others != {"constant"} else CompoundFormat(separator, kinds)
    return CompoundFormat(separator, kinds) if len(varying) > 1 else None


def _without_brackets(text: str) -> str:
    return _BEFORE_BRACKET.sub("", text).strip("()[]{} ")


def parts_of(cells: Levels, separator: str, n_parts: int) -> list[Levels]:
    """Split strings into columns of their parts, which are missing if their number is another."""
    bare = map(_without_brackets, cells.levels)
    split = [list(map(_without_brackets, text.split(separator))) for text in bare]
    columns = []
    for j in range(n_parts):
        code_of: dict[str, int] = {}
        codes = [
            code_of.setdefault(parts[j], len(code_of)) if len(parts) == n_parts else -1
            for parts in split
        ]
        columns.append(Levels(list(code_of), np.array([*codes, -1])[cells.codes]))
    return columns


def _kind_of_part(part: Levels, column: str) -> Kind:
    """Infer the kind of a part; digits are numbers, also with leading zeros."""
    texts = [text for text in part.levels if not is_null_word(text)]
    if len(texts) < 2:
        return Kind("constant", "one value, or none")
    if not all(map(str.isdigit, texts)):
        return find_kind(part, "")
    number_format = NumberFormat()
    values = number_format.parse(texts)
    n_known, n_rows = int(np.sum(part.codes >= 0)), len(part.codes)
    named = is_identifier_name(column) and are_identifiers(len(texts), n_known, n_rows)
    if named or is_count(values, n_rows):
        return Kind("identifier", "all values differ")
    return Kind("numeric", "numbers written as strings", parser=number_format)


def _long(sample: _Sample) -> Kind:
    n_words = float(np.mean([len(words(text)) for text in sample.texts]))
    if n_words < _MIN_WORDS_OF_TEXT:
        return Kind("name", f"{sample.n_levels} different short strings")
    why = f"{sample.n_levels} different strings of {n_words:.0f} words on average"
    return Kind("text", why)
