"""Errors and warnings that skauto raises on top of Python's and scikit-learn's own."""

__all__ = [
    "AllTrialsFailedError",
    "BudgetWarning",
    "CheckpointError",
    "CheckpointWarning",
    "ColumnKindWarning",
    "DependentRowsWarning",
    "InfeasibleError",
    "InfeasibleWarning",
    "NoBetterThanGuessingWarning",
    "RowsOfFitWarning",
    "SmallGroupWarning",
    "TargetWarning",
    "TrialFailedWarning",
    "UnreadableCellsWarning",
]


class AllTrialsFailedError(ValueError):
    """No trial of a search could be completed; the message lists why."""


class CheckpointError(ValueError):
    """A checkpoint cannot be resumed: it is damaged, in use, or belongs to another search."""


class CheckpointWarning(UserWarning):
    """The last line of a checkpoint is incomplete; the trials before it were recovered."""


class ColumnKindWarning(UserWarning):
    """The kind of a column of the table is uncertain; ``column_kinds`` sets it."""


class DependentRowsWarning(UserWarning):
    """Rows that belong together share their class; the message names splits that respect it."""


class InfeasibleError(ValueError):
    """No model satisfies the constraints, and ``on_infeasible="raise"`` is set."""


class InfeasibleWarning(UserWarning):
    """No model satisfies the constraints; the least violating model is returned."""


class NoBetterThanGuessingWarning(UserWarning):
    """The ensemble is not clearly better than always answering the most frequent class."""


class RowsOfFitWarning(UserWarning):
    """Rows that a model is scored on are rows of ``fit``, on which scores are too high."""


class SmallGroupWarning(UserWarning):
    """Some sensitive groups have too few rows to measure a constraint on them."""


class TargetWarning(UserWarning):
    """The classes are doubtful, or a column tells them; the message says what to check."""


class TrialFailedWarning(UserWarning):
    """Some trials failed, timed out or ran out of memory; the search went on."""


class BudgetWarning(UserWarning):
    """The budget was too small for some part of the fit; the message names that part."""


class UncertainLimitWarning(UserWarning):
    """A limit is kept on the rows of ``fit``, which are too few to say so of new rows."""


class UnreadableCellsWarning(UserWarning):
    """Some cells of a table cannot be read as in ``fit``; they are missing values."""
