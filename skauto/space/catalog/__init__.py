"""The components of the search spaces, and the named spaces."""

from skauto.space.catalog._array_steps import ArrayImputer, ArrayScaler
from skauto.space.catalog._category_columns import CategoryColumns
from skauto.space.catalog._estimators import CrossFittedTargetEncoder, ScaledGammaSVC
from skauto.space.catalog._lightgbm import LightGBMClassifier
from skauto.space.catalog._network import NetworkClassifier
from skauto.space.catalog._pairs import PairFeatures
from skauto.space.catalog._robust_smooth import RobustSmoothScaler
from skauto.space.catalog._spaces import get_space

__all__ = [
    "ArrayImputer",
    "ArrayScaler",
    "CategoryColumns",
    "CrossFittedTargetEncoder",
    "LightGBMClassifier",
    "NetworkClassifier",
    "PairFeatures",
    "RobustSmoothScaler",
    "ScaledGammaSVC",
    "get_space",
]
