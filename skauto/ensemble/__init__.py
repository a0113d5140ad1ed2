"""Build the final model: ensemble selection under constraints, refit, and the fitted ensemble."""

from skauto.ensemble._voting import PipelineEnsemble

__all__ = ["PipelineEnsemble"]
