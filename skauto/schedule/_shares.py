"""Shares of the time limit for single steps."""

from skauto.utils import Budget

# Maximum predicted seconds of the fit of a network in the portfolio, as a share of the processor
# seconds of the search. Chosen on development sets of the portfolio.
_NETWORK = 0.05
# Minimum share of the time limit for the choice of class offsets.
_OFFSETS = 0.02
# Share of the remaining seconds for ensemble selection, since constraints can be slow to measure.
_SELECTION = 0.2
# Share of the limit of a task after which no further boosting round starts.
_ROUNDS = 0.8


def max_seconds_of_network(processor_seconds: float) -> float:
    """Return the maximum predicted seconds of a network in the portfolio."""
    return _NETWORK * processor_seconds


def seconds_of_offsets(budget: Budget) -> float:
    """Return the seconds for the choice of class offsets."""
    return max(budget.remaining, _OFFSETS * (budget.time_limit or 0.0))


def seconds_of_selection(remaining: float) -> float:
    """Return the seconds for ensemble selection under constraints."""
    return _SELECTION * remaining


def seconds_of_rounds(limit: float) -> float:
    """Return the seconds after which boosting ends, in a task that is killed at its limit."""
    return _ROUNDS * limit
