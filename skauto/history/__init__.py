"""The record of a search: proposals, trials and their history."""

from skauto.history._checkpoint import Checkpoint, describe_space
from skauto.history._goal import Goal
from skauto.history._history import History
from skauto.history._trial import STATUSES, Proposal, Status, Trial

__all__ = [
    "STATUSES",
    "Checkpoint",
    "Goal",
    "History",
    "Proposal",
    "Status",
    "Trial",
    "describe_space",
]
