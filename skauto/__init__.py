"""AutoML for classification of tables, as scikit-learn estimators."""

from skauto._search import SearchResult, minimize
from skauto.estimators import AutoClassifier, ConstrainedAutoClassifier, SearchOptions

__version__ = "0.1.0"

__all__ = [
    "AutoClassifier",
    "ConstrainedAutoClassifier",
    "SearchOptions",
    "SearchResult",
    "minimize",
]
