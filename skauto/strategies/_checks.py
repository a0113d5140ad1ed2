"""Checks of settings, in one form for all strategies.

A setting may be None where that is its default.
"""

import inspect
import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator


def check_integers(owner: BaseEstimator, **least: int) -> None:
    """Refuse settings that are not integers of at least some value.

    Parameters
    ----------
    owner : BaseEstimator
        Whose settings they are.
    **least : int
        Smallest allowed value of each setting.
    """
    for name, low in least.items():
        value = getattr(owner, name)
        legal = isinstance(value, Integral) and int(value) >= low
        if not legal and not _is_default_none(owner, name):
            _refuse(owner, name, f"an integer of at least {low}")


def check_numbers(owner: BaseEstimator, **ranges: tuple[float, float]) -> None:
    """Refuse settings that are not numbers in a closed range.

    Parameters
    ----------
    owner : BaseEstimator
        Whose settings they are.
    **ranges : (float, float)
        Smallest and largest allowed value of each setting; the latter may be infinite.
    """
    for name, (low, high) in ranges.items():
        value = getattr(owner, name)
        legal = isinstance(value, Real) and low <= float(value) <= high
        if not legal and not _is_default_none(owner, name):
            allowed = f"of at least {low}" if high == math.inf else f"between {low} and {high}"
            _refuse(owner, name, f"a number {allowed}")


def check_positive(owner: BaseEstimator, *names: str) -> None:
    """Refuse settings that are not positive numbers.

    Parameters
    ----------
    owner : BaseEstimator
        Whose settings they are.
    *names : str
        The settings.
    """
    for name in names:
        value = getattr(owner, name)
        legal = isinstance(value, Real) and float(value) > 0.0
        if not legal and not _is_default_none(owner, name):
            _refuse(owner, name, "a positive number")


def check_options(owner: BaseEstimator, **options: Collection[Any]) -> None:
    """Refuse settings that are none of some options.

    Parameters
    ----------
    owner : BaseEstimator
        Whose settings they are.
    **options : collection
        Allowed values of each setting.
    """
    for name, allowed in options.items():
        if getattr(owner, name) not in allowed:
            _refuse(owner, name, f"one of {list(allowed)}")


def _is_default_none(owner: BaseEstimator, name: str) -> bool:
    default = inspect.signature(type(owner)).parameters[name].default
    return getattr(owner, name) is None and default is None


def _refuse(owner: BaseEstimator, name: str, allowed: str) -> None:
    raise ValueError(
        f"The '{name}' of {type(owner).__name__} must be {allowed}. "
        f"Got {getattr(owner, name)!r} instead."
    )
