"""Displays: plots of a search, its trials and its result. They need matplotlib and pandas.

Each is made by ``from_estimator``; those that show trials also by ``from_history``, for
``minimize``. What was drawn stays in ``frame``, the artists in attributes with a trailing
underscore.
"""

from skauto.display._effects import EffectsDisplay
from skauto.display._ensemble import EnsembleDisplay
from skauto.display._hypervolume import HypervolumeDisplay
from skauto.display._importance import PermutationImportanceDisplay
from skauto.display._limits import LimitsDisplay
from skauto.display._pareto_front import ParetoFrontDisplay
from skauto.display._residuals import ResidualsDisplay
from skauto.display._search_history import SearchHistoryDisplay
from skauto.display._search_tree import SearchTreeDisplay
from skauto.display._timeline import TimelineDisplay

__all__ = [
    "EffectsDisplay",
    "EnsembleDisplay",
    "HypervolumeDisplay",
    "LimitsDisplay",
    "ParetoFrontDisplay",
    "PermutationImportanceDisplay",
    "ResidualsDisplay",
    "SearchHistoryDisplay",
    "SearchTreeDisplay",
    "TimelineDisplay",
]
