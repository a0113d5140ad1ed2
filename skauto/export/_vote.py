"""The fitted ensemble of an estimator to export."""

from collections.abc import Iterator
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauto.ensemble import PipelineEnsemble


def vote_of(estimator: Any) -> PipelineEnsemble:
    """Return the fitted ensemble of an estimator; an ensemble is returned itself."""
    if isinstance(estimator, PipelineEnsemble):
        return estimator
    if not hasattr(type(estimator), "leaderboard"):
        raise TypeError(
            "The 'estimator' must be a fitted AutoClassifier or ConstrainedAutoClassifier, or the "
            f"ensemble_ of one. Got {type(estimator).__name__} instead."
        )
    check_is_fitted(estimator)
    vote: PipelineEnsemble = estimator.ensemble_
    return vote


def members(vote: PipelineEnsemble) -> Iterator[tuple[float, list[str]]]:
    """Describe the members of an ensemble.

    Parameters
    ----------
    vote : PipelineEnsemble
        A fitted ensemble.

    Yields
    ------
    share : float
        Weight of the member.
    steps : list of str
        Steps of its pipeline after the reader.
    """
    for weight, pipeline in zip(vote.weights, vote.pipelines, strict=True):
        yield float(weight), [" ".join(repr(step).split()) for _, step in pipeline.steps[1:]]
