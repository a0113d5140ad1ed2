"""Errors for keyword arguments of other tools, with the argument that does the same here."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from skauto.utils._names import closest

_Function = TypeVar("_Function", bound=Callable[..., Any])


def explain_keywords(advice: Mapping[str, str]) -> Callable[[_Function], _Function]:
    """Decorate a function so that an unknown keyword argument is a TypeError with advice.

    ``advice`` maps names of arguments that users may expect to a sentence that says what to do.
    """

    def decorate(function: _Function) -> _Function:
        names = [name for name in inspect.signature(function).parameters if name != "self"]

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            unknown = [name for name in kwargs if name not in names]
            if unknown:
                owner = type(args[0]).__name__ if args else function.__name__
                what = owner if function.__name__ == "__init__" else function.__name__
                hint = advice.get(unknown[0]) or closest(unknown[0], names).strip()
                raise TypeError(
                    f"{what}() got an unexpected argument {unknown[0]!r}. "
                    f"{hint + ' ' if hint else ''}Allowed are {', '.join(names)}."
                )
            return function(*args, **kwargs)

        return checked  # type: ignore[return-value]

    return decorate
