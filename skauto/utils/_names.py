"""Suggestions for misspelt names in error messages."""

import difflib
from collections.abc import Iterable


def closest(name: object, allowed: Iterable[str]) -> str:
    """Return the end of an error message that suggests the most similar allowed name.

    Parameters
    ----------
    name : object
        The unknown name.
    allowed : iterable of str
        The allowed names.

    Returns
    -------
    hint : str
        " Did you mean '...'?", or an empty string if no allowed name is similar.

    Examples
    --------
    >>> from skauto.utils import closest
    >>> closest("forest_b", ["random", "forest_bo"])
    " Did you mean 'forest_bo'?"
    """
    matches = difflib.get_close_matches(str(name), list(allowed), n=1)
    return f" Did you mean {matches[0]!r}?" if matches else ""
