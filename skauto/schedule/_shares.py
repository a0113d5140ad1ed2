"""Shares of the time limit for single steps."""

from skauto.utils import Budget

# Share of the time limit in which texts are read, and the number of their cells for each of its
# seconds: a fit on them takes a small part of the search.
_TEXTS, _TEXT_CELLS = 1 / 3, 50_000
# Maximum predicted seconds of the fit of a network in the portfolio, as a share of the processor
# seconds of the search. Chosen on development sets of the portfolio.
_NETWORK = 0.05
# Minimum share of the time limit for the choice of class offsets.
_OFFSETS = 0.02
# Share of the remaining seconds for ensemble selection, since constraints can be slow to measure.
_SELECTION = 0.2
# Seconds of bagged ensemble selection, as a multiple of those of one selection.
_BAGGING = 10.0
# Share of the limit of a task after which no further boosting round starts.
_ROUNDS = 0.8
# The score of the ensemble is computed during the search after these seconds, and then in at most
# this share of the time.
_SCORES, _SCORES_SHARE = 5.0, 0.05


def limits_of_texts(time_limit: float | None) -> tuple[float | None, float | None]:
    """Return the seconds in which a `TableReader` reads texts, and the number of their cells."""
    if time_limit is None:
        return None, None
    return _TEXTS * time_limit, _TEXT_CELLS * time_limit


def max_seconds_of_network(processor_seconds: float) -> float:
    """Return the maximum predicted seconds of a network in the portfolio."""
    return _NETWORK * processor_seconds


def seconds_of_offsets(budget: Budget) -> float:
    """Return the seconds for the choice of class offsets."""
    return max(budget.remaining, _OFFSETS * (budget.time_limit or 0.0))


def seconds_of_selection(remaining: float) -> float:
    """Return the seconds for ensemble selection under constraints."""
    return _SELECTION * remaining


def seconds_of_bagging(seconds: float) -> float:
    """Return the maximum seconds of bagged ensemble selection, given those of one selection."""
    return _BAGGING * seconds


def seconds_of_rounds(limit: float) -> float:
    """Return the seconds after which boosting ends, in a task that is killed at its limit."""
    return _ROUNDS * limit


def pause_of_scores(seconds: float) -> float:
    """Return the seconds between two scores of the ensemble, of which one takes some seconds."""
    return max(_SCORES, seconds / _SCORES_SHARE)
