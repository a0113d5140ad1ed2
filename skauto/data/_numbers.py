"""Numbers that are written as strings: "$1,234.50", "(12)", "3,5 %"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# What people write where a number or a date is missing, in lower case.
NULL_WORDS = frozenset(
    ["", "-", "--", "?", ".", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "<na>"]
)
_CURRENCY = r"(?:us\$|[$€£¥₹₽₩₺]|usd|eur|gbp|chf|jpy|inr|cad|aud|cny|kr\.?|rs\.?)"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+−])?\s*{_CURRENCY}?\s*(?P<sign2>[-+−])?"
    rf"(?P<digits>[\d.,'’\s]*\d[.,]?)(?P<exponent>e[-+]?\d+)?\s*"
    rf"(?:{_CURRENCY}|(?P<percent>%))?\s*(?P<close>\))?"
)
# What stands for the decimal point, and how groups of three digits may be set apart.
_DIGITS = {
    ".": re.compile(r"(?:\d{1,3}(?:([,'’\s])\d{3})(?:\1\d{3})*|\d+)?(?:\.\d*)?"),
    ",": re.compile(r"(?:\d{1,3}(?:([.'’\s])\d{3})(?:\1\d{3})*|\d+)?(?:,\d*)?"),
}
_GROUPING = re.compile(r"[,.'’\s]")
# A leading zero says that the digits are a code, such as a postal code.
_CODE = re.compile(r"\s*0\d+\s*")


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of one column are written.

    Parameters
    ----------
    decimal : {".", ","}, default="."
        What separates the fraction.
    """

    decimal: str = "."

    @classmethod
    def of(cls, texts: Sequence[str]) -> "NumberFormat":
        """Find the format that fits most of some strings, the point where both do.

        Parameters
        ----------
        texts : list of str
            Distinct strings of a column.

        Returns
        -------
        number_format : NumberFormat
            "1,234" alone is a thousand and more; "1,5" or "1.234,5" shows a decimal comma.
        """
        point, comma = cls("."), cls(",")
        n_point = np.isfinite(point.parse(texts)).sum()
        n_comma = np.isfinite(comma.parse(texts)).sum()
        return comma if n_comma > n_point else point

    def parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Read strings as numbers.

        Parameters
        ----------
        texts : list of str of length n
            The strings.

        Returns
        -------
        values : ndarray of shape (n,)
            NaN where a string is no number; a percentage is divided by 100, parentheses negate.
        """
        if self.decimal == ".":
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
    """Say whether a string stands for a missing value.

    Parameters
    ----------
    text : str
        Content of a cell.

    Returns
    -------
    is_null : bool
        Upper and lower case and spaces around it do not matter.
    """
    return text.strip().casefold() in NULL_WORDS


def has_leading_zeros(texts: Sequence[str]) -> bool:
    """Say whether some strings are codes of digits such as "007".

    Parameters
    ----------
    texts : list of str
        Distinct strings of a column.

    Returns
    -------
    has : bool
        Whether one of them begins with a zero that a number would not have.
    """
    return any(map(_CODE.fullmatch, texts))
