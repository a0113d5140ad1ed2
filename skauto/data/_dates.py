"""Parsing of dates that are written as strings, and numeric features of dates."""

import datetime
import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skauto.data._notations import FILLER_DATES, plain

Datetimes = NDArray[np.datetime64]

# Names of months in twelve languages, without accents.
_MONTH_NAMES = (
    "jan january januar janner janvier janv enero ene gennaio gen janeiro januari stycznia ocak"
    " oca; feb february februar fevrier fevr febrero febbraio fevereiro fev februari lutego subat"
    " sub; mar march marz mrz mars marzo marco maart mrt marts marca mart; apr april avril avr"
    " abril abr aprile kwietnia nisan nis; may mai mayo maggio mag maio mei maj maja mayıs mayis;"
    " jun june juni juin junio giugno giu junho czerwca haziran haz; jul july juli juillet juil"
    " julio luglio lug julho lipca temmuz tem; aug august aout agosto ago augustus augusti"
    " sierpnia agustos; sep sept september septembre septiembre setiembre settembre set setembro"
    " wrzesnia eylul eyl; oct october oktober okt octobre octubre ottobre ott outubro out"
    " pazdziernika ekim eki; nov november novembre noviembre novembro listopada kasım kasim kas;"
    " dec december dezember dez decembre diciembre dic dicembre dezembro desember des grudnia"
    " aralık aralik ara"
)
_MONTHS = {name: i for i, names in enumerate(_MONTH_NAMES.split(";"), 1) for name in names.split()}
_WEEKDAY_NAMES = (
    "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday",
    "sun sunday mo montag di dienstag mi mittwoch do donnerstag fr freitag sa samstag so sonntag",
    "lun lundi mar mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche lunes martes",
    "mie miercoles jue jueves vie viernes sab sabado dom domingo",
)
_WEEKDAYS = " ".join(_WEEKDAY_NAMES).split()
# Hours from UTC of abbreviated time zones.
_ZONES = {"z": 0.0, "utc": 0.0, "gmt": 0.0, "wet": 0.0, "west": 1.0, "cet": 1.0, "bst": 1.0}
_ZONES |= {"cest": 2, "eet": 2, "eest": 3, "msk": 3, "ist": 5.5, "jst": 9, "kst": 9, "aest": 10}
_ZONES |= {"aedt": 11, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6}
_ZONES |= {"pst": -8, "pdt": -7}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_MONTH = rf"(?P<month>{_any_of(_MONTHS)})\.?"
_WEEKDAY = rf"(?:(?:{_any_of(_WEEKDAYS)})(?![^\W\d_])\.?,?\s+)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
_YEAR = r"(?P<year>\d{4}|\d{2})"
_ZONE = rf"\(?(?P<zone>{_any_of(_ZONES)})?(?P<offset>[-+]\d{{1,2}}:?(?:\d{{2}})?)?\)?"
# Spaces are matched possessively: adjacent runs of them would share a long run in many ways.
_CLOCK = (
    r"(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})"
    r"(?:[:.](?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?\s*+(?:(?P<half>[ap]\.?m\.?)|uhr)?"
)
_TIME = rf"(?:(?:t|,?\s+(?:(?:at|um|a)\s+)?){_CLOCK}\s*+{_ZONE}(?:\s*+[(\[][a-z/_ ]+[)\]])?)?"
_OF = r"(?:of\s+|del?\s+)?"
_PATTERNS = (
    *(
        re.compile(_WEEKDAY + date + _TIME)
        for date in (
            r"(?P<year>\d{4})[-/m](?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?",
            r"(?P<year>\d{4})(?P<mark>[/.] ?)(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})\.?",
            rf"(?P<first>\d{{1,2}})(?P<mark>[-/.] ?)(?P<other>\d{{1,2}})(?P=mark){_YEAR}\.?",
            r"(?P<month>\d{1,2})[-/.](?P<year>(?:19|20)\d\d)",
            rf"{_DAY}[-/\s]\s*{_OF}{_MONTH}[-/,\s]\s*{_OF}{_YEAR}",
            rf"{_DAY}{_MONTH}{_YEAR}",
            rf"{_MONTH}[-/\s]\s*{_DAY},?[-/\s]\s*{_YEAR}",
            rf"{_MONTH}[-/,\s]\s*{_OF}(?P<year>\d{{4}})",
            rf"{_MONTH}(?:[-/]|\s*'){_YEAR}",
            rf"(?P<year>\d{{4}})[-/,\s]\s*{_MONTH}(?:[-/,\s]\s*{_DAY})?",
        )
    ),
    # "20240131", "20240131T093000Z"
    re.compile(
        r"(?P<year>(?:1[6-9]|2[01])\d\d|9999)(?P<month>0\d|1[0-2])(?P<day>[0-3]\d)"
        rf"(?:[t_ ]?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?{_ZONE})?"
    ),
    # "01312024" or "1312024"
    re.compile(r"(?P<first>\d{1,2})(?P<mark>)(?P<other>\d\d)(?P<year>(?:19|20)\d\d)"),
    # "[10/Oct/2000:13:55:36 -0700]" of Apache's log, "10OCT2000:13:55:36" of SAS
    re.compile(rf"\[?{_DAY}(?P<mark>/?){_MONTH}(?P=mark){_YEAR}:{_CLOCK}\s*+{_ZONE}\]?"),
    # "Fri Mar  1 10:00:00 2024" of ctime
    re.compile(rf"{_WEEKDAY}{_MONTH}\s+{_DAY}\s+{_CLOCK}\s*+{_ZONE}\s*+(?P<year>\d{{4}})"),
    # "Q1 2019", "T1/19", "1Q19", "1. Quartal 2019", "2019-Q1"
    re.compile(rf"[qt](?P<quarter>[1-4])[-/\s]*(?:fy|'?){_YEAR}"),
    re.compile(rf"(?P<quarter>[1-4])(?:[qt]|\. ?quartal)[-/\s]*'?{_YEAR}"),
    re.compile(r"(?P<year>\d{4})[-/\s]*[qt](?P<quarter>[1-4])"),
    # "2024-W05-1", "KW 5/2024", "Week 5, 2024"
    re.compile(r"(?P<year>\d{4})[- ]?w(?P<week>\d{1,2})(?:-(?P<weekday>[1-7]))?"),
    re.compile(r"(?:kw|cw|w|week|woche|semaine|semana) ?(?P<week>\d{1,2})[-/,\s]+(?P<year>\d{4})"),
)
# "Posted on", "Due:" before a date, and the time before the date in "11:37:15 3 Sep 2020".
_LABEL = re.compile(
    r"(?:[^\W\d_][^\d:]{0,19}:|(?:member )?since|as of|le|el|am"
    r"|(?:last )?(?:added|created|joined|posted|published|released|updated)(?: on)?)\s+"
)
_TIME_FIRST = re.compile(
    r"(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?"
    rf"(?:\s(?:{_any_of(_ZONES)})\b)?),?\s+(?:on\s+)?(?P<date>[^:]+)"
)
# A note after a date without a time: "June 13, 1980 (United States)".
_NOTE = re.compile(r"(?<=\d)\s*\([^()]*\)\Z")
# ISO dates, which NumPy parses faster than the patterns above.
_ISO_LINES = re.compile(r"(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?\n)*")
# Characters of a date, and strings whose numbers are kept (20 MB).
_MAX_LENGTH, _MAX_CACHED = 80, 50_000
_CHINESE = str.maketrans({"年": "-", "月": "-", "日": ""})
# Years and serial numbers of spreadsheets, which count days, among dates.
_BARE = re.compile(
    r"\s*(?:(?P<year>(?:1[5-9]|20)\d\d)(?:\s*\([^()]*\))?|(?P<serial>[1-6]\d{4}(?:\.\d+)?))\s*"
)
_FIRST_SERIAL = datetime.datetime(1899, 12, 30)
# Minimum number of dates with a two-digit year that comes first, or with the same day.
_MIN_DATES = 10
# Two-digit years are in the hundred years from this one in POSIX.
_FIRST_YEAR = 1969
_SECONDS_PER_DAY = 86_400.0
# The numbers that a string says of a date. ``short``: the year has two digits. ``form`` is one of
# the forms below; the first three numbers of an open one are year, month and day in any order.
_FIELDS = (
    *("year", "month", "day", "hour", "minute", "second", "microsecond", "offset"),
    *("short", "form"),
)
_SHORT, _FORM = -2, -1
_OTHER, _DATE, _OPEN, _NUMBER = range(4)
_PERIODS = ("year", "week", "day")

# The days since 1970 with their fraction; weekday 0 is Monday.
DATE_PARTS = (
    *("day_number", "month", "day", "weekday", "hour"),
    *(f"{period}_{function}" for period in _PERIODS for function in ("sin", "cos")),
)


@dataclass(frozen=True)
class DateFormat:
    """Format of the dates of one column.

    ``day_first``: "1/2/2024" is the first of February. ``year_first``: "24/2/1" is the same.
    ``ambiguous``: the values do not determine the order of day and month. ``bare``: "2024" is the
    first day of the year, and so is "45292" of a spreadsheet, as other cells are dates.
    ``marks`` separate numbers in an order of day and month. Two-digit years are in the hundred
    years from ``first_year``; None if there is none.
    """

    day_first: bool = False
    ambiguous: bool = False
    year_first: bool = False
    bare: bool = False
    marks: str = ""
    first_year: int | None = None

    @classmethod
    def of(cls, texts: Sequence[str]) -> "DateFormat":
        """Infer the format from all strings of a column."""
        if _are_iso(texts):
            return cls()
        numbers, marks = _read_all(texts)
        is_open = numbers[:, _FORM] == _OPEN
        open_marks = list(itertools.compress(marks, is_open))
        order = cls._of_order(numbers[is_open, :3], open_marks)
        ordered = order._in_order(numbers)
        return replace(
            order,
            bare=set(numbers[:, _FORM].tolist()) - {_OTHER} > {_NUMBER},
            marks="".join(sorted({mark.strip() or " " for mark in open_marks})),
            first_year=_first_year(ordered[ordered[:, _SHORT] > 0, 0].tolist()),
        )

    @classmethod
    def _of_order(cls, dates: NDArray[np.int64], marks: Sequence[str]) -> "DateFormat":
        """Infer the order of day and month from the three numbers of dates and their marks.

        If no number exceeds 12, the day comes first for the separator ".", and the month for other
        separators, which makes the format ambiguous. A number that is the same in ten dates of
        several years is the day, since other days would exceed 12. If the first number always
        exceeds 12, the first number is the year if the last one has more values, all below 32.
        """
        low, high = dates[:, :2].min(axis=1), dates[:, :2].max(axis=1)
        dates = np.unique(dates[(low >= 1) & (low <= 12) & (high <= 31)], axis=0)
        if not len(dates):
            return cls()
        first, other, last = dates.T
        n_first, n_other, n_last = (len(np.unique(values)) for values in dates.T)
        enough = len(dates) >= _MIN_DATES
        if enough and first.min() > 12 and last.max() <= 31 and n_first < n_last:
            return cls(year_first=True, ambiguous=True)
        n_day_first, n_month_first = np.sum(first > 12), np.sum(other > 12)
        if n_day_first or n_month_first:
            return cls(day_first=bool(n_day_first > n_month_first))
        if enough and n_last > 1 and (n_first == 1) != (n_other == 1):
            return cls(day_first=n_first == 1)
        points = all(mark.startswith(".") for mark in marks)
        return cls(day_first=points, ambiguous=not points and not np.array_equal(first, other))

    def parse(self, texts: Sequence[str]) -> Datetimes:
        """Parse strings as dates in UTC, shape (n_texts,); NaT if a string is not a date."""
        if _are_iso(texts):
            try:
                return np.array(texts, dtype="datetime64[us]")
            except ValueError:
                pass  # for example month 13
        numbers = self._in_order(_read_all(texts)[0])
        if not self.bare:
            numbers[numbers[:, _FORM] == _NUMBER] = 0
        year, is_short = numbers[:, 0], numbers[:, _SHORT] > 0
        first = self.first_year or _FIRST_YEAR
        year[is_short] = first + (year[is_short] - first) % 100
        return _assemble(numbers)

    def _in_order(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows of `_FIELDS` with year, month and day in the places of their own."""
        ordered, is_open = numbers.copy(), numbers[:, _FORM] == _OPEN
        if self.year_first:
            ordered[is_open, _SHORT] = 1
        else:
            places = [2, 1, 0] if self.day_first else [2, 0, 1]
            ordered[is_open, :3] = numbers[is_open][:, places]
        return ordered


def label_of(text: str) -> str:
    """Return the words in lower case before a date, such as "posted on " or "due: "."""
    return label[0] if (label := _LABEL.match(plain(text))) else ""


def is_date(text: str) -> bool:
    """Return whether a string may be a date, or the number of one among dates."""
    return _read(text)[0][_FORM] != _OTHER


def _are_iso(texts: Sequence[str]) -> bool:
    return _ISO_LINES.fullmatch("\n".join([*texts, ""])) is not None


def _read_all(texts: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Return the `_FIELDS` of strings, shape (n_texts, 10), and the marks between numbers."""
    read = [_read(text) for text in texts]
    numbers = np.array([row for row, _ in read], dtype=np.int64)
    return numbers.reshape(-1, len(_FIELDS)), [mark for _, mark in read]


@functools.lru_cache(_MAX_CACHED)  # the format is inferred from the strings that are parsed next
def _read(text: str) -> tuple[tuple[int, ...], str]:
    """Return the `_FIELDS` of a string, and the mark between numbers whose order is open."""
    if (match := _match(text)) is None:
        number = _BARE.fullmatch(text)
        date = _date_of_number(**number.groupdict()) if number else ()
        return _row(date, _NUMBER if number else _OTHER), ""
    found = match.groupdict()
    if "week" in found:
        return _row(_day_of_week(found), _DATE), ""
    year, month, day = found["year"], found.get("month") or "0", int(found.get("day") or 1)
    if "quarter" in found:
        month = str(3 * int(found["quarter"]) - 2)
    hour = int(found.get("hour") or 0)
    if found.get("half"):
        hour = hour % 12 + 12 * (found["half"][0] == "p") if 1 <= hour <= 12 else 99
    is_open = "first" in found
    date = int(year), int(month) if month.isdigit() else _MONTHS[month], day
    row = (
        *((int(found["first"]), int(found["other"]), int(year)) if is_open else date),
        hour,
        int(found.get("minute") or 0),
        int(found.get("second") or 0),
        int((found.get("fraction") or "0").ljust(6, "0")[:6]),
        int(60 * _ZONES.get(found.get("zone") or "z", 0)) + _minutes(found.get("offset") or "+00"),
        int(len(year) == 2),
        _OPEN if is_open else _DATE,
    )
    return row, found["mark"] if is_open else ""


def _row(date: tuple[int, ...], form: int) -> tuple[int, ...]:
    return (*date, *[0] * (len(_FIELDS) - 1 - len(date)), form)


def _match(text: str) -> re.Match[str] | None:
    text = plain(text)
    if len(text) > _MAX_LENGTH or not any(map(str.isdigit, text)):
        return None
    if not text.isascii():
        apart = unicodedata.normalize("NFKD", text).translate(_CHINESE).rstrip("-")
        text = "".join(char for char in apart if not unicodedata.combining(char))
    if label := _LABEL.match(text):
        text = text[label.end() :]
    if text.endswith(")") and ":" not in text:
        text = _NOTE.sub("", text)
    if timed := _TIME_FIRST.fullmatch(text):
        text = f"{timed['date']} {timed['time']}"
    return next(filter(None, (pattern.fullmatch(text) for pattern in _PATTERNS)), None)


def _first_year(years: Iterable[int]) -> int | None:
    """Return the year in the middle of the longest gap, if a two-digit year is before 2000.

    POSIX maps them to 1969-2068, which would tear dates of birth apart.
    """
    short = sorted(set(years))
    if not short or short[-1] < _FIRST_YEAR % 100:
        return _FIRST_YEAR if short else None
    gap, end = max(((b - a) % 100, b) for a, b in zip([short[-1], *short], short, strict=False))
    return 1900 + max(0, end - gap // 2)


def _day_of_week(found: Mapping[str, str]) -> tuple[int, int, int]:
    """Return year, month and day of a week in ISO 8601, zeros if there is no such week."""
    try:
        date = datetime.date.fromisocalendar(
            int(found["year"]), int(found["week"]), int(found.get("weekday") or 1)
        )
    except (KeyError, ValueError):
        return 0, 0, 0
    return date.year, date.month, date.day


def _date_of_number(year: str | None, serial: str | None) -> tuple[int, ...]:
    """Return the fields of the first day of a year, or of a serial number of a spreadsheet."""
    if serial is None:
        return int(year or 0), 1, 1
    seconds = round(_SECONDS_PER_DAY * float(serial))
    return (_FIRST_SERIAL + datetime.timedelta(seconds=seconds)).timetuple()[:6]


def _minutes(offset: str) -> int:
    digits = offset[1:].replace(":", "")
    digits = digits.zfill(2).ljust(4, "0") if len(digits) < 3 else digits.zfill(4)
    minutes = 60 * int(digits[:2]) + int(digits[2:])
    return -minutes if offset[0] == "-" else minutes


def _assemble(numbers: NDArray[np.int64]) -> Datetimes:
    """Build dates from rows of `_FIELDS`; NaT if a row is not a valid date and time."""
    year, month, day, hour, minute, second, microsecond, offset, *_ = numbers.T
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    minutes = hour * 60 + minute - offset
    time = (minutes * 60 + second) * 1_000_000 + microsecond
    dates: Datetimes = days.astype("datetime64[us]") + time.astype("timedelta64[us]")
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("datetime64[M]") == months)
    valid &= (hour < 24) & (minute < 60) & (second <= 60)
    dates[~valid] = np.datetime64("NaT")
    return dates


def filler_dates(dates: Datetimes) -> list[str]:
    """Return the dates that stand for "no date": frequent ones of a list, far from all others.

    Frequent are at least three dates, and 1% of all; far is more than a year, and more than the
    span of the other dates.
    """
    known = dates[~np.isnat(dates)]
    days = known.astype("datetime64[D]")
    is_filler = np.isin(days, np.array(FILLER_DATES, dtype="datetime64[D]"))
    others = days[~is_filler]
    if not is_filler.any() or not len(others):
        return []
    low, high = others.min(), others.max()
    margin = max(high - low, np.timedelta64(365, "D"))
    fillers, counts = np.unique(days[is_filler], return_counts=True)
    far = (fillers < low - margin) | (fillers > high + margin)
    chosen = fillers[far & (counts >= max(3, 0.01 * len(known)))]
    return list(map(str, chosen.tolist()))


def date_parts(dates: Datetimes) -> NDArray[np.float64]:
    """Compute the `DATE_PARTS` of dates, shape (n_dates, 11); NaN where missing."""
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
