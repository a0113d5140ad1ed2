"""The clock of a search."""

import math
import time


class Budget:
    """Seconds that a search may use; None for no limit.

    The clock starts at construction. `phases` are the seconds of the phases that have ended.
    """

    def __init__(self, time_limit: float | None = None) -> None:
        self.time_limit = time_limit
        self.started = time.monotonic()
        self.phases: dict[str, float] = {}

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def end_phase(self, name: str) -> None:
        """Record the seconds since the end of the last phase."""
        self.phases[name] = self.elapsed - sum(self.phases.values())

    @property
    def remaining(self) -> float:
        """Seconds left, never negative; infinite without a time limit."""
        return math.inf if self.time_limit is None else max(0.0, self.time_limit - self.elapsed)

    @property
    def overrun(self) -> float:
        """Seconds beyond the time limit; 0 within it or without a limit."""
        return 0.0 if self.time_limit is None else max(0.0, self.elapsed - self.time_limit)
