"""Where a warning comes from."""

import sys
import warnings

_INSIDE = ("functools", "joblib", "skauto", "sklearn")


def warn(text: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn of the line of the user.

    That is the first line outside of skauto, and of scikit-learn, joblib and functools, which call
    its methods.
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _INSIDE:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
