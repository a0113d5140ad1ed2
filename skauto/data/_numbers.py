"""Parsing of numbers that are written as strings: "$1,234.50", "(12)", "3,5 %"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Strings that mean a missing value, in lower case.
NULL_WORDS = frozenset(
    ["", "-", "--", "?", ".", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "<na>"]
)
_CURRENCY = r"(?:us\$|[$€£¥₹₽₩₺]|usd|eur|gbp|chf|jpy|inr|cad|aud|cny|kr\.?|rs\.?)"
# Spaces are matched possessively: adjacent runs of them would share a long run in many ways.
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*+(?P<sign>[-+−])?\s*+{_CURRENCY}?\s*+(?P<sign2>[-+−])?"
    rf"(?P<digits>[\d.,'’\s]*\d[.,]?)(?P<exponent>e[-+]?\d+)?\s*+"
    rf"(?:{_CURRENCY}|(?P<percent>%))?\s*+(?P<close>\))?"
)
# Numbers by decimal separator, with an optional separator of groups of three digits.
_DIGITS = {
    ".": re.compile(r"(?:\d{1,3}(?:([,'’\s])\d{3})(?:\1\d{3})*|\d+)?(?:\.\d*)?"),
    ",": re.compile(r"(?:\d{1,3}(?:([.'’\s])\d{3})(?:\1\d{3})*|\d+)?(?:,\d*)?"),
}
_GROUPING = re.compile(r"[,.'’\s]")
# Digits with a leading zero are codes, such as postal codes.
_CODE = re.compile(r"\s*0\d+\s*")


@dataclass(frozen=True)
class NumberFormat:
    """Format of the numbers of one column: the decimal separator, "." or ","."""

    decimal: str = "."

    @classmethod
    def of(cls, texts: Sequence[str]) -> "NumberFormat":
        """Infer the decimal separator: the one that parses more strings, "." in a tie.

        "1,234" alone is 1234; "1,5" or "1.234,5" implies a decimal comma.
        """
        point, comma = cls("."), cls(",")
        n_point = np.isfinite(point.parse(texts)).sum()
        n_comma = np.isfinite(comma.parse(texts)).sum()
        return comma if n_comma > n_point else point

    def parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Parse strings as numbers, shape (n_texts,); NaN if a string is not a number.

        "5%" is 0.05, and "(5)" is -5.
        """
        if self.decimal == "." and not any("_" in text for text in texts):
            try:
                values = np.array(list(map(float, texts)), dtype=np.float64)
            except ValueError:
                pass
            else:
                return np.where(np.isinf(values), np.nan, values)
        return np.array([self._parse_one(text) for text in texts], dtype=np.float64)

    def _parse_one(self, text: str) -> float:
        match = _NUMBER.fullmatch(text.strip().lower())
        if match is None or (match["open"] is None) != (match["close"] is None):
            return np.nan
        digits = match["digits"].strip()
        if _DIGITS[self.decimal].fullmatch(digits) is None:
            return np.nan
        whole, _, fraction = digits.partition(self.decimal)
        plain = f"{_GROUPING.sub('', whole)}.{fraction}{match['exponent'] or ''}"
        try:
            value = float(plain)
        except ValueError:
            return np.nan
        if not np.isfinite(value):
            return np.nan
        negative = [match["sign"] in ("-", "−"), match["sign2"] in ("-", "−"), bool(match["open"])]
        return (-1.0) ** sum(negative) * (value / 100 if match["percent"] else value)


def is_null_word(text: str) -> bool:
    """Return whether a string is one of `NULL_WORDS`, ignoring case and surrounding spaces."""
    return text.strip().casefold() in NULL_WORDS


def has_leading_zeros(texts: Sequence[str]) -> bool:
    """Return whether at least one string is a code with leading zeros, such as "007"."""
    return any(map(_CODE.fullmatch, texts))
