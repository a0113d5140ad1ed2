"""Callbacks of the estimators, for their method ``set_callbacks``."""

from skauto.display._progress import SearchProgress

__all__ = ["SearchProgress"]
