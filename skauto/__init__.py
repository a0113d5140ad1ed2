"""AutoML for classification of tables, as scikit-learn estimators."""

import importlib
from types import ModuleType

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

# Imported on first use: most programs need none of them.
_ON_USE = ("objectives", "plotting", "testing")


def __getattr__(name: str) -> ModuleType:
    if name in _ON_USE:
        return importlib.import_module(f"skauto.{name}")
    raise AttributeError(f"module 'skauto' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ON_USE])
