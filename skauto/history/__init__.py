"""The record of a search: proposals, trials and their history."""

from skauto.history._checkpoint import Checkpoint
from skauto.history._goal import Goal
from skauto.history._history import History
from skauto.history._out_of_fold import OutOfFold
from skauto.history._trial import Proposal, Status, Trial

__all__ = ["Checkpoint", "Goal", "History", "OutOfFold", "Proposal", "Status", "Trial"]
