"""Vectorized losses of predicted labels."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from skauto.selection._losses import Loss, row_means
from skauto.utils import FloatArray, IntArray


class LabelLoss(Loss):
    """Base class of losses of predicted labels, which are functions of the confusion matrix.

    The label is the most probable class, the first one in a tie. Subclasses define
    :meth:`from_counts`.
    """

    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        return self.from_counts(*_class_counts(y, projections, sample_weight))

    def from_confusion(self, confusion: FloatArray) -> FloatArray:
        """Return the loss of each confusion matrix, (n_predictions, n_classes, n_classes).

        An entry is the sum of the row weights of a true class (second axis) and predicted class.
        """
        hits = np.diagonal(confusion, axis1=1, axis2=2)
        return self.from_counts(hits, confusion.sum(axis=1), confusion[0].sum(axis=1))

    @abstractmethod
    def from_counts(self, hits: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        """Return the loss of each prediction from sums of row weights.

        `hits` and `predicted`, of shape (n_predictions, n_classes), are those of the true
        positives and of all rows predicted as the class; `true`, of shape (n_classes,), are those
        of the rows of the class.
        """


@dataclass(frozen=True)
class ErrorLoss(LabelLoss):
    """Error rate: 1 - :func:`sklearn.metrics.accuracy_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import ErrorLoss
    >>> ErrorLoss()([0, 1], np.array([[[0.6, 0.4], [0.7, 0.3]], [[0.9, 0.1], [0.2, 0.8]]]))
    array([0.5, 0. ])
    """

    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        return row_means(_labels(projections) != y, sample_weight)

    def from_counts(self, hits: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        return 1.0 - hits.sum(axis=1) / true.sum()


@dataclass(frozen=True)
class BalancedErrorLoss(LabelLoss):
    """Mean error rate of the classes: 1 - :func:`sklearn.metrics.balanced_accuracy_score`.

    Classes that are not in ``y`` are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import BalancedErrorLoss
    >>> BalancedErrorLoss()([0, 0, 1], np.array([[[0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]]))
    array([0.25])
    """

    def from_counts(self, hits: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        present = true > 0
        return 1.0 - (hits[:, present] / true[present]).mean(axis=1)


@dataclass(frozen=True)
class F1Loss(LabelLoss):
    """One minus the harmonic mean of precision and recall.

    Equals 1 - :func:`sklearn.metrics.f1_score`; the F1 of a class that is neither in ``y`` nor
    predicted is 0.

    Parameters
    ----------
    average : {"binary", "macro", "weighted"}, default="binary"
        "binary": F1 of the positive class. "macro": mean over the classes; as in scikit-learn,
        classes that are neither in ``y`` nor predicted are excluded. "weighted": mean weighted by
        the weight of each class in ``y``.
    positive : int, default=1
        Code of the positive class; used only if ``average="binary"``.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import F1Loss
    >>> F1Loss()([0, 1, 1], np.array([[[0.6, 0.4], [0.7, 0.3], [0.2, 0.8]]])).round(3)
    array([0.333])
    """

    average: str = "binary"
    positive: int = 1

    def from_counts(self, hits: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        either = predicted + true
        f1 = np.divide(2.0 * hits, either, out=np.zeros_like(hits), where=either > 0)
        if self.average == "binary":
            return 1.0 - f1[:, self.positive]
        if self.average == "weighted":
            return 1.0 - f1 @ (true / true.sum())
        return 1.0 - f1.sum(axis=1) / (either > 0).sum(axis=1)


@dataclass(frozen=True)
class MatthewsLoss(LabelLoss):
    """One minus the Matthews correlation coefficient.

    Equals 1 - :func:`sklearn.metrics.matthews_corrcoef`; the coefficient is 0 if the labels or the
    true classes are constant.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import MatthewsLoss
    >>> MatthewsLoss()([0, 1], np.array([[[0.6, 0.4], [0.7, 0.3]], [[0.9, 0.1], [0.2, 0.8]]]))
    array([1., 0.])
    """

    def from_counts(self, hits: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        shares, expected = predicted / true.sum(), true / true.sum()
        covariance = hits.sum(axis=1) / true.sum() - shares @ expected
        variances = (1.0 - (shares**2).sum(axis=1)) * (1.0 - (expected**2).sum())
        constant = variances <= np.finfo(np.float64).eps
        deviations = np.sqrt(np.where(constant, 1.0, variances))
        return 1.0 - np.where(constant, 0.0, covariance / deviations)


def _labels(probabilities: FloatArray) -> IntArray:
    """Return the argmax over the classes, faster than np.argmax for few classes."""
    labels = (probabilities[..., 1] > probabilities[..., 0]).astype(np.intp)
    highest = np.maximum(probabilities[..., 0], probabilities[..., 1])
    for c in range(2, probabilities.shape[-1]):
        labels[probabilities[..., c] > highest] = c
        np.maximum(highest, probabilities[..., c], out=highest)
    return labels


def _class_counts(
    y: IntArray, probabilities: FloatArray, weight: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the arguments of `LabelLoss.from_counts`."""
    n_predictions, _, n_classes = probabilities.shape
    weight = np.ones(len(y)) if weight is None else weight
    labels = _labels(probabilities)
    cells = (labels + n_classes * np.arange(n_predictions)[:, None]).ravel()

    def count(cells: IntArray, values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        totals = np.bincount(cells, weights=values.ravel(), minlength=int(np.prod(shape)))
        return totals.reshape(shape).astype(np.float64, copy=False)

    shape = (n_predictions, n_classes)
    hits = count(cells, np.where(labels == y, weight, 0.0), shape)
    predicted = count(cells, np.broadcast_to(weight, labels.shape), shape)
    return hits, predicted, count(y, weight, (n_classes,))
