"""Build the final model: ensemble selection under constraints, refit, and the fitted ensemble."""

from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._model import Candidate, Model
from skauto.ensemble._refits import Refits
from skauto.ensemble._voting import PipelineEnsemble

__all__ = ["Candidate", "EnsembleBuilder", "Model", "PipelineEnsemble", "Refits"]
