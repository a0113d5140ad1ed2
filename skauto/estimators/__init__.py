"""Estimators: automated machine learning with the interface of scikit-learn."""

from skauto.estimators._classifier import AutoClassifier
from skauto.estimators._constrained import ConstrainedAutoClassifier
from skauto.estimators._options import SearchOptions

__all__ = ["AutoClassifier", "ConstrainedAutoClassifier", "SearchOptions"]
