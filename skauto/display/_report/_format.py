"""Numbers and names in sentences, and values as plain data."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from skauto.display._page import Markup
from skauto.display._words import visible

# Shares get a decimal if their interval is narrower, or if they come closer to 1.
_NARROW, _CLOSE = 0.02, 0.01
# Longest list of names in a sentence, and longest name.
_MAX_NAMES, _MAX_NAME = 5, 80


def plain(value: Any) -> Any:
    """Convert a value to what JSON can represent; NaN and infinity become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def quoted(label: Any) -> str:
    """Name a class or a column in a sentence; long names are shortened."""
    return f"'{shortened(label)}'"


def shortened(label: Any) -> str:
    """Shorten the name of a class or a column if it is long."""
    name = visible(label)
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"


def percent(share: float, digits: int = 0) -> str:
    """Write a share as "86%"."""
    return f"{100.0 * share:.{digits}f}%"


def share_cell(share: float | None) -> Markup | None:
    """Write a share as the cell of a table; None stays None."""
    return None if share is None else Markup(percent(share, 1))


def digits_of(low: float, high: float, *others: float) -> int:
    """Number of decimals of percentages: one for narrow intervals and shares close to 1."""
    known = [share for share in (low, high, *others) if not math.isnan(share)]
    narrow = high - low < _NARROW
    return int(narrow or any(1.0 - _CLOSE < share < 1.0 for share in known))


def listed(names: list[str]) -> str:
    """List the first names, and count the others."""
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
