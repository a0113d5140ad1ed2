"""Checks of settings that several strategies share."""

import math
from numbers import Integral
from typing import Any

from sklearn.base import BaseEstimator


def check_number(
    owner: BaseEstimator, name: str, low: float, kind: type, high: float = math.inf
) -> None:
    """Refuse a setting that is not a number of the right kind in a range.

    Parameters
    ----------
    owner : BaseEstimator
        Whose setting it is.
    name : str
        Name of the setting.
    low, high : float
        Ends of the range, both allowed.
    kind : type
        ``numbers.Integral`` or ``numbers.Real``.
    """
    value: Any = getattr(owner, name)
    right_kind: bool = isinstance(value, kind)
    if not right_kind or not low <= value <= high:
        noun = "an integer" if kind is Integral else "a number"
        allowed = f"of at least {low}" if high == math.inf else f"between {low} and {high}"
        raise ValueError(
            f"The '{name}' of {type(owner).__name__} must be {noun} {allowed}. "
            f"Got {value!r} instead."
        )
