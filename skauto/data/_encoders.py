"""Encoders from the cells of one column to numeric output columns, one class per kind."""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.data._contract import Unread
from skauto.data._dates import DATE_PARTS, DateFormat, date_parts
from skauto.data._durations import DurationFormat
from skauto.data._encoder import Block, Encoder, TextLearning, by_level, known_strings
from skauto.data._kinds import (
    SEPARATORS,
    BooleanWords,
    CompoundFormat,
    Kind,
    parts_of,
    split_tags,
    uses_of_tags,
)
from skauto.data._notations import CSV_NULLS, folded, is_null_word, spellings
from skauto.data._numbers import FILLER_NUMBERS, NumberFormat, has_three_digits, without_fillers
from skauto.data._rare_levels import min_rows_of_level
from skauto.data._table import (
    Cells,
    Dates,
    Levels,
    Numbers,
    as_levels,
    as_strings,
    common_type,
    duration_text,
    text_of,
    undeclared,
)
from skauto.data._text_encoders import NameEncoder, TextEncoder, name_features, text_features

_MAX_TAGS = 50
# Numbers of values that mostly show that a column holds others than integers, or than 0 and 1; and
# others than numbers of two decimals.
_FEW_VALUES, _MANY_VALUES = 10, 1000
# Number of strings that an error message quotes as examples.
_EXAMPLES = 2
_WORDS = BooleanWords("false", "true")
# Formats of columns of numbers, by the mark that is unsure. Many columns share them.
_BARE = {mark: NumberFormat(unsure=mark) for mark in ("", ",", ".")}
_INTEGERS = re.compile(r"(?<![\d.,])0*(\d+)")
# Whole numbers up to here and beyond may have groups of digits.
_GROUPS_FROM = 1000


@dataclass
class NumericEncoder(Encoder):
    """Encoder of numbers, booleans, durations, and strings that are parsed as such.

    ``form`` is the form of the numbers in ``fit``. With ``binary``, all of them were 0 or 1, and
    booleans are numbers. The numbers ``fillers`` are missing.
    """

    parser: Any
    form: str = "numbers"
    binary: bool = False
    fillers: tuple[float, ...] = ()

    @classmethod
    def of(cls, kind: Kind, cells: Cells) -> "NumericEncoder":
        """Return the encoder of a column, with the parser of its strings, if it holds some."""
        parser = kind.parser
        form, values = "numbers", np.array([np.inf])
        if isinstance(cells, Numbers):
            form, values = cells.form, cells.values
        elif len(texts := as_strings(cells).levels) <= _FEW_VALUES:
            values = parser.parse(texts)
        values = without_fillers(values, kind.fillers)
        binary = _only_binary(values[:_FEW_VALUES]) and _only_binary(values)
        parsers = {"booleans": _WORDS, "durations": DurationFormat()}
        parser = parser or parsers.get(form) or _BARE[""]
        if isinstance(parser, NumberFormat) and parser.units == {"": 1.0} and not parser.mixed:
            mark = _unsure_mark(parser, cells)
            parser = _BARE[mark] if parser is _BARE[""] else replace(parser, unsure=mark)
        return cls(parser, form, binary, kind.fillers)

    @property
    def takes_numbers(self) -> bool:
        """Whether any number is a value of the column."""
        if self.form != "numbers" or not isinstance(self.parser, NumberFormat):
            return False
        return "" in self.parser.units and self.parser.alone

    @property
    def keeps_numbers(self) -> bool:
        """Whether any number is a value of the column, and read as it is."""
        return self.takes_numbers and self.parser.keeps_bare_numbers

    def encode(self, cells: Cells, name: str) -> Block:
        """Return one column; strings that are not numbers are unread."""
        cells = undeclared(cells, name)
        if isinstance(cells, Numbers) and self._takes(cells):
            bare = isinstance(self.parser, NumberFormat) and cells.form == "numbers"
            values = self.parser.of_bare(cells.values) if bare else cells.values
            return Block(without_fillers(values, self.fillers)[:, None])
        strings = as_strings(cells)
        values = self._parse(strings.levels)
        unread = unread_of(strings, values, self.parser)
        known = without_fillers(values, self.fillers)
        return by_level(known[:, None], strings, np.nan, unread)

    def _takes(self, cells: Numbers) -> bool:
        if cells.form == "durations" or self.form == "durations":
            return cells.form == self.form
        if cells.form == "numbers" and self.takes_numbers:
            return True
        return self.binary and _only_binary(cells.values)

    def _parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.parser.parse(texts)
        if self.binary and self.takes_numbers:
            return np.where(np.isnan(values), _WORDS.parse(texts), values)
        return values


def _unsure_mark(parser: NumberFormat, cells: Cells) -> str:
    """Return the mark after which three digits are decimals or a group, "" for none.

    Large numbers of at most two decimals may have groups, but not three decimals. Small numbers
    have no groups. What occurred in ``fit`` is sure.
    """
    texts = [] if isinstance(cells, Numbers) else as_strings(cells).levels
    values = cells.values if isinstance(cells, Numbers) else parser.parse(texts)
    large = max(np.fmax.reduce(values), -np.fmin.reduce(values)) >= _GROUPS_FROM
    if large:
        some = values[:: 1 + len(values) // _MANY_VALUES]
        is_sure = (np.abs(np.round(some, 2) - some) > 0).any()
    else:
        is_sure = _only_integers(values[:_FEW_VALUES]) and _only_integers(values)
    if is_sure:
        return ""
    mark = "," if large == (parser.decimal == ",") else "."
    return "" if any(has_three_digits(text, mark) for text in texts) else mark


def plain_fractions(columns: Sequence[Cells]) -> dict[int, tuple[bool, int]]:
    """Return columns of few rows that are read alike, so that one encoder serves them all.

    They have numbers of more than two decimals, and no fillers. The dict maps their positions to
    whether they hold large numbers (see `_unsure_mark`) and to their numbers of missing cells.
    """
    found: dict[int, tuple[bool, int]] = {}
    numbers = {j: cells for j, cells in enumerate(columns) if isinstance(cells, Numbers)}
    values = {j: cells.values for j, cells in numbers.items() if cells.form == "numbers"}
    for dtype in (np.float32, np.float64):
        few = [j for j, x in values.items() if x.dtype == dtype and 0 < len(x) < _MANY_VALUES]
        for start in range(0, len(few), _MANY_VALUES):
            positions = few[start : start + _MANY_VALUES]
            found |= _plain_among(positions, np.stack([values[j] for j in positions]))
    return found


def _plain_among(positions: Sequence[int], values: NDArray[Any]) -> dict[int, tuple[bool, int]]:
    some = values[:, :_FEW_VALUES]
    low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
    plain = (np.abs(np.round(some, 2) - some) > 0).any(axis=1) & (low < high)
    plain &= ~(np.isin(low, FILLER_NUMBERS) | np.isin(high, FILLER_NUMBERS))
    large = np.maximum(high, -low) >= _GROUPS_FROM
    pairs = zip(large.tolist(), np.isnan(values).sum(axis=1).tolist(), strict=True)
    return dict(itertools.compress(zip(positions, pairs, strict=True), plain))


def _only_integers(values: NDArray[Any]) -> bool:
    return bool(((values == np.floor(values)) | np.isnan(values)).all())


def _only_binary(values: NDArray[Any]) -> bool:
    return bool(((values == 0) | (values == 1) | np.isnan(values)).all())


@dataclass
class DateEncoder(Encoder):
    """Encoder of dates as `DATE_PARTS`.

    If ``fit`` saw no order of day and month with the mark of new strings, they are read if their
    order is sure. Two-digit years are in the hundred years from ``first_year``. The dates
    ``fillers`` are missing.
    """

    parser: DateFormat | None = None
    fillers: tuple[str, ...] = ()
    first_year: int = 0

    def encode_fit(self, cells: Cells, name: str, learning: TextLearning) -> Block:
        """Encode the cells of ``fit``; without two-digit years, those are around the median."""
        block = self.encode(cells, name)
        days = block.values[~np.isnan(block.values[:, 0]), 0]
        if len(days) and (self.parser is None or self.parser.first_year is None):
            self.first_year = int(1920 + np.median(days) / 365.25)
        return block

    def encode(self, cells: Cells, name: str) -> Block:
        """Return one column per part; strings that are not dates are unread."""
        cells = undeclared(cells, name)
        if isinstance(cells, Dates):
            return Block(date_parts(self._known(cells.values)))
        strings = as_strings(cells)
        known, found = self.parser or DateFormat(), DateFormat.of(strings.levels)
        is_new = self.parser is None or not set(found.marks) <= set(known.marks)
        parser = replace(found, bare=found.bare | known.bare) if is_new else known
        parser = replace(parser, first_year=self.first_year or known.first_year)
        dates = parser.parse(strings.levels)
        if found.year_first > parser.year_first:
            dates[:] = np.datetime64("NaT")
        if is_new and parser.ambiguous:
            other = replace(parser, day_first=True, year_first=False)
            dates[dates != other.parse(strings.levels)] = np.datetime64("NaT")
        unread = unread_of(strings, dates, parser)
        return by_level(date_parts(self._known(dates)), strings, np.nan, unread)

    def _known(self, dates: NDArray[np.datetime64]) -> NDArray[np.datetime64]:
        fillers = np.array(self.fillers, dtype="datetime64[D]")
        is_filler = np.isin(dates.astype("datetime64[D]"), fillers)
        return np.where(is_filler, np.datetime64("NaT"), dates)

    def names_out(self, name: str) -> list[str]:
        return [f"{name}_{part}" for part in DATE_PARTS]


def _sorted(levels: set[Any]) -> list[Any]:
    """Sort levels: strings last, and by their text if they cannot be compared.

    Integers in strings have their order: "level 2" is before "level 10".
    """
    try:
        return sorted(levels, key=_place)
    except TypeError:  # such as datetimes with and without a time zone
        return sorted(levels, key=str)


def _place(level: Any) -> Any:
    if not isinstance(level, str):
        return False, level
    return True, _INTEGERS.sub(lambda match: f"{len(match[1]):04}{match[1]}", level), level


class CategoryEncoder(Encoder):
    """Ordinal encoding: codes 0, 1, 2, ... of sorted levels, NaN for missing cells.

    Levels with few rows share the last code, see `min_rows_of_level`, with levels that ``fit`` has
    not seen. What CSV readers take for missing, such as "None", is missing if other entries are in
    ``fit``, else a level, which missing ones join. If there is none, the reader replaces NaN by
    one more code. A level is known by its value or its text, ignoring case and spaces: strings
    that differ only by them are one level. Levels of a categorical dtype are not: there, another
    case is known unless several levels differ by it. With an ``order``, the codes are the places
    of the levels in it, they are no category codes, and unknown levels are unread.
    """

    def __init__(
        self,
        cells: Levels,
        order: Sequence[Any] | None = None,
        labels: NDArray[np.integer] | None = None,
    ) -> None:
        self.ordered = order is not None
        counts = np.bincount(cells.codes + 1, minlength=1)
        present = {cells.levels[code] for code in np.flatnonzero(counts[1:]).tolist()}
        if counts[0] and not cells.declared:
            present -= CSV_NULLS
        levels = _sorted(present) if order is None else list(order)
        self.of_strings = set(map(type, levels)) <= {str}
        are_merged = self.of_strings and not cells.declared
        groups = spellings(levels) if are_merged else [[level] for level in levels]
        self.min_rows, self.n_rare, self.new_code = 0, 0, np.nan
        ranks = np.arange(len(groups)) if self.ordered else self._pool_rare(cells, groups, labels)
        self.n_levels = int(ranks.max(initial=-1)) + 1
        codes = [(level, float(ranks[i])) for i, group in enumerate(groups) for level in group]
        texts = [text_of(level) for level, _ in codes]
        # Other levels, such as intervals, are known by their text: skops stores keys as JSON.
        same = len(set(texts)) < len(texts)
        self.code_of = {x: code for x, code in codes if same or isinstance(x, str | int | float)}
        self.types = sorted({common_type(kind) or "objects" for kind in map(type, levels)})
        self.code_of_text = {text: code for text, (_, code) in zip(texts, codes, strict=True)}
        known = {} if counts[0] else self.code_of_text
        self.null_code = next((known[text] for text in known if is_null_word(text)), np.nan)
        of_folded: dict[str, set[float]] = {}
        for text, code in self.code_of_text.items():
            of_folded.setdefault(folded(text), set()).add(code)
        self.code_of_folded = {text: min(c) for text, c in of_folded.items() if len(c) == 1}

    def _pool_rare(
        self, cells: Levels, groups: Sequence[Sequence[Any]], labels: NDArray[np.integer] | None
    ) -> NDArray[np.intp]:
        """Return the code of each group of levels; those with few rows share the last one."""
        group_of = {level: i for i, group in enumerate(groups) for level in group}
        index = np.array([*(group_of.get(level, -1) for level in cells.levels), -1])
        rows = index[cells.codes]
        n_rows = np.bincount(rows[rows >= 0], minlength=len(groups))
        self.min_rows = min_rows_of_level(rows, labels)
        rare = n_rows < self.min_rows
        self.n_rare = int(np.count_nonzero(rare))
        self.new_code = float(len(groups) - self.n_rare)
        return np.where(rare, len(groups) - self.n_rare, np.cumsum(~rare) - 1)

    def category_outputs(self) -> dict[int, int]:
        return {} if self.ordered else {0: self.n_levels}

    def encode(self, cells: Cells, name: str) -> Block:
        """Return one column of codes; levels that `fit` has not seen are unread."""
        coded = as_levels(cells)
        codes = np.array([*map(self._code, coded.levels), self.null_code])
        unknown = np.isnan(codes[:-1])
        if not unknown.any():
            return Block(codes[:, None], coded.codes)
        texts = [text_of(level) for level in coded.levels]
        null = np.array(list(map(is_null_word, texts)), dtype=bool)
        new = unknown & ~null
        codes[:-1][unknown & null] = self.null_code
        foreign = new & [next(self._usual_texts(text), None) is None for text in texts]
        codes[:-1][new & ~foreign] = self.new_code
        strings = Levels(texts, coded.codes)
        other_type = None if self.of_strings else Unread.of(strings, foreign)
        unread = other_type or Unread.of(strings, unknown, may_be_new=not self.ordered)
        return Block(codes[:, None], coded.codes, unread)

    def _code(self, level: Any) -> float:
        if (code := self.code_of.get(level)) is not None:
            return code
        text = text_of(level)
        for usual in (text, *self._usual_texts(text)):
            if usual in self.code_of_text:
                return self.code_of_text[usual]
        return self.code_of_folded.get(folded(text), np.nan)

    def _usual_texts(self, text: str) -> Iterator[str]:
        """Yield the usual text of a string for each type of the levels that it may have."""
        number = NumberFormat()
        parsers: dict[str, Any] = {"numbers": number, "booleans": number, "dates": DateFormat()}
        for kind, parser in (*parsers.items(), ("durations", DurationFormat())):
            value = parser.parse([text])[0] if kind in self.types else np.nan
            if value == value:  # neither NaN nor NaT
                yield duration_text(value) if kind == "durations" else text_of(value)
        if {"strings", "others", "objects"}.intersection(self.types):
            yield text


class CompoundEncoder(Encoder):
    """Encoder of strings of several parts, each with an encoder of its kind."""

    def __init__(
        self, cells: Levels, parser: CompoundFormat, labels: NDArray[np.integer] | None = None
    ) -> None:
        self.parser = parser
        parts = parts_of(cells, parser.separator, len(parser.kinds))
        kinds = zip(parser.kinds, parts, strict=True)
        self.encoders = [make_encoder(kind, part, 0, labels) for kind, part in kinds]

    def encode(self, cells: Cells, name: str) -> Block:
        """Return the outputs of all parts; strings of another number of parts are unread."""
        strings = as_strings(cells)
        levels = Levels(strings.levels, np.arange(len(strings.levels)))
        parts = parts_of(levels, self.parser.separator, len(self.encoders))
        unread, new = parts[0].codes < 0, np.zeros(len(levels.levels), dtype=bool)
        blocks = []
        for encoder, part in zip(self.encoders, parts, strict=True):
            block = encoder.encode(part, name)
            blocks.append(block.rows(0, len(strings.levels)))
            if block.unread is not None:
                found = [part.levels[code] if code >= 0 else "" for code in part.codes]
                mask = new if block.unread.may_be_new else unread
                mask |= np.isin(found, block.unread.texts)
        values = np.hstack([np.empty((len(strings.levels), 0)), *blocks])
        other = Unread.of(strings, unread) or Unread.of(strings, new, may_be_new=True)
        return by_level(values, strings, np.nan, other)

    def names_out(self, name: str) -> list[str]:
        named = enumerate(self.encoders, start=1)
        return [out for j, encoder in named for out in encoder.names_out(f"{name}_{j}")]

    def category_outputs(self) -> dict[int, int]:
        widths = (len(encoder.names_out("")) for encoder in self.encoders)
        starts = zip(itertools.accumulate(widths, initial=0), self.encoders, strict=False)
        return {start + j: n for start, e in starts for j, n in e.category_outputs().items()}


class TagsEncoder(Encoder):
    """Encoder of lists of tags: the number of tags, then one indicator column per frequent tag."""

    def __init__(self, cells: Levels, separator: str) -> None:
        self.separator = separator
        counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels))
        uses = uses_of_tags(cells.levels, counts, separator)
        self.known = sorted(uses, key=lambda tag: (-uses[tag], tag))
        self.tags = self.known[:_MAX_TAGS]

    def encode(self, cells: Cells, name: str) -> Block:
        """Return indicators; lists without a known tag are unread, and may have another mark."""
        strings, known = known_strings(cells), set(self.known)
        lists = [split_tags(text, self.separator) for text in strings.levels]
        rows = [[len(tags), *map(tags.__contains__, self.tags)] for tags in lists]
        values = np.array(rows, dtype=np.float64).reshape(len(rows), 1 + len(self.tags))
        new = np.array([bool(tags) and known.isdisjoint(tags) for tags in lists], dtype=bool)
        texts = itertools.compress(strings.levels, new)
        marked = any(known & split_tags(text, mark) for text in texts for mark in SEPARATORS)
        return by_level(values, strings, 0.0, Unread.of(strings, new, may_be_new=not marked))

    def names_out(self, name: str) -> list[str]:
        return [f"{name}_n_tags", *(f"{name}_{tag}" for tag in self.tags)]


class DropEncoder(Encoder):
    """Encoder without output columns."""

    def encode(self, cells: Cells, name: str) -> Block:
        return Block(np.empty((len(cells.missing), 0)))

    def names_out(self, name: str) -> list[str]:
        return []


def make_encoder(
    kind: Kind, cells: Cells, max_text_columns: int, labels: NDArray[np.integer] | None = None
) -> Encoder:
    """Fit the encoder of a column; a name or text has at most `max_text_columns` outputs.

    The class codes `labels` decide which levels are rare, see `min_rows_of_level`.
    """
    makers: dict[str, Callable[[], Encoder]] = {
        "numeric": lambda: NumericEncoder.of(kind, cells),
        "boolean": lambda: NumericEncoder.of(kind, cells),
        "date": lambda: DateEncoder(kind.parser, kind.fillers),
        "ordinal": lambda: CategoryEncoder(as_levels(cells), kind.parser),
        "compound": lambda: CompoundEncoder(as_levels(cells), kind.parser, labels),
        "categorical": lambda: CategoryEncoder(as_levels(cells), labels=labels),
        "name": lambda: _name_encoder(as_levels(cells), max_text_columns, labels),
        "text": lambda: TextEncoder(text_features(max_text_columns)),
        "tags": lambda: TagsEncoder(as_levels(cells), kind.parser),
    }
    return makers.get(kind.name, DropEncoder)()


def pooled_levels(encoder: Encoder) -> str:
    """Say which levels of a column are one level because they have few rows; "" if none."""
    category = encoder.category if isinstance(encoder, NameEncoder) else encoder
    if not isinstance(category, CategoryEncoder) or category.n_rare < 2:
        return ""
    return f"{category.n_rare} levels of fewer than {category.min_rows} rows are one level"


def _name_encoder(cells: Levels, max_columns: int, labels: NDArray[np.integer] | None) -> Encoder:
    """Encode text features, and category codes too if levels occur twice or more on average.

    Levels that occur less often have codes if half of the rows share their level with others, and
    some are frequent or predict the class codes `labels`. Without columns for terms, these are the
    lengths, or the codes alone.
    """
    features, n_rows = name_features(max_columns), np.bincount(cells.codes[cells.codes >= 0])
    categories = CategoryEncoder(cells, labels=labels)
    if 2 * len(cells.levels) > n_rows.sum():
        shared = 2 * np.count_nonzero(n_rows == 1) <= n_rows.sum()
        if labels is None or not shared or categories.n_rare == len(cells.levels):
            return TextEncoder(features)
    return NameEncoder(categories, TextEncoder(features)) if max_columns else categories


def unread_of(strings: Levels, values: NDArray[Any], parser: Any) -> Unread | None:
    """Count the strings that a parser does not read, neither as a value nor as missing.

    They contradict the parser if all strings can be read in another format, in which others have
    another value, such as 13/02/2024 beside 01/02/2024 if the month came first in ``fit``.
    """
    gaps: NDArray[np.bool_] = values != values
    found = Unread.of(strings, gaps)
    if found is None or not isinstance(parser, NumberFormat | DateFormat):
        return found
    others = parser.of(strings.levels).parse(strings.levels)
    fewer = Unread.of(strings, others != others)
    contradicts = fewer is None and bool((others != values)[~gaps].any())
    return replace(found, contradicts=contradicts)


def describe(encoder: Encoder, cells: Cells, unread: Collection[str]) -> str:
    """Describe a column for error messages, with examples of its strings but `unread`."""
    if isinstance(encoder, DateEncoder) and isinstance(cells, Dates):
        return "dates such as '2024-01-31'"
    if isinstance(encoder, NumericEncoder) and isinstance(cells, Numbers):
        return cells.form + " such as '1 days 02:30:00'" * (cells.form == "durations")
    names = {NumericEncoder: "numbers", DateEncoder: "dates", CategoryEncoder: "levels"}
    noun = names.get(type(encoder), "strings")
    parser = getattr(encoder, "parser", None)
    if isinstance(parser, BooleanWords):
        noun = "booleans"
    elif isinstance(encoder, NumericEncoder) and isinstance(parser, NumberFormat):
        sign = " with their unit or percent sign" if parser.alone else " in intervals"
        noun += "" if encoder.takes_numbers else sign
    elif isinstance(parser, DateFormat) and parser.day_first:
        noun += " with the day first"
    read = (text for text in as_strings(cells).levels if text not in unread)
    known = (repr(text[:50]) for text in read if not is_null_word(text))
    examples = list(itertools.islice(known, _EXAMPLES))
    return f"{noun} such as {' and '.join(examples)}" if examples else noun
