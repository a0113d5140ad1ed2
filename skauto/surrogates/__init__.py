"""Surrogates: regression models that predict mean and standard deviation."""

from skauto.surrogates._base import Surrogate
from skauto.surrogates._diversity import DiversitySurrogate
from skauto.surrogates._diversity_forest import DiversityForest
from skauto.surrogates._forest import RandomForest
from skauto.surrogates._gaussian_process import GaussianProcess
from skauto.surrogates._linear import LinearModel

__all__ = [
    "DiversityForest",
    "DiversitySurrogate",
    "GaussianProcess",
    "LinearModel",
    "RandomForest",
    "Surrogate",
]
