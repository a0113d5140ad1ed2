"""Where a warning comes from."""

import sys

_INSIDE = ("functools", "joblib", "skauto", "sklearn")


def level_of_caller() -> int:
    """Return the `stacklevel` with which a warning of the calling function names the user's line.

    That is the first line outside of skauto, and of scikit-learn, joblib and functools, which call
    its methods.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _INSIDE:
            break
        frame, level = frame.f_back, level + 1
    return level
