"""Who gets which second of the time limit of `fit`.

The rules are functions of the time limit, the size of the table, and predicted or observed
seconds. They read no clock but that of the `Budget`.
"""

from skauto.schedule._folds import affordable_folds
from skauto.schedule._reserve import Reserve, grace, refit_seconds
from skauto.schedule._shares import (
    limits_of_texts,
    max_seconds_of_network,
    pause_of_scores,
    seconds_of_bagging,
    seconds_of_offsets,
    seconds_of_rounds,
    seconds_of_selection,
)
from skauto.schedule._tasks import TaskSchedule

__all__ = [
    "Reserve",
    "TaskSchedule",
    "affordable_folds",
    "grace",
    "limits_of_texts",
    "max_seconds_of_network",
    "pause_of_scores",
    "refit_seconds",
    "seconds_of_bagging",
    "seconds_of_offsets",
    "seconds_of_rounds",
    "seconds_of_selection",
]
