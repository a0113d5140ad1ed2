"""Acquisition functions and their maximization."""

from skauto.acquisition._hypervolume import expected_hypervolume_improvement
from skauto.acquisition._improvement import (
    log_expected_improvement,
    log_expected_improvement_per_second,
)
from skauto.acquisition._maximize import maximize_acquisition

__all__ = [
    "expected_hypervolume_improvement",
    "log_expected_improvement",
    "log_expected_improvement_per_second",
    "maximize_acquisition",
]
