"""Suggestions for misspelled names in error messages."""

import difflib
from collections.abc import Iterable


def closest(name: object, allowed: Iterable[str]) -> str:
    """Return " Did you mean '...'?" with the most similar name; "" if none is similar."""
    names = {known.casefold(): known for known in allowed}
    matches = difflib.get_close_matches(str(name).casefold(), names, n=1)
    return f" Did you mean {names[matches[0]]!r}?" if matches else ""


def known_names(name: object, known: Iterable[str]) -> str:
    """Return the end of an error message: the known names, and the most similar one."""
    names = list(known)
    return f"known are {', '.join(names)}.{closest(name, names)}"
