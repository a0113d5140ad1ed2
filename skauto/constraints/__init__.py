"""Constraints on deployed models, for ``ConstrainedAutoClassifier``."""

from skauto.constraints._base import CallableConstraint, Constraint
from skauto.constraints._deployment import ModelSize, PredictionLatency
from skauto.constraints._evidence import Evidence
from skauto.constraints._groups import (
    EqualizedOdds,
    EqualOpportunity,
    GroupConstraint,
    GroupDisparity,
    StatisticalParity,
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
    "GroupConstraint",
    "GroupDisparity",
    "ModelSize",
    "PredictionLatency",
    "ScoreBound",
    "StatisticalParity",
]
