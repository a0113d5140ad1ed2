"""Checks of the settings of strategies. A setting may be None if that is its default."""

import inspect
import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator


def check_integers(owner: BaseEstimator, **least: int) -> None:
    """Raise unless each setting is an integer of at least the given value."""
    for name, low in least.items():
        value = getattr(owner, name)
        legal = isinstance(value, Integral) and int(value) >= low
        _require(legal, owner, name, f"an integer of at least {low}")


def check_numbers(owner: BaseEstimator, **ranges: tuple[float, float]) -> None:
    """Raise unless each setting is a number in the given closed range."""
    for name, (low, high) in ranges.items():
        value = getattr(owner, name)
        legal = isinstance(value, Real) and low <= float(value) <= high
        allowed = f"of at least {low}" if high == math.inf else f"between {low} and {high}"
        _require(legal, owner, name, f"a number {allowed}")


def check_positive(owner: BaseEstimator, *names: str) -> None:
    """Raise unless each setting is a positive number."""
    for name in names:
        value = getattr(owner, name)
        legal = isinstance(value, Real) and float(value) > 0.0
        _require(legal, owner, name, "a positive number")


def check_options(owner: BaseEstimator, **options: Collection[Any]) -> None:
    """Raise unless each setting is one of the given values."""
    for name, allowed in options.items():
        _require(getattr(owner, name) in allowed, owner, name, f"one of {list(allowed)}")


def _require(legal: bool, owner: BaseEstimator, name: str, allowed: str) -> None:
    value = getattr(owner, name)
    default = inspect.signature(type(owner)).parameters[name].default
    if not legal and not (value is None and default is None):
        raise ValueError(
            f"The '{name}' of {type(owner).__name__} must be {allowed}. Got {value!r} instead."
        )
