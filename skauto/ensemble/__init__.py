"""Trials become a model: ensemble selection from stored predictions, and the fitted vote."""

from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._diversity import pairwise_disagreement, pairwise_diversity
from skauto.ensemble._losses import (
    BalancedErrorLoss,
    BrierLoss,
    ErrorLoss,
    F1Loss,
    LogLoss,
    Loss,
    RocAucLoss,
    ScorerLoss,
    SmoothedLoss,
    get_loss,
)
from skauto.ensemble._pool import EnsemblePool
from skauto.ensemble._selection import Selection, greedy_selection
from skauto.ensemble._voting import PipelineEnsemble

__all__ = [
    "BalancedErrorLoss",
    "BrierLoss",
    "EnsembleBuilder",
    "EnsemblePool",
    "ErrorLoss",
    "F1Loss",
    "LogLoss",
    "Loss",
    "PipelineEnsemble",
    "RocAucLoss",
    "ScorerLoss",
    "Selection",
    "SmoothedLoss",
    "get_loss",
    "greedy_selection",
    "pairwise_disagreement",
    "pairwise_diversity",
]
