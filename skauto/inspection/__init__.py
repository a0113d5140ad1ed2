"""Feature importance of fitted estimators."""

from skauto.inspection._importance import cross_validated_importance

__all__ = ["cross_validated_importance"]
