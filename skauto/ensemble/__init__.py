"""Trials become a model: selection among stored predictions, refit, and the fitted vote."""

from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._voting import PipelineEnsemble

__all__ = ["EnsembleBuilder", "PipelineEnsemble"]
