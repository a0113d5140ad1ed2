"""Help with misspelt names."""

import difflib
from collections.abc import Iterable


def closest(name: object, allowed: Iterable[str]) -> str:
    """Give the end of an error message that suggests the nearest allowed name.

    Parameters
    ----------
    name : object
        What was passed.
    allowed : iterable of str
        What could have been passed.

    Returns
    -------
    hint : str
        " Did you mean '...'?", or nothing when no name is near.

    Examples
    --------
    >>> from skauto.utils import closest
    >>> closest("forest_b", ["random", "forest_bo"])
    " Did you mean 'forest_bo'?"
    """
    matches = difflib.get_close_matches(str(name), list(allowed), n=1)
    return f" Did you mean {matches[0]!r}?" if matches else ""
