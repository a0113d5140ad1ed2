"""Vectorized losses of many predictions at once, for ensemble selection.

Ensemble selection evaluates the loss of a mean prediction thousands of times. The metrics of
scikit-learn validate their input and take one prediction per call; the losses here take a block of
predictions as one array, without validation. Each equals the scikit-learn metric in its docstring,
as a loss (smaller is better).

A loss may read only a *linear* projection of the probabilities (:meth:`Loss.project`): the
probability of the true class for the log loss, the positive class for the binary ROC AUC. Linear
projection and mean commute, so ensemble selection projects each candidate once and averages the
projections.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.utils import FloatArray, IntArray


class Loss(ABC):
    """Base class of the losses of many predictions for the same rows.

    Subclasses define :meth:`evaluate`, and :meth:`project` if they do not read all probabilities.
    """

    def __call__(
        self, y: ArrayLike, predictions: FloatArray, sample_weight: ArrayLike | None = None
    ) -> FloatArray:
        """Return the loss of each prediction, shape (n_predictions,); smaller is better.

        ``y`` holds integer codes of the true classes, (n_samples,), and ``predictions``
        probabilities of shape (n_predictions, n_samples, n_classes).
        """
        y = np.asarray(y)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return self.evaluate(y, self.project(predictions, y), weight)

    def project(self, predictions: FloatArray, y: IntArray) -> FloatArray:
        """Return what the loss reads of predictions (..., n_samples, n_classes).

        It is a linear function of each row of probabilities, of shape (..., n_samples) or (...,
        n_samples, n_classes); a view where possible.
        """
        return predictions

    @abstractmethod
    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return the loss of each projected prediction (see `project`), shape (n_predictions,)."""


@dataclass(frozen=True)
class LogLoss(Loss):
    """Mean negative logarithm of the probability of the true class.

    Equals :func:`sklearn.metrics.log_loss`; probabilities are clipped at the machine precision of
    float64.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import LogLoss
    >>> LogLoss()([0, 1], np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]])).round(3)
    array([0.693, 0.164])
    """

    def project(self, predictions: FloatArray, y: IntArray) -> FloatArray:
        """Return the probability of the true class, (..., n_samples)."""
        return predictions[..., np.arange(len(y)), y]

    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        precision = np.finfo(np.float64).eps
        logarithms = np.log(np.clip(projections, precision, 1.0 - precision, dtype=np.float64))
        return -row_means(logarithms, sample_weight)


@dataclass(frozen=True)
class BrierLoss(Loss):
    """Mean squared distance between the probabilities and the one-hot true class.

    Equals :func:`sklearn.metrics.brier_score_loss`, which halves it for two classes: its range is
    [0, 1] for two classes and [0, 2] for more.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import BrierLoss
    >>> BrierLoss()([0, 1], np.array([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]]))
    array([0.25, 0.  ])
    """

    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        n_classes = projections.shape[2]
        differences = projections - np.eye(n_classes)[y]
        squares = np.square(differences, out=differences).sum(axis=2)
        scale = 0.5 if n_classes == 2 else 1.0
        return scale * row_means(squares, sample_weight)


@dataclass(frozen=True)
class RocAucLoss(Loss):
    """One minus the area under the ROC curve, one-vs-rest for more than two classes.

    Equals 1 - :func:`sklearn.metrics.roc_auc_score` with ``multi_class="ovr"``. The area is the
    share of (positive, negative) pairs that are ranked correctly, with ties as one half [1]_; it
    is computed by sorting. A class is excluded if ``y`` has no row of it or no other row; the loss
    is NaN if no class remains.

    Parameters
    ----------
    average : {"macro", "weighted"}, default="macro"
        Mean over the classes, plain or weighted by the weight of each class in ``y``; without
        effect for two classes.

    References
    ----------
    .. [1] J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver
       operating characteristic (ROC) curve", Radiology 143 (1982), 29-36.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import RocAucLoss
    >>> RocAucLoss()([0, 1, 1], np.array([[[0.6, 0.4], [0.7, 0.3], [0.2, 0.8]]]))
    array([0.5])
    """

    average: str = "macro"

    def project(self, predictions: FloatArray, y: IntArray) -> FloatArray:
        """Return the positive class of two, (..., n_samples), or all of more classes."""
        return predictions[..., 1] if predictions.shape[-1] == 2 else predictions

    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        if projections.ndim == 2:
            return 1.0 - _binary_auc(y == 1, projections, sample_weight)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        counts = np.bincount(y, weights=weight, minlength=projections.shape[2])
        defined = np.flatnonzero((counts > 0) & (counts < counts.sum()))
        if len(defined) == 0:
            return np.full(len(projections), np.nan)
        areas = np.stack(
            [_binary_auc(y == c, projections[:, :, c], sample_weight) for c in defined], axis=1
        )
        shares = counts[defined] if self.average == "weighted" else np.ones(len(defined))
        return 1.0 - areas @ (shares / shares.sum())


@dataclass(frozen=True)
class SmoothedLoss(Loss):
    """A loss plus a share of the log loss.

    Losses of labels or ranks have few distinct values on small data, so that many candidates tie.
    They also ignore calibration, so that a long greedy selection overfits the ranks of the
    validation rows. The log loss breaks ties and keeps the ensemble calibrated. The default share
    was chosen on pools of 120 candidates for public data sets: in selection for ROC AUC, it lowers
    the log loss on test rows by two fifths and keeps the ROC AUC.

    Parameters
    ----------
    loss : Loss
        The main loss.
    share : float, default=0.1
        Factor of the log loss.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import ErrorLoss, SmoothedLoss
    >>> predictions = np.array([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.2, 0.8]]])
    >>> ErrorLoss()([0, 1], predictions)
    array([0., 0.])
    >>> SmoothedLoss(ErrorLoss())([0, 1], predictions).round(4)
    array([0.0511, 0.0164])
    """

    loss: Loss
    share: float = 0.1

    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        losses = self.loss(y, projections, sample_weight)
        return losses + self.share * LogLoss()(y, projections, sample_weight)


def log_losses(y: ArrayLike, probabilities: FloatArray) -> FloatArray:
    """Return the log loss of each row, given probabilities of shape (n_samples, n_classes)."""
    of_class = probabilities[np.arange(len(probabilities)), np.asarray(y)]
    return -np.log(np.maximum(of_class, np.finfo(np.float64).eps, dtype=np.float64))


def mean_and_error(
    values: FloatArray, sample_weight: ArrayLike | None = None
) -> tuple[float, float]:
    """Return the weighted mean of values of rows, and its standard error."""
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight)
    mean = np.average(values, weights=weight)
    return float(mean), float(np.linalg.norm((values - mean) * weight) / weight.sum())


def row_means(values: NDArray[Any], weight: FloatArray | None) -> FloatArray:
    """Return the weighted mean of each row, (n_predictions, n_samples) -> (n_predictions,)."""
    if weight is None:
        return values.mean(axis=1)
    # not a BLAS product, whose rounding may differ between equal rows
    return (values * weight).sum(axis=1) / weight.sum()


def _binary_auc(
    positive: NDArray[np.bool_], scores: FloatArray, weight: FloatArray | None
) -> FloatArray:
    """Return the ROC AUC of each row of scores, (n_predictions, n_samples)."""
    if positive.all() or not positive.any():
        return np.full(len(scores), np.nan)
    if weight is None:
        winners = np.sort(scores[:, positive], axis=1)
        losers = np.sort(scores[:, ~positive], axis=1)
        wins = [
            (np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")).sum()
            for high, low in zip(winners, losers, strict=True)
        ]
        return np.array(wins) / (2.0 * winners.shape[1] * losers.shape[1])
    return np.array([_weighted_auc(positive, row, weight) for row in scores])


def _weighted_auc(positive: NDArray[np.bool_], scores: FloatArray, weight: FloatArray) -> float:
    """Return the ROC AUC with each pair weighted by the product of its row weights."""
    order = np.argsort(scores[~positive])
    low = scores[~positive][order]
    below = np.concatenate([[0.0], np.cumsum(weight[~positive][order])])
    high, high_weight = scores[positive], weight[positive]
    wins = below[np.searchsorted(low, high, "left")] + below[np.searchsorted(low, high, "right")]
    return float(high_weight @ wins / (2.0 * high_weight.sum() * below[-1]))
