"""Errors, calibration, ranking and operating points of predictions."""

import math
from typing import Any

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)

from skauto.display._predictions import LabeledPredictions
from skauto.selection._operating_points import OperatingPoints
from skauto.utils import FloatArray

_N_BINS = 10
# Least shares of the rows of the second class that operating points find.
_RECALLS = (0.99, 0.95, 0.9, 0.8, 0.7, 0.5, 0.25, 0.1)
# Smallest probabilities of an answer that is used, with more than two classes.
_CONFIDENCES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def errors(known: LabeledPredictions) -> dict[str, Any]:
    """Confusion matrix (rows are true classes), and precision, recall and support by class."""
    codes = np.arange(len(known.classes))
    matrix = confusion_matrix(known.truth, known.labels, labels=codes)
    precision, recall, _, support = precision_recall_fscore_support(
        known.truth, known.labels, labels=codes, zero_division=np.nan
    )
    return {
        "classes": known.classes.tolist(),
        "confusion_matrix": matrix.tolist(),
        "by_class": [
            {"class": label, "precision": p, "recall": r, "support": int(n)}
            for label, p, r, n in zip(known.classes, precision, recall, support, strict=True)
        ],
    }


def probability_scores(known: LabeledPredictions) -> dict[str, float]:
    """Common scores of the predictions."""
    codes = np.arange(len(known.classes))
    recall = [np.mean(known.labels[known.truth == c] == c) for c in np.unique(known.truth)]
    return {
        "balanced_accuracy": float(np.mean(recall)),
        "log_loss": float(log_loss(known.truth, known.probabilities, labels=codes)),
    }


def ranking(known: LabeledPredictions) -> list[dict[str, Any]]:
    """Areas under the ROC and precision-recall curves of each class against the others.

    Of two classes, only the second is listed.
    """
    found = []
    for code in curve_classes(known):
        positive, score = known.truth == code, known.probabilities[:, code]
        found.append(
            {
                "class": known.classes[code],
                "roc_auc": float(roc_auc_score(positive, score)),
                "average_precision": float(average_precision_score(positive, score)),
                "share_of_rows": float(positive.mean()),
            }
        )
    return found


def curve_classes(known: LabeledPredictions) -> list[int]:
    """Codes of the classes that have curves: those that occur, of two only the second."""
    present = np.bincount(known.truth, minlength=len(known.classes))
    codes = [1] if known.binary else range(len(known.classes))
    return [code for code in codes if 0 < present[code] < len(known.truth)]


def calibration(known: LabeledPredictions) -> list[dict[str, Any]]:
    """Mean probability and observed share in ten groups of rows of about equal size.

    The probability is that of the second of two classes, or of the predicted class.
    """
    if known.binary:
        predicted, happened = known.probabilities[:, 1], known.truth == 1
    else:
        predicted = np.take_along_axis(known.probabilities, known.labels[:, None], 1)[:, 0]
        happened = known.labels == known.truth
    predicted = np.clip(predicted, 0.0, 1.0)
    observed, mean = calibration_curve(happened, predicted, n_bins=_N_BINS, strategy="quantile")
    return [{"predicted": p, "observed": o} for p, o in zip(mean, observed, strict=True)]


def operating_points(known: LabeledPredictions, threshold: float) -> list[dict[str, Any]]:
    """Tabulate what other thresholds would give; `threshold` is the one in use, NaN if it varies.

    With two classes, a row is flagged as the second one if its probability exceeds the threshold.
    A threshold has the highest precision among those that reach some recall. With more classes,
    the answer is used if the largest probability reaches the threshold.
    """
    if not known.binary:
        return _confident_answers(known)
    positive, score = known.truth == 1, known.probabilities[:, 1]
    if not positive.any():
        return []
    points = OperatingPoints.of(score, positive)
    places = {points.find(recall, None, None)[0] for recall in _RECALLS}
    found = [
        {
            "threshold": max(0.0, float(points.cuts[place])),
            "precision": float(points.precision[place]),
            "recall": float(points.recall[place]),
            "share_flagged": float(points.flagged[place]),
            "in_use": False,
        }
        for place in sorted(places)
    ]
    flagged = known.labels == 1
    n_found = int((flagged & positive).sum())
    in_use = {
        "threshold": threshold,
        "precision": n_found / int(flagged.sum()) if flagged.any() else math.nan,
        "recall": n_found / int(positive.sum()),
        "share_flagged": float(flagged.mean()),
        "in_use": True,
    }
    return sorted([*found, in_use], key=lambda point: point["share_flagged"])


def _confident_answers(known: LabeledPredictions) -> list[dict[str, Any]]:
    largest: FloatArray = known.probabilities.max(axis=1)
    right = known.labels == known.truth
    return [
        {
            "threshold": threshold,
            "share_answered": float(used.mean()),
            "share_right": float(right[used].mean()) if used.any() else math.nan,
            "in_use": threshold == 0.0,
        }
        for threshold, used in ((least, largest >= least) for least in _CONFIDENCES)
    ]
