"""Limits that a deployment must respect: for ``ConstrainedAutoClassifier``."""

from skauto.evaluation._constraints import (
    CallableConstraint,
    Constraint,
    FalseNegativeRate,
    FalsePositiveRate,
    GroupDisparity,
    ModelSize,
    PredictionLatency,
    ScoreBound,
    StatisticalParity,
)

__all__ = [
    "CallableConstraint",
    "Constraint",
    "FalseNegativeRate",
    "FalsePositiveRate",
    "GroupDisparity",
    "ModelSize",
    "PredictionLatency",
    "ScoreBound",
    "StatisticalParity",
]
