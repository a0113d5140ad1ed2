"""The ``scoring`` parameter: scorers by name, checked before the search."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names

from skauto.data import TrainingData
from skauto.selection._scores import find_scorer, score_probabilities, scoring_for
from skauto.utils import scorer_function, scorer_is_loss, scorer_needs_labels_only


def named_scorers(scoring: Any, n_classes: int) -> dict[str, Any]:
    """Look up the scorers of the parameter ``scoring`` by name; the search maximizes the first."""
    named = _by_name(scoring)
    if not named:
        raise ValueError(
            "The 'scoring' parameter must name at least one scorer. Got an empty "
            f"{type(scoring).__name__} instead."
        )
    rule = (
        "The 'scoring' parameter must be the name of a scikit-learn scorer, a callable, or "
        "several of them."
    )
    return {name: find_scorer(value, n_classes, rule) for name, value in named.items()}


def primary_scoring(scoring: Any, n_classes: int) -> Any:
    """First entry of ``scoring``: a name or a callable; "accuracy" for None."""
    return scoring_for(next(iter(_by_name(scoring).values())), n_classes)


def check_scorers(scorers: Mapping[str, Any], data: TrainingData) -> None:
    """Score constant predictions (the class shares), so that unusable scorers fail early."""
    share = np.bincount(data.y) / len(data.y)
    probabilities = np.tile(share.astype(np.float32), (len(data.y), 1))
    for name, scorer in scorers.items():
        try:
            score_probabilities(
                scorer, probabilities, data.y, data.classes, data.sample_weight, data.X
            )
        except Exception as exc:
            raise ValueError(
                f"The 'scoring' parameter holds {name!r}, which cannot score "
                f"{len(data.classes)} classes {data.classes[:5].tolist()}: "
                f"{str(exc).replace('Predictions', 'AutoClassifier').rstrip('.')}."
                + _hint(exc, name, scorer, data.classes)
            ) from exc


def _hint(error: Exception, name: str, scorer: Any, classes: NDArray[Any]) -> str:
    """Sentences on what to do about the response method, the average or the positive class."""
    if "decision_function" in str(error):
        return " Use a scorer with response_method='predict_proba'."
    if "positional argument" in str(error) and scorer_function(scorer) is None:
        return " Use scorer(estimator, X, y), or make_scorer(metric) of sklearn.metrics."
    averages = [f"{name}_{average}" for average in ("macro", "micro", "weighted")]
    means = ", ".join(repr(known) for known in averages if known in get_scorer_names())
    if "average=" in str(error) and means:
        return f" Use one of {means}."
    if "pos_label" not in str(error) or len(classes) != 2:
        return ""
    metric = getattr(scorer_function(scorer), "__name__", "metric")
    loss = "greater_is_better=False, " if scorer_is_loss(scorer) else ""
    response = "" if scorer_needs_labels_only(scorer) else "response_method='predict_proba', "
    return (
        f" Name the positive class: make_scorer({metric}, {loss}{response}"
        f"pos_label={classes.tolist()[1]!r}) of sklearn.metrics; or make it 1 and the other class "
        "0" + (f"; or use one of {means}." if means else ".")
    )


def _by_name(scoring: Any) -> dict[str, Any]:
    if isinstance(scoring, dict):
        return dict(scoring)
    if isinstance(scoring, list | tuple):
        return {name: name for name in scoring}
    return {scoring if isinstance(scoring, str) else "score": scoring}
