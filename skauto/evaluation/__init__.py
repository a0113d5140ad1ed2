"""Evaluate proposals: fit pipelines on folds, score them, and return trials."""

from skauto.evaluation._cache import PrefixCache
from skauto.evaluation._cached_pipeline import CachedPipelineBuilder
from skauto.evaluation._evaluator import PipelineEvaluator
from skauto.evaluation._objective import ObjectiveEvaluator
from skauto.evaluation._pipeline import PipelineBuilder
from skauto.evaluation._promotion import RungPromotion
from skauto.evaluation._worker import FoldTask, OutOfBagTask, PipelineWorker, RefitTask

__all__ = [
    "CachedPipelineBuilder",
    "FoldTask",
    "RungPromotion",
    "ObjectiveEvaluator",
    "OutOfBagTask",
    "PipelineBuilder",
    "PipelineEvaluator",
    "PipelineWorker",
    "PrefixCache",
    "RefitTask",
]
