"""Callbacks for ``set_callbacks`` of the estimators."""

from skauto.display._progress import SearchProgress

__all__ = ["SearchProgress"]
