"""The number of folds that a time limit affords."""

from collections.abc import Sequence

from skauto.data._splits import FOLDS_BY_SIZE, HOLD_OUT, default_cv

# Number of configurations to validate on all folds, and the share of the budget for them.
_N_VALIDATED = 12
_SHARE_OF_BUDGET = 0.5
# If fewer folds are affordable, rows are held out instead. On development sets, a hold-out set was
# better below 2 affordable folds, and folds were slightly better between 2 and 5.
_MIN_FOLDS = 2


def affordable_folds(
    n_samples: int, seconds: Sequence[float], processor_seconds: float
) -> int | float:
    """Return the number of folds, or the hold-out share, for a number of rows and a budget.

    The number of folds is the largest one for which 12 of the configurations can be validated in
    half of the processor seconds. It is at most the default for the number of rows, and at least 4
    if the default is 8, else at least 3. If fewer than 2 folds are affordable, one fifth of the
    rows is held out. `seconds` are predicted for the fits of the initial configurations, and
    `processor_seconds` are those of the whole search, over all workers.
    """
    most = default_cv(n_samples)
    if isinstance(most, float) or not len(seconds):
        return most
    cheapest = sorted(seconds)[:_N_VALIDATED]
    cost_of_fold = sum(cheapest) * _N_VALIDATED / len(cheapest)
    affordable = int(_SHARE_OF_BUDGET * processor_seconds / cost_of_fold)
    if affordable < _MIN_FOLDS:
        return HOLD_OUT
    return int(min(most, max(affordable, 4 if most == FOLDS_BY_SIZE[0][1] else 3)))
