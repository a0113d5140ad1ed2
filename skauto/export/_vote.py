"""The vote inside of what a user wants to export."""

from collections.abc import Iterator
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skauto.ensemble import PipelineEnsemble


def vote_of(estimator: Any) -> PipelineEnsemble:
    """Find the fitted vote.

    Parameters
    ----------
    estimator : AutoClassifier or PipelineEnsemble
        A fitted estimator, or its vote itself.

    Returns
    -------
    vote : PipelineEnsemble
        What predicts.

    Raises
    ------
    TypeError
        If it is something else.
    """
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
    """Describe the members of a vote.

    Parameters
    ----------
    vote : PipelineEnsemble
        Fitted.

    Yields
    ------
    share : float
        Of the vote.
    steps : list of str
        The steps behind the reader.
    """
    for weight, pipeline in zip(vote.weights, vote.pipelines, strict=True):
        yield float(weight), [" ".join(repr(step).split()) for _, step in pipeline.steps[1:]]
