"""Trials become a model: selection under the limits, refitting, the gate, the fitted vote."""

from skauto.ensemble._build import Candidate, EnsembleBuilder, Model
from skauto.ensemble._refits import Refits
from skauto.ensemble._voting import PipelineEnsemble

__all__ = ["Candidate", "EnsembleBuilder", "Model", "PipelineEnsemble", "Refits"]
