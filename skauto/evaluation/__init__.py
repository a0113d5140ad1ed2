"""How a proposal becomes a trial: pipelines, folds, scores."""

from skauto.evaluation._cache import PrefixCache
from skauto.evaluation._evaluator import PipelineEvaluator, TrialJob
from skauto.evaluation._objective import ObjectiveEvaluator
from skauto.evaluation._pipeline import (
    PipelineBuilder,
    assemble,
    class_probabilities,
    transform_and_predict,
)
from skauto.evaluation._worker import EvaluationData, PipelineWorker

__all__ = [
    "EvaluationData",
    "ObjectiveEvaluator",
    "PipelineBuilder",
    "PipelineEvaluator",
    "PipelineWorker",
    "PrefixCache",
    "TrialJob",
    "assemble",
    "class_probabilities",
    "transform_and_predict",
]
