"""Ensemble selection, losses and decisions, computed from arrays of predictions."""

from skauto.selection._decisions import choose_decision
from skauto.selection._diversity import pairwise_disagreement, pairwise_diversity
from skauto.selection._greedy import Selection, greedy_selection
from skauto.selection._label_losses import (
    BalancedErrorLoss,
    ErrorLoss,
    F1Loss,
    LabelLoss,
    MatthewsLoss,
)
from skauto.selection._losses import BrierLoss, LogLoss, Loss, RocAucLoss, SmoothedLoss
from skauto.selection._rates import RateLimit
from skauto.selection._scorer_loss import ScorerLoss, get_loss

__all__ = [
    "BalancedErrorLoss",
    "BrierLoss",
    "ErrorLoss",
    "F1Loss",
    "LabelLoss",
    "LogLoss",
    "Loss",
    "MatthewsLoss",
    "RateLimit",
    "RocAucLoss",
    "ScorerLoss",
    "Selection",
    "SmoothedLoss",
    "choose_decision",
    "get_loss",
    "greedy_selection",
    "pairwise_disagreement",
    "pairwise_diversity",
]
