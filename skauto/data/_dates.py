"""Parsing of dates that are written as strings, and numeric features of dates."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Datetimes = NDArray[np.datetime64]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,?\s+)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4}|\d{2})"
# Spaces are matched possessively: adjacent runs of them would share a long run in many ways.
_TIME = (
    r"(?:(?:t|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?\s*+(?P<half>[ap]m)?"
    r"\s*+(?:z|utc|gmt|(?P<offset>[-+]\d{2}:?(?:\d{2})?))?)?"
)
_PATTERNS = tuple(
    re.compile(_WEEKDAY + date + _TIME)
    for date in (
        r"(?P<year>\d{4})-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?",
        r"(?P<year>\d{4})(?P<separator>[/.])(?P<month>\d{1,2})(?P=separator)(?P<day>\d{1,2})",
        rf"(?P<first>\d{{1,2}})(?P<separator>[-/.])(?P<other>\d{{1,2}})(?P=separator){_YEAR}",
        rf"{_DAY}[-\s]\s*(?:of\s+)?{_MONTH}[-,\s]\s*{_YEAR}",
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"{_MONTH}[-,\s]\s*(?P<year>\d{{4}})",
    )
)
# ISO dates, which NumPy parses faster than the patterns above.
_ISO_LINES = re.compile(r"(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?\n)*")
_SECONDS_PER_DAY = 86_400.0
_FIELDS = ("year", "month", "day", "hour", "minute", "second", "microsecond", "offset")
_PERIODS = ("year", "week", "day")

DATE_PARTS = (
    "day_number",
    "month",
    "day",
    "weekday",
    "hour",
    *(f"{period}_{function}" for period in _PERIODS for function in ("sin", "cos")),
)


@dataclass(frozen=True)
class DateFormat:
    """Format of the dates of one column.

    ``day_first``: "1/2/2024" is the first of February. ``ambiguous``: the values do not determine
    the order of day and month.
    """

    day_first: bool = False
    ambiguous: bool = False

    @classmethod
    def of(cls, texts: Sequence[str]) -> "DateFormat":
        """Infer the order of day and month from all dates of a column.

        If no number exceeds 12, the day comes first for the separator ".", and the month for other
        separators, which makes the format ambiguous.
        """
        matches = [match for match in map(_match, texts) if match and "first" in match.groupdict()]
        firsts = [int(match["first"]) for match in matches]
        others = [int(match["other"]) for match in matches]
        n_day_first = sum(value > 12 for value in firsts)
        n_month_first = sum(value > 12 for value in others)
        if n_day_first or n_month_first or not matches:
            return cls(day_first=n_day_first > n_month_first)
        if all(match["separator"] == "." for match in matches):
            return cls(day_first=True)
        return cls(ambiguous=firsts != others)

    def parse(self, texts: Sequence[str]) -> Datetimes:
        """Parse strings as dates, shape (n_texts,); NaT if a string is not a date.

        Dates are ISO dates, numbers separated by dashes, slashes or dots, or dates with English
        month names; optionally with a time of day, a weekday and a time zone, which is converted
        to UTC.
        """
        if _ISO_LINES.fullmatch("\n".join([*texts, ""])):
            try:
                return np.array(texts, dtype="datetime64[us]")
            except ValueError:
                pass  # for example month 13
        numbers = np.array([self._fields(text) for text in texts], dtype=np.int64)
        return _assemble(numbers.reshape(-1, len(_FIELDS)))

    def _fields(self, text: str) -> tuple[int, ...]:
        """Parse one date into the `_FIELDS`; month 0 marks a string that is not a date."""
        match = _match(text)
        if match is None:
            return (0,) * len(_FIELDS)
        found = match.groupdict()
        if "first" in found:
            names = ("day", "month") if self.day_first else ("month", "day")
            found.update(zip(names, (found["first"], found["other"]), strict=True))
        month = found["month"] or "0"
        hour = int(found["hour"] or 0)
        if found["half"]:
            hour = hour % 12 + 12 * (found["half"] == "pm") if 1 <= hour <= 12 else 99
        return (
            _full_year(found["year"] or "0"),
            int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1,
            int(found.get("day") or 1),
            hour,
            int(found["minute"] or 0),
            int(found["second"] or 0),
            int((found["fraction"] or "0").ljust(6, "0")[:6]),
            _minutes(found["offset"] or "+00"),
        )


def _match(text: str) -> re.Match[str] | None:
    text = text.strip().lower()
    if not any(map(str.isdigit, text)):
        return None
    return next(filter(None, (pattern.fullmatch(text) for pattern in _PATTERNS)), None)


def _full_year(digits: str) -> int:
    """Map two-digit years to 1969-2068, as POSIX does."""
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (1900 if year >= 69 else 2000)


def _minutes(offset: str) -> int:
    """Convert a time zone offset such as "+0530" to minutes."""
    digits = offset[1:].replace(":", "").ljust(4, "0")
    minutes = 60 * int(digits[:2]) + int(digits[2:])
    return -minutes if offset[0] == "-" else minutes


def _assemble(numbers: NDArray[np.int64]) -> Datetimes:
    """Build dates from rows of `_FIELDS`; NaT if a row is not a valid date and time."""
    year, month, day, hour, minute, second, microsecond, offset = numbers.T
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    minutes = hour * 60 + minute - offset
    time = (minutes * 60 + second) * 1_000_000 + microsecond
    dates: Datetimes = days.astype("datetime64[us]") + time.astype("timedelta64[us]")
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("datetime64[M]") == months)
    valid &= (hour < 24) & (minute < 60) & (second <= 60)
    dates[~valid] = np.datetime64("NaT")
    return dates


def date_parts(dates: Datetimes) -> NDArray[np.float64]:
    """Compute the `DATE_PARTS` of dates, shape (n_dates, 11); NaN where missing.

    They are the days since 1970 with their fraction, month, day, weekday (Monday is 0), hour, then
    sine and cosine of the position within the year, the week and the day.
    """
    known = np.where(np.isnat(dates), np.datetime64(0, "us"), dates)
    days = known.astype("datetime64[D]")
    months = known.astype("datetime64[M]")
    years = known.astype("datetime64[Y]").astype("datetime64[D]")
    number = known.astype(np.int64) / (_SECONDS_PER_DAY * 1e6)
    time_of_day = number - days.astype(np.int64)
    weekday = (days.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    phases = (
        ((days - years).astype(np.int64) + time_of_day) / 365.25,
        (weekday + time_of_day) / 7,
        time_of_day,
    )
    angles = 2 * np.pi * np.column_stack(phases)
    parts = np.empty((len(dates), len(DATE_PARTS)))
    parts[:, 0] = number
    parts[:, 1] = months.astype(np.int64) % 12 + 1
    parts[:, 2] = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
    parts[:, 3] = weekday
    parts[:, 4] = (known.astype("datetime64[h]") - days.astype("datetime64[h]")).astype(np.int64)
    parts[:, 5::2], parts[:, 6::2] = np.sin(angles), np.cos(angles)
    parts[np.isnat(dates)] = np.nan
    return parts
