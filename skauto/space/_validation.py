"""Errors about algorithms and hyper-parameters that are not in a search space."""

from collections.abc import Iterable, Mapping
from typing import Any

from skauto.space._component import Component
from skauto.utils import closest


def known_names(name: object, known: Iterable[str]) -> str:
    """Return the end of an error message: the known names, and the most similar one."""
    names = list(known)
    return f"known are {', '.join(names)}.{closest(name, names)}"


def check_values(step: str, component: Component, values: Mapping[str, Any]) -> None:
    """Raise a ValueError if a hyper-parameter is unknown or its value is not legal."""
    where = f"algorithm {component.name!r} of step {step!r}"
    for key, value in values.items():
        if key not in component.parameters:
            known = known_names(key, component.parameters)
            raise ValueError(f"{where} has no hyper-parameter {key!r}; {known}")
        parameter = component.parameters[key]
        if not parameter.contains(value):
            raise ValueError(f"{where}: {key!r} must be {parameter.describe()}, got {value!r}")


def check_complete(step: str, component: Component, values: Mapping[str, Any]) -> None:
    """Raise a ValueError unless the values are legal and those of the active hyper-parameters."""
    check_values(step, component, values)
    where = f"algorithm {component.name!r} of step {step!r}"
    active = component.active(values)
    for key in active:
        if key not in values:
            raise ValueError(
                f"{where} lacks its hyper-parameter {key!r}, which must be "
                f"{component.parameters[key].describe()}; space.complete fills in defaults"
            )
    for key in values:
        if key not in active:
            parent, allowed = component.conditions[key]
            raise ValueError(
                f"{where}: {key!r} is active only if {parent!r} is one of "
                f"{list(allowed)}; leave it out, or change {parent!r}"
            )
