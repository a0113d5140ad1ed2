"""Helpers that know nothing of the other rooms."""

from skauto.utils._budget import Budget
from skauto.utils._growing import GrowingArray
from skauto.utils._names import closest
from skauto.utils._pareto import non_dominated
from skauto.utils._predictions import Predictions
from skauto.utils._types import BoolArray, FloatArray, IntArray

__all__ = [
    "BoolArray",
    "Budget",
    "FloatArray",
    "GrowingArray",
    "IntArray",
    "Predictions",
    "closest",
    "non_dominated",
]
