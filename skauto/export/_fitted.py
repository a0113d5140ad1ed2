"""The fitted ensemble of an estimator to export."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauto.model import PipelineEnsemble


def fitted_ensemble(estimator: Any) -> PipelineEnsemble:
    """Return the fitted ensemble of an estimator; an ensemble is returned itself."""
    if isinstance(estimator, PipelineEnsemble):
        return estimator
    if not hasattr(type(estimator), "leaderboard"):
        raise TypeError(
            "The 'estimator' must be a fitted AutoClassifier or ConstrainedAutoClassifier, or the "
            f"ensemble_ of one. Got {type(estimator).__name__} instead."
        )
    check_is_fitted(estimator)
    return estimator.ensemble_
