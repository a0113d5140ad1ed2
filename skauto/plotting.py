"""Plots of a search, its trials and its results (need matplotlib and pandas).

Create a display with ``from_estimator``, or with ``from_history`` after ``minimize``. The plotted
data are in ``frame``, the artists of matplotlib in attributes with a trailing underscore.
"""

from skauto.display._ensemble import EnsembleDisplay
from skauto.display._hypervolume import HypervolumeDisplay
from skauto.display._importance import PermutationImportanceDisplay
from skauto.display._limits import LimitsDisplay
from skauto.display._operating_points import OperatingPointDisplay
from skauto.display._pareto_front import ParetoFrontDisplay
from skauto.display._search_history import SearchHistoryDisplay
from skauto.display._timeline import TimelineDisplay

__all__ = [
    "EnsembleDisplay",
    "HypervolumeDisplay",
    "LimitsDisplay",
    "OperatingPointDisplay",
    "ParetoFrontDisplay",
    "PermutationImportanceDisplay",
    "SearchHistoryDisplay",
    "TimelineDisplay",
]
