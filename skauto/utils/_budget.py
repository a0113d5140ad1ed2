"""The budget of a search: number of trials and wall-clock time."""

import math
import time


class Budget:
    """Number of trials and seconds that a search may use; the clock starts at construction.

    Parameters
    ----------
    max_evals : int, default=None
        Maximum number of trials; None for no limit.
    time_limit : float, default=None
        Seconds of wall-clock time; None for no limit.

    Attributes
    ----------
    reserved : float
        Seconds to keep for what follows the search.

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
        self.reserved = 0.0
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
    def search_remaining(self) -> float:
        """Seconds left to the search, never negative; infinite without a time limit."""
        return max(0.0, self.remaining - self.reserved)

    @property
    def overrun(self) -> float:
        """Seconds beyond the time limit; 0 within it or without a limit."""
        return 0.0 if self.time_limit is None else max(0.0, self.elapsed - self.time_limit)
