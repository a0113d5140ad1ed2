"""The components that come with skauto, one module a family, and the named search spaces."""

from skauto.space.catalog._estimators import (
    ClippedMultinomialNB,
    CrossFeatures,
    CrossFittedTargetEncoder,
    ScaledGammaNystroem,
    ScaledGammaSVC,
)
from skauto.space.catalog._lightgbm import LightGBMClassifier
from skauto.space.catalog._spaces import get_space

__all__ = [
    "ClippedMultinomialNB",
    "CrossFeatures",
    "CrossFittedTargetEncoder",
    "LightGBMClassifier",
    "ScaledGammaNystroem",
    "ScaledGammaSVC",
    "get_space",
]
