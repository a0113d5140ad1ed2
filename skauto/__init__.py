"""AutoML as scikit-learn estimators: search pipelines, select an ensemble, predict."""

from skauto._search import SearchResult, minimize
from skauto.estimators import AutoClassifier, ConstrainedAutoClassifier

__version__ = "0.1.0.dev0"

__all__ = ["AutoClassifier", "ConstrainedAutoClassifier", "SearchResult", "minimize"]
