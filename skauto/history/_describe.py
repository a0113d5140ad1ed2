"""Texts by which the settings of a search are compared, also with those of another process."""

import pickle
from collections.abc import Mapping
from functools import partial
from types import FunctionType
from typing import Any

import joblib

from skauto.space import Parameter
from skauto.space._parameter import plain


def describe(value: Any) -> str:
    """Return a text that is equal for equal values, without addresses.

    Estimators are described by their parameters, classes and functions by their names. Other
    objects are described by a hash of their content, or by their type if it cannot be pickled.
    """
    value = plain(value)
    if value is None or isinstance(value, bool | int | float | complex | str | Parameter):
        return repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(describe, value))})"
    if isinstance(value, Mapping):
        items = sorted(f"{describe(key)}: {describe(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, type):
        return _name(value)
    if isinstance(value, FunctionType):
        return f"{_name(value)}{describe(_bound_to(value))}"
    if isinstance(value, partial):
        return f"partial{describe((value.func, value.args, value.keywords))}"
    if hasattr(value, "get_params"):
        return f"{_name(type(value))}{describe(value.get_params(deep=False))}"
    try:
        content = joblib.hash(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        content = ""
    return f"{_name(type(value))} {content}"


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _bound_to(function: FunctionType) -> tuple[Any, ...]:
    """Return the defaults of a function and what it refers to of the function around it."""
    around = [cell.cell_contents for cell in function.__closure__ or ()]
    named = [_name(item) if isinstance(item, FunctionType) else item for item in around]
    return function.__defaults__, function.__kwdefaults__, named
