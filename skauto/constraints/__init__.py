"""Limits that a deployment must respect: for ``ConstrainedAutoClassifier``."""

from skauto.constraints._base import CallableConstraint, Constraint
from skauto.constraints._deployment import ModelSize, PredictionLatency
from skauto.constraints._evidence import Evidence, cautious_mean
from skauto.constraints._group_weights import group_weights
from skauto.constraints._groups import GroupDisparity, StatisticalParity, group_codes
from skauto.constraints._scores import FalseNegativeRate, FalsePositiveRate, ScoreBound

__all__ = [
    "CallableConstraint",
    "Constraint",
    "Evidence",
    "FalseNegativeRate",
    "FalsePositiveRate",
    "GroupDisparity",
    "ModelSize",
    "PredictionLatency",
    "ScoreBound",
    "StatisticalParity",
    "cautious_mean",
    "group_codes",
    "group_weights",
]
