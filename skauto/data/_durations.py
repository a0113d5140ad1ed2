"""Parsing of durations and times of day that are written as strings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skauto.data._notations import plain

# A duration, such as "1 days 02:03:04.5", "1 day, 2:03:04" or "P1DT2H3M4.5S".
_DURATION = re.compile(
    r"(?P<sign>-(?=p))?(?:(?P<days>[-+]?\d+) days?,?)?(?: ?\+?(?P<hours>-?\d+):(?P<minutes>\d\d)"
    r":(?P<seconds>\d\d(?:\.\d+)?))?"
)
_ISO_DURATION = re.compile(
    r"(?P<sign>-)?p(?:(?P<days>-?\d+)d)?(?:t(?:(?P<hours>-?\d+)h)?(?:(?P<minutes>-?\d+)m)?"
    r"(?:(?P<seconds>-?\d+(?:\.\d+)?)s)?)?"
)
# A time such as "14:30", "2:30 PM", "12:30:15 am" or "9pm", maybe with a zone, or with a day and
# month, which are not read: "07:40 02 Mar".
_TIME = re.compile(
    r"(?P<first>\d{1,3})(?::(?P<other>\d\d(?P<lap>\.\d+)?)(?::(?P<last>\d\d))?|(?= ?[ap]\.?m))"
    r"(?: ?(?P<half>[ap])\.?m\.?)?(?: ?(?:h|hrs?|uhr|utc|gmt|z|local|lt)\b|,? \d\d? [a-z]{3,9})?"
)
_POINTS = re.compile(r"\d{1,2}\.\d\d\.\d\d")  # "18.00.00"
_SECONDS = {"days": 86_400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}


@dataclass(frozen=True)
class DurationFormat:
    """Format of the durations and times of day of one column.

    ``minutes``: "3:45" is 3 minutes and 45 seconds, instead of hours and minutes. "3:45.1" always
    is.
    """

    minutes: bool = False

    @classmethod
    def of(cls, texts: Sequence[str]) -> "DurationFormat":
        """Infer the unit of two numbers: minutes if one exceeds the hours of a day."""
        times = list(filter(None, map(_TIME.fullmatch, map(_with_colons, texts))))
        firsts = [int(time["first"]) for time in times if time["last"] is None]
        laps = any(time["lap"] for time in times)
        return cls(minutes=laps or max(firsts, default=0) > 24)

    def parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Parse strings as seconds, shape (n_texts,); NaN if a string is not a duration."""
        return np.array([self._parse_one(_with_colons(text)) for text in texts], dtype=float)

    def _parse_one(self, text: str) -> float:
        if time := _TIME.fullmatch(text):
            return self._parse_time(time)
        match = _DURATION.fullmatch(text) or _ISO_DURATION.fullmatch(text)
        if match is None or not any(match[unit] for unit in _SECONDS):
            return np.nan
        seconds = sum(float(match[unit] or 0) * size for unit, size in _SECONDS.items())
        return -seconds if match["sign"] else seconds

    def _parse_time(self, time: re.Match[str]) -> float:
        first, other, last = int(time["first"]), float(time["other"] or 0), int(time["last"] or 0)
        if other >= 60 or last >= 60:
            return np.nan
        if time["half"]:
            if not 1 <= first <= 12:
                return np.nan
            first = first % 12 + 12 * (time["half"] == "p")
        if (self.minutes or time["lap"]) and time["last"] is None:
            return 60.0 * first + other
        return 3600.0 * first + 60.0 * other + last


def is_duration(text: str) -> bool:
    """Return whether a string is a duration or a time of day."""
    return not np.isnan(DurationFormat()._parse_one(_with_colons(text)))


def _with_colons(text: str) -> str:
    """Return a string in lower case; "18.00.00" becomes "18:00:00"."""
    text = plain(text)
    return text.replace(".", ":") if _POINTS.fullmatch(text) else text
