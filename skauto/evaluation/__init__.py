"""How a proposal becomes a trial: table, folds, pipelines, workers."""

from skauto.evaluation._cache import PrefixCache
from skauto.evaluation._constraints import group_codes
from skauto.evaluation._engine import Engine, Outcome, SerialEngine, make_engine
from skauto.evaluation._engine_base import thread_pools
from skauto.evaluation._evaluator import PipelineEvaluator, TrialJob, cautious_mean
from skauto.evaluation._group_weights import group_weights
from skauto.evaluation._joblib_engine import JoblibEngine
from skauto.evaluation._objective import ObjectiveEvaluator
from skauto.evaluation._pipeline import (
    PipelineBuilder,
    assemble,
    class_probabilities,
    transform_and_predict,
)
from skauto.evaluation._process_engine import ProcessEngine
from skauto.evaluation._scores import Evidence, score_probabilities
from skauto.evaluation._splits import make_splits, stratified_subset
from skauto.evaluation._table import TableReader
from skauto.evaluation._worker import (
    EvaluationData,
    PipelineWorker,
)

__all__ = [
    "Engine",
    "EvaluationData",
    "Evidence",
    "JoblibEngine",
    "ObjectiveEvaluator",
    "Outcome",
    "PipelineBuilder",
    "PipelineEvaluator",
    "PipelineWorker",
    "PrefixCache",
    "ProcessEngine",
    "SerialEngine",
    "TableReader",
    "TrialJob",
    "assemble",
    "cautious_mean",
    "class_probabilities",
    "group_codes",
    "group_weights",
    "make_engine",
    "make_splits",
    "score_probabilities",
    "stratified_subset",
    "thread_pools",
    "transform_and_predict",
]
