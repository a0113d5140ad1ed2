"""The estimators that users hold."""

from skauto.estimators._base import BaseAutoClassifier
from skauto.estimators._classifier import AutoClassifier
from skauto.estimators._constrained import ConstrainedAutoClassifier

__all__ = ["AutoClassifier", "BaseAutoClassifier", "ConstrainedAutoClassifier"]
