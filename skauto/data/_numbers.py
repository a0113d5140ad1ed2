"""Parsing of numbers written as strings: "$1,234.50", "(12)", "3,5 %", "8 GB", "1h 30m"."""

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skauto.data._notations import (
    ABOUT,
    AGO,
    AT_LEAST,
    AT_MOST,
    CURRENCY,
    CURRENCY_OF,
    FROM_TO,
    NEXT_UNIT,
    NUMERALS,
    OR_LESS,
    OR_MORE,
    RANGE,
    UNITS,
    ZEROS,
    plain,
)

# Spaces are matched possessively: adjacent runs of them would share a long run in many ways.
_PLAIN = re.compile(
    rf"(?:{CURRENCY}\s*+(?=\())?(?P<open>\()?\s*+(?P<sign>[-+])?\s*+{CURRENCY}?\s*+(?P<sign2>[-+])?"
    rf"(?P<digits>[\d.,'\s]*\d[.,]?)(?:(?<=[.,])-{{1,2}}|:-)?(?P<exponent>e[-+]?\d+)?\s*+"
    rf"(?:{CURRENCY}|(?P<percent>[%‰]))?\s*+(?P<sign3>-)?(?P<close>\))?"
)
# Words, and symbols such as those of currencies.
_SYMBOL = re.compile(r"[^\W\d_]+[$.]?|[^\w\s.,'()/%+-]")
# "$ -" is zero in the accounting format of spreadsheets.
_ZERO = re.compile(rf"{CURRENCY}\s*-|-\s*{CURRENCY}")
# Numbers by decimal mark, with an optional separator of groups of three digits, or of two in
# India: "12,34,567". The first group does not begin with 0.
_DIGITS = {
    ".": re.compile(
        r"(?:[1-9]\d{0,2}([,'\s])\d{3}(?:\1\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3}|0,000|\d+)?(?:\.\d*)?"
    ),
    ",": re.compile(r"(?:[1-9]\d{0,2}([.'\s])\d{3}(?:\1\d{3})*|\d+)?(?:,\d*)?"),
}
_GROUPING = re.compile(r"[,.'\s]")
# Numbers whose points separate groups.
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})*|0")
# Currencies of texts in which a comma separates groups.
_COMMA_GROUPS = {"$", "£", "¥", "₹", "₩", "฿", "rm", "a$", "c$", "hk$", "mx$", "nz$", "nt$", "s$"}
# "1,234", which may be 1234 or 1.234.
_THREE_DIGITS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}([.,])\d{3}(?![\d.,])")
# Digits with a leading zero are codes, such as postal codes.
_CODE = re.compile(r"\s*0\d+\s*")
# Parts of a number with a unit, an interval, or a sum of units.
_RUN = re.compile(r"((?:(?<![^\W\d])\.)?\d+(?:[.,]\d+|['\s]\d{3}(?!\d))*)(e[-+]?\d+(?!\w))?")
_START = re.compile(
    rf"{ABOUT}?\s*(?:(?P<most>{AT_MOST})|(?P<least>{AT_LEAST}))?\s*"
    rf"(?P<sign>[-+])?\s*(?:{CURRENCY}|[#№])?\s*"
)
_END = re.compile(
    rf"(?P<plus>\+|{OR_MORE}\b)?(?P<minus>{OR_LESS}\b)?\s*(?P<unit>.*?)\s*"
    rf"(?:(?P<most>{OR_LESS})|(?P<least>{OR_MORE}))?"
)
# An interval such as "[10-20)" or "(20, 30]", also with an infinite end.
_INTERVAL = re.compile(r"[\[(]\s*([^\[\](),;]+?)\s*(?:[,;]|(?<=\d)-)\s*([^\[\](),;]+?)\s*[\])]")
_BETWEEN = re.compile(rf"(?P<unit>.*?)\s*{RANGE}\s*(?:{CURRENCY})?\s*")
_UNIT = re.compile(r"[^\W\d_°%].{0,24}|[%/].{1,12}|[%°'\"¢].{0,3}|''")
_NO_UNIT = re.compile(r"[()\[\]<>=;:,+_@\\|]")
_KNOWN_UNITS = frozenset(unit for family in UNITS for unit in family.sizes)
_ORDINAL = re.compile(r"\A(?:st|nd|rd|th)\b\.?\s*")
# Digits of a unit: "m2", "l/100km".
_DIGITS_OF_UNIT = re.compile(r"(?<=[^\W\d_])[23](?![\w.,])|(?<=[^\d\s]/)\d+\s?(?=[^\W\d_])")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_ENDS_OF_UNIT = re.compile(
    rf"^\s*{CURRENCY}(?![^\W\d_])\s*|\s*(?:(?<![^\W\d_]){CURRENCY}|[$€£¥₹])\s*$"
)
_OF_AGE = re.compile(r"\s+(?:old|of age|ago|left|remaining)$")
_INFINITE = ("inf", "infinity", "∞")
# "3 1/2", and "a year ago".
_FRACTION = re.compile(r"(?<![\d.,/])(\d+)[- ](\d)/(2|3|4|5|8|16|32|64)(?![\d.,/])")
# "48°51'30\"N": degrees, minutes and seconds before a direction.
_DEGREES = re.compile(r"""(\d+)° ?(\d+\.?\d*)' ?(?:(\d+\.?\d*)(?:"|'') ?)?(?=[nsew]\b)""")
_ARTICLE = re.compile(r"\Aan? (?=\S+ ago\Z)")
_AND = re.compile(r"\s*(?:,|\band|&)\s*$")
# Marks of footnotes, "[a]" or "*", and a note without digits, "(est.)", after a number.
_FOOTNOTE = re.compile(r"(?<=[^\s\[(])\s*(?:\[[^\[\]]{1,12}\]|[*†‡])+$")
_NOTE = re.compile(r"(.*\d[^()]*?)\s*\(([^()\d]*[^\W\d_][^()\d]*)\)")
_ENDS_OF_NOTE = (")", "]", "*", "†", "‡")
# Characters and numbers of a cell that is a number with units.
_MAX_LENGTH, _MAX_PARTS = 60, 4
# Relative distance of an open end from its bound: "<5" is a little less than 5.
_BEYOND = 1e-5
# Maximum number of levels of a column of disjoint intervals, and minimum share of the intervals
# that ascend if they overlap.
_MAX_BANDS = 100
_MIN_ASCENDING = 0.98
# Minimum ratio of numbers with a unit to those without that makes the unit of the latter doubtful.
_OTHER_UNIT = 10
_MAX_CACHED = 10_000
# Numbers that stand for a missing value: nines, and bounds of integers. Beside them, other
# repeated digits and the two numbers below nines do too.
_NINES = [99, 999, 9999, 99_999, 999_999, 99.9, 99.99, 999.9, 999.99, 9999.9, 9999.99, 999.25]
_NINES += [2**15 - 1, 2**15, 2**16 - 1, 2**31 - 1, 2**31]
_BESIDE_NINES = [77, 88, 97, 98, 777, 888, 997, 998, 7777, 8888, 9997, 9998]
FILLER_NUMBERS = np.outer([-1, 1], [*_NINES, *_BESIDE_NINES]).ravel()
_MIN_FILLERS = 3


class _Part(NamedTuple):
    """Digits, the unit after them, and their numbers by decimal mark, NaN if they are none."""

    digits: str
    unit: str
    point: float
    comma: float

    @classmethod
    def of(cls, digits: str, exponent: str | None, unit: str) -> "_Part":
        """Read the digits with each mark."""
        return cls(digits, unit, *(_number(digits, exponent or "", mark) for mark in _DIGITS))


class _Reading(NamedTuple):
    """The parts of a cell: one number, the two ends of a band, or a sum of units.

    ``beyond`` is -1 for "less than", 1 for "more than". ``note`` is what brackets say after it.
    ``currency`` is the name or symbol of one, "" for none.
    """

    parts: list[_Part]
    sign: float = 1.0
    beyond: int = 0
    band: bool = False
    note: str = ""
    currency: str = ""


@dataclass(frozen=True)
class NumberFormat:
    """Format of the numbers of one column.

    ``decimal`` is the decimal mark, "." or ","; if ``mixed``, numbers that it cannot read have the
    other one. ``units`` are the sizes of the units after a number, "" for a number without one, in
    multiples of the ``base`` unit. ``bands``: intervals such as "11-50" are read, as their middle.
    ``alone``: single numbers are read too, since ``fit`` saw others than bands and open ends.
    ``note`` may follow in brackets. Of amounts with a currency, those in ``currencies`` are read,
    or all if ``fit`` saw none. ``ambiguous``: "1,234" is read as 1234 and may be 1.234.
    ``whole``: no number has a decimal, and points separate groups. ``unsure``:
    a mark after which three digits may be decimals or a group; such numbers are not read.
    """

    decimal: str = "."
    mixed: bool = False
    units: dict[str, float] = field(default_factory=lambda: {"": 1.0})
    base: str = ""
    bands: bool = False
    alone: bool = True
    note: str = ""
    currencies: tuple[str, ...] = ()
    ambiguous: bool = False
    whole: bool = False
    unsure: str = ""

    @classmethod
    def of(cls, texts: Sequence[str], rows: Sequence[int] | None = None) -> "NumberFormat":
        """Infer the format from distinct strings, and the number of rows of each.

        The decimal mark is the one that parses more strings, "." in a tie: "1,234" alone is 1234;
        "1,5", "0,234" or "1.234,5" implies a decimal comma, and so does "950" beside "1.234", or €
        everywhere, if three digits follow all points. If neither parses all, both are read.
        """
        if _floats(texts) is not None and not _are_grouped([text.strip(" +-") for text in texts]):
            return cls()
        found = [_split(text) for text in texts]
        weights = [1] * len(texts) if rows is None else list(rows)
        parts = [part for reading in found if reading for part in reading.parts]
        digits = [part.digits for part in parts]
        by_point = ~np.isnan(np.array([part.point for part in parts], dtype=np.float64))
        by_comma = ~np.isnan(np.array([part.comma for part in parts], dtype=np.float64))
        currencies = tuple(sorted({reading.currency for reading in found if reading} - {""}))
        is_grouped = _are_grouped(digits, money=currencies == ("€",))
        decimal = "," if by_comma.sum() > by_point.sum() or is_grouped else "."
        mixed = bool((by_point | by_comma).sum() > max(by_comma.sum(), by_point.sum()))
        millions = bool(currencies) or any("M" in text for text in texts)
        units, base = _units_of(found, weights, millions)
        notes = Counter(reading.note for reading in found if reading and reading.note)
        note = notes.most_common(1)[0][0] if notes else ""
        chosen = cls(decimal, mixed, units, base, True, True, note, currencies)
        bands = chosen._are_bands(found, weights)
        alone = not bands or any(r and not r.band and not r.beyond for r in found)
        ambiguous = decimal == "." and not mixed and _COMMA_GROUPS.isdisjoint(currencies)
        ambiguous &= bool(digits) and all(has_three_digits(text, ",") for text in digits)
        whole = decimal == "," and "" in units and all(map(_GROUPED.fullmatch, digits))
        return replace(chosen, bands=bands, alone=alone, ambiguous=ambiguous, whole=whole)

    def parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Parse strings as numbers, shape (n_texts,); NaN if a string is not a number.

        "5%" is 0.05, and "(5)" is -5.
        """
        values = _floats(texts) if self.decimal == "." and self.keeps_bare_numbers else None
        if values is None:
            values = np.array([self._value(_split(text)) for text in texts], dtype=np.float64)
        if self.unsure:
            values[[has_three_digits(text, self.unsure) for text in texts]] = np.nan
        return values

    def other_unit(
        self, texts: Sequence[str], values: NDArray[np.float64]
    ) -> tuple[str, str] | None:
        """Return a string with the only unit, and one without, which may have another unit.

        The `values` of the strings are the medians of both, and one is ten times the other.
        """
        if self.units.get("") in (None, 1.0) and not self.base:
            return None
        groups: tuple[list[tuple[float, str]], ...] = ([], [])
        pairs = zip(np.abs(values).tolist(), texts, strict=True)
        for size, text in sorted((size, text) for size, text in pairs if size > 0):
            if reading := _split(text):
                groups[any(part.unit for part in reading.parts)].append((size, text))
        if not all(groups):
            return None
        (size, text), (other, without) = (group[len(group) // 2] for group in reversed(groups))
        return (text, without) if max(size, other) >= _OTHER_UNIT * min(size, other) else None

    @property
    def keeps_bare_numbers(self) -> bool:
        """Whether a number without a unit is read as it is."""
        return self.alone and not self.whole and self.units.get("") == 1.0

    def of_bare(self, values: NDArray[Any]) -> NDArray[Any]:
        """Read numbers without a unit; a file reader may have taken points of groups for marks."""
        if self.keeps_bare_numbers:
            return values
        if self.whole:
            values = np.where(values % 1 > 0, np.round(values * 1000.0), values)
        return values * self.units[""]

    def _value(self, reading: _Reading | None) -> float:
        ends = self._ends(reading)
        return np.nan if ends is None else (ends[0] + ends[1]) / 2

    def _ends(self, reading: _Reading | None) -> tuple[float, float] | None:
        """Lower and upper end of an interval, or a number twice; None if it cannot be read."""
        if reading is None or reading.band > self.bands or reading.note not in ("", self.note):
            return None
        if not (self.alone or reading.band or reading.beyond):
            return None
        if self.currencies and reading.currency not in ("", *self.currencies):
            return None
        values = [self._quantity(part) for part in reading.parts]
        if not all(map(math.isfinite, values)):
            return None
        if reading.band:
            low, high = values[0] * reading.sign, values[1]
            return (low, high) if low < high else None
        sizes = [self.units.get(part.unit, 0.0) for part in reading.parts]
        if not all(0 < b < a for a, b in itertools.pairwise(sizes)):
            return None
        value = reading.sign * sum(values)
        value += reading.beyond * _BEYOND * max(abs(value), _BEYOND)
        return value, value

    def _quantity(self, part: _Part) -> float:
        value, other = part.point, part.comma
        if self.decimal == ",":
            value, other = other, value
        value = other if self.mixed and math.isnan(value) else value
        return value * self.units.get(part.unit, np.nan if value or part.unit else 0.0)

    def _are_bands(self, found: Sequence[_Reading | None], rows: Sequence[int]) -> bool:
        """Whether intervals are quantities, and not pairs of numbers such as the score of a match.

        They are if they are few and disjoint with all other numbers. Others must ascend, and have
        a unit or be among more single numbers, in rows or different ones.
        """
        pairs = zip(found, rows, strict=True)
        known = [(read, n) for read, n in pairs if read and read.note in ("", self.note)]
        if not any(reading.band for reading, _ in known):
            return False
        ends = [self._ends(reading) for reading, _ in known]
        bands = [(end, *pair) for end, pair in zip(ends, known, strict=True) if pair[0].band]
        if len(ends) <= _MAX_BANDS and None not in ends and len(ends) > 1:
            ordered = sorted(end for end in ends if end is not None)
            if all(a[1] <= b[0] for a, b in zip(ordered, ordered[1:], strict=False)):
                return True
        if sum(end is not None for end, _, _ in bands) < _MIN_ASCENDING * len(bands):
            return False
        have_units = all(reading.parts[1].unit for _, reading, _ in bands)
        shares = len(bands) / len(known), sum(n for *_, n in bands) / sum(n for _, n in known)
        return have_units or min(shares) < 0.5


def filler_numbers(values: NDArray[Any]) -> tuple[float, ...]:
    """Return the codes of missing values, such as -999: frequent, and far from other numbers.

    Frequent are at least three. Far is twice the span of the other numbers, or nine times it for
    five digits, since incomes end at 99999, and twice the highest of them: 99 beside 95 and 96 is
    none; or below zero if no other number is.
    """
    numbers, counts = np.unique(values, return_counts=True)
    is_code = np.isin(numbers, FILLER_NUMBERS)
    others = numbers[~is_code & ~np.isnan(numbers)]
    if len(others) < 2:
        return ()
    low, high = float(others[0]), float(others[-1])
    margin = np.where(np.abs(numbers) < 10_000, 2, 9) * (high - low)
    far = numbers < (0 if low >= 0 else low - margin)
    far |= numbers > high + np.maximum(margin, high)
    found = numbers[is_code & far & (counts >= _MIN_FILLERS)]
    return tuple(found.tolist()) if np.isin(np.abs(found), _NINES).any() else ()


def without_fillers(values: NDArray[Any], fillers: Sequence[float]) -> NDArray[Any]:
    """Return numbers with NaN in the place of `fillers`."""
    return np.where(np.isin(values, fillers), np.nan, values) if fillers else values


def _floats(texts: Sequence[str]) -> NDArray[np.float64] | None:
    """Parse strings that Python's float reads; None if it does not read one, or "1_2"."""
    try:
        values = np.array(list(map(float, texts)), dtype=np.float64)
    except ValueError:
        return None
    if any("_" in text for text in texts):
        return None
    return np.where(np.isinf(values), np.nan, values)


@functools.lru_cache(_MAX_CACHED)  # the format is inferred from the strings that are parsed next
def _split(text: str) -> _Reading | None:
    """Split a cell into numbers, units and a currency; None if it is something else."""
    text = plain(text)
    if text.endswith(" ago"):
        text = _ARTICLE.sub("1 ", text)
    if "/" in text:
        text = _FRACTION.sub(lambda m: str(int(m[1]) + int(m[2]) / int(m[3])), text)
    if "°" in text:
        text = _DEGREES.sub(
            lambda m: f"{sum(float(x or 0) / 60**i for i, x in enumerate(m.groups())):.6f}°", text
        )
    reading = _split_plain(text)
    money = next(filter(None, map(CURRENCY_OF.get, _SYMBOL.findall(text))), "")
    return _Reading(*reading[:-1], money) if reading and money else reading


def _in_digits(text: str) -> str:
    """Return the digits of "two hundred" or "twenty-five"; other strings as they are."""
    words = text.replace("-", " ").split()
    if not words or not NUMERALS.keys() >= set(words):
        return text
    total = part = 0
    for size in map(NUMERALS.__getitem__, words):
        part = max(part, 1) * size if size >= 100 else part + size
        if size >= 1000:
            total, part = total + part, 0
    return str(total + part)


def _split_plain(text: str) -> _Reading | None:
    text = "0" if text in ZEROS or _ZERO.fullmatch(text) else _in_digits(AGO.get(text, text))
    if bare := _PLAIN.fullmatch(text):
        part = _Part.of(bare["digits"].strip(), bare["exponent"], bare["percent"] or "")
        if not (math.isnan(part.point) and math.isnan(part.comma)):
            if (bare["open"] is None) != (bare["close"] is None):
                return None
            sign = -1.0 if bare["open"] or "-" in bare.group("sign", "sign2", "sign3") else 1.0
            return _Reading([part], sign)
    if len(text) > _MAX_LENGTH:
        return None
    if text.endswith(_ENDS_OF_NOTE):
        if (without := _FOOTNOTE.sub("", text)) != text:
            return _split_plain(without)
        if noted := _NOTE.fullmatch(text):
            reading = _split_plain(noted[1])
            return None if reading is None else reading._replace(note=noted[2])
    if interval := _INTERVAL.fullmatch(text):
        low, high = interval.groups()
        if high in _INFINITE:
            return _split_plain(f"> {low}")
        return _split_plain(f"< {high}" if low.lstrip("-") in _INFINITE else f"{low} to {high}")
    text = FROM_TO.sub(lambda match: f"{match[1]} to {match[2]}", text)
    text = _DIGITS_OF_UNIT.sub(lambda match: match[0].rstrip().translate(_SUPERSCRIPTS), text)
    runs = list(_RUN.finditer(text))
    if not 1 <= len(runs) <= _MAX_PARTS:
        return None
    stops = [*(run.start() for run in runs[1:]), len(text)]
    gaps = [text[run.end() : stop] for run, stop in zip(runs, stops, strict=True)]
    start, end = _START.fullmatch(text[: runs[0].start()]), _END.fullmatch(gaps.pop().strip())
    if start is None or end is None:
        return None
    between = [_BETWEEN.fullmatch(gap) for gap in gaps]
    band = len(between) == 1 and between[0] is not None
    if any(between) and not band:
        return None
    pairs = zip(between, gaps, strict=True)
    texts = [match["unit"] if match else _AND.sub("", gap) for match, gap in pairs]
    units = [_unit(unit) for unit in (*texts, end["unit"])]
    if any(unit is None for unit in units):
        return None
    if band:
        units[0] = units[0] or units[1]
    elif len(units) > 1:
        units[-1] = units[-1] or NEXT_UNIT.get(units[-2] or "", "")
        if not all(units):
            return None
    parts = [_Part.of(run[1], run[2], unit or "") for run, unit in zip(runs, units, strict=True)]
    more = start["least"] or end["least"] or end["plus"]
    beyond = bool(more) - bool(start["most"] or end["most"] or end["minus"])
    sign = -1.0 if start["sign"] == "-" else 1.0
    return _Reading(parts, sign, 0 if band else beyond, band)


@functools.lru_cache(_MAX_CACHED)
def _unit(text: str) -> str | None:
    """Return the unit in the string after a number; None if it cannot be a unit."""
    text = _ENDS_OF_UNIT.sub("", _ORDINAL.sub("", text.strip())).strip(" .")
    text = _OF_AGE.sub("", text.replace("° ", "°"))
    if not text:
        return ""
    if len(text.split()) > 3 or not _UNIT.fullmatch(text) or _NO_UNIT.search(text):
        return None
    plural = len(text) > 3 and text[-1] == "s" and text[-2] != "s" and text not in _KNOWN_UNITS
    return text[:-1] if plural else text


def _units_of(
    found: Sequence[_Reading | None], rows: Sequence[int], millions: bool
) -> tuple[dict[str, float], str]:
    """Choose the sizes of units that read the most rows, and the name of the base unit.

    "m" alone are meters if it cannot be ``millions``. Zero needs no unit.
    """
    uses: Counter[tuple[str, ...]] = Counter()
    for reading, n in zip(found, rows, strict=True):
        if reading and any(reading.parts[-1][1:]):  # a unit, or another number than zero
            uses[tuple(part.unit for part in reading.parts)] += n
    single: Counter[str] = Counter()
    for units, n in uses.items():
        single.update(dict.fromkeys(filter(None, units), n))
    if not single:
        return {"": 1.0}, ""
    bare = any(not any(units) for units in uses)
    ((frequent, _),) = single.most_common(1)
    choices = [(dict(family.sizes), family.base, family.bare) for family in UNITS]
    meters = single.keys() == {"m"} and not millions
    choices = [c for c in choices if frequent in c[0] and (c[1] == "m" or not meters)]
    choices += [({frequent: 1.0}, frequent, False), ({}, "", True)]
    for sizes, _, always in choices:
        if bare and (always or len(single) == 1):
            sizes[""] = 1.0 if always else sizes[frequent]
    sizes, base, _ = max(
        choices, key=lambda c: sum(n for u, n in uses.items() if c[0].keys() >= set(u))
    )
    if len(single) == 1 and base:
        return {unit: size / sizes[frequent] for unit, size in sizes.items()}, frequent
    return sizes, base


def _number(digits: str, exponent: str, decimal: str) -> float:
    if not _DIGITS[decimal].fullmatch(digits):
        return math.nan
    whole, _, fraction = digits.partition(decimal)
    return float(f"{_GROUPING.sub('', whole)}.{fraction}{exponent}")


def _are_grouped(digits: Sequence[str], *, money: bool = False) -> bool:
    """Whether points separate groups: three digits follow each, and "950" or money has none."""
    grouped = all(map(_GROUPED.fullmatch, digits)) and any("." in x for x in digits)
    return grouped and (money or any(len(x) == 3 for x in digits))


def has_three_digits(text: str, mark: str) -> bool:
    """Return whether a string is like "1.234" or "1,234", with this mark."""
    return (found := _THREE_DIGITS.search(text)) is not None and found[1] == mark


def is_quantity(text: str) -> bool:
    """Return whether a string is a number, maybe with a unit, or an interval or sum of some."""
    return _split(text) is not None


def may_be_numbers(texts: Sequence[str]) -> bool:
    """Return whether a digit, or a word such as "two", is there, and no code such as "007"."""
    if any(any(map(str.isdigit, text)) for text in texts):
        return not any(map(_CODE.fullmatch, texts))
    return len(texts) <= _MAX_BANDS and any(_in_digits(plain(text)).isdigit() for text in texts)
