"""Where a warning comes from."""

import sys

_INSIDE = ("functools", "joblib", "skauto", "sklearn")


def level_of_caller() -> int:
    """Return the `stacklevel` of a warning that names the first line outside of the packages.

    The packages are skauto, and those that call its methods: scikit-learn, joblib and functools.

    Returns
    -------
    level : int
        For a call of `warnings.warn` in the function that calls this one.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _INSIDE:
            break
        frame, level = frame.f_back, level + 1
    return level
