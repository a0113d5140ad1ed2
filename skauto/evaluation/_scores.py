"""Scores of stored predictions, and what constraints are measured on."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from skauto.utils import Predictions


@dataclass(frozen=True)
class Evidence:
    """What constraints are measured on: predictions for some rows, and who made them.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
        Predicted for the rows.
    y : ndarray of int of shape (n_rows,)
        True class codes.
    classes : ndarray of shape (n_classes,)
        Labels of the codes.
    groups : mapping of str to ndarray of int of shape (n_rows,), default={}
        Group codes of each sensitive feature.
    X : array-like of shape (n_rows, n_features), default=None
        The raw rows.
    model : object, default=None
        What predicted: it has ``predict_proba(X)`` and pickles. None where only predictions are
        known (an ensemble before it is fitted).

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.evaluation import Evidence
    >>> evidence = Evidence(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), np.array([0, 1]))
    >>> evidence.labels
    array([0, 1])
    """

    probabilities: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    groups: Mapping[str, np.ndarray] = field(default_factory=dict)
    X: object = None
    model: object = None

    @property
    def labels(self):
        """Codes of the most probable classes."""
        return np.argmax(self.probabilities, axis=1)


def score_probabilities(scorer, probabilities, y, classes, sample_weight=None, X=None):
    """Score stored class probabilities with a scikit-learn scorer.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``, greater is better. One that takes ``sample_weight`` gets it.
    probabilities : ndarray of shape (n_samples, n_classes)
        Predictions.
    y : ndarray of int of shape (n_samples,)
        True class codes.
    classes : ndarray of shape (n_classes,)
        Labels of the codes.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the rows.
    X : array-like of shape (n_samples, n_features), default=None
        Rows of the table, for scorers that look at them.

    Returns
    -------
    score : float
        With more than two classes, a score of probabilities is taken over the classes that occur
        in ``y`` (the probabilities of the others are shared out). NaN when a single class occurs
        and the score needs two.
    """
    # Single precision sums to 1 only within 1e-7, which strict metrics refuse.
    probabilities = probabilities.astype(np.float64)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    response = getattr(scorer, "_response_method", "predict")
    if response != "predict":
        present = np.unique(y)
        if len(present) < 2 and len(classes) >= 2:
            return math.nan
        if len(present) < len(classes):
            probabilities = np.maximum(probabilities[:, present], np.finfo(np.float32).eps)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
            y, classes = np.searchsorted(present, y), classes[present]
    takes_weight = sample_weight is not None and hasattr(scorer, "_score_func")
    params = {"sample_weight": sample_weight} if takes_weight else {}
    labels = classes[y]
    X = labels[:, None] if X is None else X
    return float(scorer(Predictions(probabilities, classes), X, labels, **params))
