"""Errors for arguments that a function does not take, with the argument that does the same."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from skauto.utils._names import closest

_Function = TypeVar("_Function", bound=Callable[..., Any])


def explain_keywords(advice: Mapping[str, str]) -> Callable[[_Function], _Function]:
    """Decorate a function so that arguments that it does not take are a TypeError with advice.

    ``advice`` maps names of arguments that users may expect to a sentence that says what to do.
    """

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = {name: p for name, p in signature.parameters.items() if name != "self"}
        names = list(own)
        defaults = inspect.Signature([p.replace(annotation=p.empty) for p in own.values()])

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            unknown = [name for name in kwargs if name not in names]
            owner = type(args[0]).__name__ if args else function.__name__
            what = owner if function.__name__ == "__init__" else function.__name__
            if unknown:
                hint = advice.get(unknown[0]) or closest(unknown[0], names).strip()
                raise TypeError(
                    f"{what}() got an unexpected argument {unknown[0]!r}. "
                    f"{hint + ' ' if hint else ''}Allowed are {', '.join(names)}."
                )
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:  # Python's own names the class that defines the method
                raise TypeError(
                    f"{what}() got wrong arguments: {error}. Its arguments are "
                    f"{defaults}; pass those after * by name."
                ) from None
            return function(*args, **kwargs)

        return checked  # type: ignore[return-value]

    return decorate
