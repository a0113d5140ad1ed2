"""What a deployment must respect, measured on what it would deploy."""

from skauto.evaluation._constraints._base import CallableConstraint, Constraint
from skauto.evaluation._constraints._deployment import ModelSize, PredictionLatency
from skauto.evaluation._constraints._groups import GroupDisparity, StatisticalParity, group_codes
from skauto.evaluation._constraints._scores import FalseNegativeRate, FalsePositiveRate, ScoreBound

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
    "group_codes",
]
