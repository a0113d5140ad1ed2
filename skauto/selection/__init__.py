"""Ensemble selection, losses and decisions, computed from arrays of predictions."""

from skauto.selection._candidates import candidate_pool
from skauto.selection._decisions import (
    Decision,
    choose_decision,
    choose_offsets,
    choose_temperature,
    gains_by_offsets,
)
from skauto.selection._diversity import (
    diversity_to,
    mean_over_pairs,
    pairwise_disagreement,
    pairwise_diversity,
)
from skauto.selection._greedy import Selection, greedy_selection
from skauto.selection._label_losses import (
    BalancedErrorLoss,
    ErrorLoss,
    F1Loss,
    LabelLoss,
    MatthewsLoss,
)
from skauto.selection._losses import BrierLoss, LogLoss, Loss, RocAucLoss, SmoothedLoss
from skauto.selection._rates import RateLimit, SignalThreshold, choose_signal_thresholds
from skauto.selection._scorer_loss import ScorerLoss, get_loss
from skauto.selection._scores import score_probabilities

__all__ = [
    "BalancedErrorLoss",
    "BrierLoss",
    "Decision",
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
    "SignalThreshold",
    "SmoothedLoss",
    "candidate_pool",
    "diversity_to",
    "choose_decision",
    "choose_offsets",
    "choose_signal_thresholds",
    "choose_temperature",
    "gains_by_offsets",
    "get_loss",
    "greedy_selection",
    "mean_over_pairs",
    "pairwise_disagreement",
    "pairwise_diversity",
    "score_probabilities",
]
