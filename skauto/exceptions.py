"""Errors and warnings that skauto raises on top of Python's and scikit-learn's own."""

__all__ = [
    "AllTrialsFailedError",
    "BudgetWarning",
    "CheckpointError",
    "CheckpointWarning",
    "ColumnKindWarning",
    "InfeasibleError",
    "InfeasibleWarning",
    "SmallGroupWarning",
    "TrialFailedWarning",
]


class AllTrialsFailedError(ValueError):
    """No trial of a search could be completed; the message lists why."""


class CheckpointError(ValueError):
    """A checkpoint cannot be continued: it is damaged, in use, or belongs to another search."""


class CheckpointWarning(UserWarning):
    """A checkpoint was cut short by a crash; what was whole has been recovered."""


class ColumnKindWarning(UserWarning):
    """It is doubtful what a column of the table holds; ``column_kinds`` can say it."""


class InfeasibleError(ValueError):
    """No model keeps the limits, and ``on_infeasible="raise"`` was asked for."""


class InfeasibleWarning(UserWarning):
    """No model keeps the limits; the least violating model is returned."""


class SmallGroupWarning(UserWarning):
    """Some sensitive groups have too few rows to be judged by a constraint."""


class TrialFailedWarning(UserWarning):
    """Some trials failed, timed out or ran out of memory; the search went on."""


class BudgetWarning(UserWarning):
    """The budget was too short for what was asked; the message says what was left out."""
