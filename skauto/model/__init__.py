"""Fitted pipelines and ensembles: all that a prediction needs."""

from skauto.model._decision import Decision
from skauto.model._ensemble import PipelineEnsemble
from skauto.model._weighted import WeightedClassifier

__all__ = ["Decision", "PipelineEnsemble", "WeightedClassifier"]
