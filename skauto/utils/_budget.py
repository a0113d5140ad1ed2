"""One clock for everything that a search may spend."""

import math
import time


class Budget:
    """Trials and seconds that a search may spend; the clock starts with the object.

    Parameters
    ----------
    max_evals : int, default=None
        Number of trials; None where only time bounds the search.
    time_limit : float, default=None
        Seconds of wall clock; None where only trials bound the search.

    Examples
    --------
    >>> from skauto.utils import Budget
    >>> budget = Budget(max_evals=10)
    >>> budget.remaining
    inf
    """

    def __init__(self, max_evals: int | None = None, time_limit: float | None = None) -> None:
        self.max_evals = max_evals
        self.time_limit = time_limit
        self.started = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def remaining(self) -> float:
        """Seconds left, never negative; infinite without a time limit."""
        return math.inf if self.time_limit is None else max(0.0, self.time_limit - self.elapsed)

    @property
    def overrun(self) -> float:
        """Seconds beyond the time limit; 0 within it, and without one."""
        return 0.0 if self.time_limit is None else max(0.0, self.elapsed - self.time_limit)
