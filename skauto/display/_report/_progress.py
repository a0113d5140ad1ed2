"""One line on the standard error that says what the report is waiting for."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from skauto.display._progress import is_interactive

# Called with the name of each step when it begins.
Step = Callable[[str], None]


@contextmanager
def report_progress(estimator: Any) -> Iterator[Step]:
    """Yield a function that writes the steps, if ``verbose`` of the estimator asks for it.

    As for ``fit``, the default is to write in a terminal or a notebook.
    """
    verbose, stream = estimator.verbose, sys.stderr
    if verbose is None:
        verbose = is_interactive(stream)
    if not verbose:
        yield lambda step: None
        return
    began, separator = time.monotonic(), "report: "

    def write(step: str) -> None:
        nonlocal separator
        stream.write(f"{separator}{step}")
        stream.flush()
        separator = ", "

    try:
        yield write
    finally:
        stream.write(f" ({time.monotonic() - began:.1f} s)\n")
        stream.flush()
