"""Scores of stored predictions."""

import math
import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names, make_scorer, roc_auc_score

from skauto.utils import (
    FloatArray,
    Predictions,
    closest,
    scorer_function,
    scorer_needs_labels_only,
    scorer_options,
)


def scoring_for(scoring: Any, n_classes: int) -> Any:
    """Replace None by "accuracy", and "roc_auc" for more than two classes by one-vs-rest."""
    if scoring is None:
        return "accuracy"
    return "roc_auc_ovr" if scoring == "roc_auc" and n_classes > 2 else scoring


def find_scorer(scoring: Any, n_classes: int, rule: str) -> Callable[..., float]:
    """Return the scorer of a name, or a callable; the rule begins the error of another name."""
    scoring = scoring_for(scoring, n_classes)
    if not callable(scoring) and scoring not in get_scorer_names():
        hint = closest(str(scoring), get_scorer_names())
        hint = hint or " sklearn.metrics.get_scorer_names() lists the names."
        raise ValueError(f"{rule} Got {scoring!r} instead.{hint}")
    if isinstance(scoring, str):
        return scorer_of(scoring)
    return check_scoring(Predictions(np.empty((0, 0)), np.empty(0)), scoring)


def scorer_of(name: str) -> Callable[..., float]:
    """Return the scorer of a name: that of scikit-learn, or an equal one that is faster."""
    if name.startswith("roc_auc_ovo"):
        average = "weighted" if name.endswith("weighted") else "macro"
        return make_scorer(one_vs_one_auc, response_method="predict_proba", average=average)
    return get_scorer(name)


def one_vs_one_auc(
    y_true: ArrayLike,
    y_score: FloatArray,
    *,
    average: str = "macro",
    sample_weight: FloatArray | None = None,
) -> float:
    """Equal to :func:`sklearn.metrics.roc_auc_score` with ``multi_class="ovo"``, with weights.

    It sorts once for each class, not for each pair of classes.
    """
    if y_score.ndim == 1:
        return float(roc_auc_score(y_true, y_score, sample_weight=sample_weight))
    classes, y = np.unique(y_true, return_inverse=True)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    totals = np.bincount(y, weights=weight)
    areas = np.empty((len(classes), len(classes)))  # of a class against another one
    for code, column in enumerate(y_score.T):
        own = np.flatnonzero(y == code)
        own = own[np.argsort(column[own])]
        below = np.concatenate([[0.0], np.cumsum(weight[own])])
        ends = [np.searchsorted(column[own], column, side) for side in ("left", "right")]
        wins = weight * (below[-1] - below[ends].mean(axis=0))
        with np.errstate(invalid="ignore"):  # a class without weight
            areas[code] = np.bincount(y, weights=wins) / (totals * totals[code])
    np.fill_diagonal(areas, np.nan)
    shares = totals[:, None] + totals if average == "weighted" else np.ones(areas.shape)
    known = np.isfinite(areas)
    return float(np.average(areas[known], weights=shares[known]))


def scorer_takes_weights(scorer: Any) -> bool:
    """Return whether the metric of a scorer, or a plain function, has a ``sample_weight``."""
    function = scorer_function(scorer)
    return "sample_weight" in signature(scorer if function is None else function).parameters


def score_probabilities(
    scorer: Callable[..., float],
    probabilities: NDArray[np.floating[Any]],
    y: NDArray[np.integer[Any]],
    classes: NDArray[Any],
    sample_weight: FloatArray | None = None,
    X: Any = None,
    labels: NDArray[np.integer[Any]] | None = None,
    predictor: type[Predictions] = Predictions,
) -> float:
    """Score stored class probabilities (n_samples, n_classes) with a scikit-learn scorer.

    A score of probabilities is computed over the classes in ``y``, with renormalized
    probabilities. It is NaN if ``y`` has a single class. Two of more classes are passed as 0 and
    1, because metrics of two classes need a positive one. A scorer with the option ``labels`` gets
    all classes.

    `y` and `labels` are true and predicted class codes; None predicts the most probable classes.
    The rows ``X`` are for scorers that read them, which may predict these rows only. Sample
    weights are ignored if the scorer does not take them. The scorer gets a `predictor` with the
    probabilities.
    """
    # Rows of float32 sum to 1 only within 1e-7, which some metrics reject.
    probabilities = probabilities.astype(np.float64)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    if not scorer_needs_labels_only(scorer) and "labels" not in scorer_options(scorer):
        present = np.flatnonzero(np.bincount(y))
        if len(present) < 2 and len(classes) >= 2:
            return math.nan
        if len(present) < len(classes):
            probabilities = np.maximum(probabilities[:, present], np.finfo(np.float32).eps)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
            y, labels = np.searchsorted(present, y), None
            classes = np.arange(2) if len(present) == 2 else classes[present]
    weighted = sample_weight is not None and scorer_takes_weights(scorer)
    params = {"sample_weight": sample_weight} if weighted else {}
    truth = classes[y]
    # The metric of scikit-learn's own scorers reads no rows of X.
    rows = None if scorer_function(scorer) is not None else X
    X = truth[:, None] if X is None else X
    with warnings.catch_warnings(action="ignore"):  # of constant labels, or a class without rows
        return float(scorer(predictor(probabilities, classes, labels, rows), X, truth, **params))
