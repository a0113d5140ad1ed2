"""Constraints on deployed models, for ``ConstrainedAutoClassifier``."""

from skauto.constraints._base import CallableConstraint, Constraint
from skauto.constraints._deployment import ModelSize, PredictionLatency
from skauto.constraints._evidence import Evidence, Margin, cautious_mean
from skauto.constraints._gate import Gate, Measurement, Verdict
from skauto.constraints._group_weights import group_weights
from skauto.constraints._groups import (
    EqualizedOdds,
    EqualOpportunity,
    GroupConstraint,
    GroupDisparity,
    StatisticalParity,
    crossed_codes,
    group_codes,
    group_names,
)
from skauto.constraints._scores import FalseNegativeRate, FalsePositiveRate, ScoreBound

__all__ = [
    "CallableConstraint",
    "Constraint",
    "EqualOpportunity",
    "EqualizedOdds",
    "Evidence",
    "FalseNegativeRate",
    "FalsePositiveRate",
    "Gate",
    "GroupConstraint",
    "GroupDisparity",
    "Margin",
    "Measurement",
    "ModelSize",
    "PredictionLatency",
    "ScoreBound",
    "StatisticalParity",
    "Verdict",
    "cautious_mean",
    "crossed_codes",
    "group_codes",
    "group_names",
    "group_weights",
]
