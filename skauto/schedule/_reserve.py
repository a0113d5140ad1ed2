"""Seconds that are kept for what follows the search: selection, refits and decisions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Predicted seconds of a refit = this factor * seconds of a fit on a fold, scaled to all rows.
_SAFETY = 1.3
# Reserved seconds of a member that is lost if it is not fitted in time = this factor * predicted
# seconds.
_SLACK = 1.5
# Maximum share of the time limit for refits, and for decisions.
_MAX_REFITS, _MAX_DECISION = 0.25, 0.25
# Maximum share of the remaining time for decisions.
_MAX_DECISION_OF_REST = 0.5
# Share of the time limit for ensemble selection, and its maximum in seconds.
_SELECTION, _MAX_SELECTION = 0.02, 1.0
# Predicted seconds to choose thresholds that keep a limit on two groups, with this number of rows
# or more. They are proportional to the number of groups, and to a smaller number of rows.
_DECISION, _ROWS_OF_DECISION = 5.0, 20_000
# Above this number of rows no seconds are reserved for refits of models of the hold-out split.
_MANY_ROWS = 100_000
# Seconds, plus share of the time limit, by which it may be exceeded if no member is fitted.
_GRACE, _GRACE_SHARE = 1.0, 0.03


def refit_seconds(fit_seconds: float, n_rows: float = 1.0, n_train: float = 1.0) -> float:
    """Predict the processor seconds of a refit by the rows, with a margin of 30%."""
    return _SAFETY * fit_seconds * n_rows / n_train


def grace(time_limit: float | None) -> float:
    """Return the seconds by which a time limit may be exceeded until a first member is fitted."""
    return 0.0 if time_limit is None else _GRACE + _GRACE_SHARE * time_limit


@dataclass(frozen=True)
class Reserve:
    """Seconds of a time limit that the search leaves, for a table of `n_rows`."""

    time_limit: float
    n_rows: int
    n_workers: int = 1

    def for_selection(self) -> float:
        """Return the seconds for ensemble selection."""
        return min(_SELECTION * self.time_limit, _MAX_SELECTION)

    def for_decision(self, n_groups: int, rest: float = math.inf) -> float:
        """Return the seconds for thresholds that keep limits on groups, if `rest` remain."""
        share = min(1.0, self.n_rows / _ROWS_OF_DECISION)
        seconds = _DECISION * share * max(2, n_groups) / 2
        return min(seconds, _MAX_DECISION * self.time_limit, _MAX_DECISION_OF_REST * rest)

    def for_refit(self, seconds: float, *, fitted: bool, most: float | None = None) -> float:
        """Return the seconds for a refit that was predicted to take some processor seconds.

        They have a margin of 50%. If the trial has a `fitted` model of the hold-out split, which
        remains, they have none: they are 0 for many rows, or if they exceed `most`, by default a
        quarter of the time limit.
        """
        if not fitted:
            return _SLACK * seconds
        most = _MAX_REFITS * self.time_limit if most is None else most
        return seconds if seconds <= most and self.n_rows <= _MANY_ROWS else 0.0

    def for_refits(self, seconds: Sequence[float], best: float) -> float:
        """Return the seconds for the refits of the best trials, given those of each.

        They are at most a quarter of the time limit, and at least those of the best trial.
        """
        return max(min(self._together(seconds), _MAX_REFITS * self.time_limit), best)

    def for_members(self, seconds: Sequence[float], usual: float, best: float) -> float:
        """Return the seconds for the members that would be selected now, at most the usual ones.

        They replace `for_refits` at the end of the search.
        """
        return min(usual, max(best, self._together(seconds)))

    def _together(self, seconds: Sequence[float]) -> float:
        return max([sum(seconds) / self.n_workers, *seconds])
