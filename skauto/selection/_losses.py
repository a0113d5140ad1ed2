"""Vectorised losses of many predictions at once, for ensemble selection.

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
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    get_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from skauto.utils import (
    FloatArray,
    IntArray,
    Predictions,
    scorer_function,
    scorer_is_loss,
    scorer_options,
    take_rows,
)


class Loss(ABC):
    """Base class of the losses of many predictions for the same rows.

    Subclasses define :meth:`evaluate`, and :meth:`project` if they do not read all probabilities.
    """

    def __call__(
        self, y: ArrayLike, predictions: FloatArray, sample_weight: ArrayLike | None = None
    ) -> FloatArray:
        """Return the loss of each prediction.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True classes as integer codes, 0 to ``n_classes - 1``.
        predictions : ndarray of shape (n_predictions, n_samples, n_classes)
            Probabilities.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None for equal weights.

        Returns
        -------
        losses : ndarray of shape (n_predictions,)
            The losses, smaller is better.
        """
        y = np.asarray(y)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return self.evaluate(y, self.project(predictions, y), weight)

    def project(self, predictions: FloatArray, y: IntArray) -> FloatArray:
        """Return the projection of the predictions that the loss reads.

        Parameters
        ----------
        predictions : ndarray of shape (..., n_samples, n_classes)
            Probabilities.
        y : ndarray of shape (n_samples,)
            True classes as integer codes.

        Returns
        -------
        projections : ndarray of shape (..., n_samples) or (..., n_samples, n_classes)
            A linear function of each row of probabilities; a view where possible.
        """
        return predictions

    @abstractmethod
    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return the loss of each projected prediction.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            True classes as integer codes.
        projections : ndarray of shape (n_predictions, ...)
            Output of :meth:`project`.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the rows; None for equal weights.

        Returns
        -------
        losses : ndarray of shape (n_predictions,)
            The losses, smaller is better.
        """


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
        """Return the log loss of each prediction."""
        precision = np.finfo(np.float64).eps
        logarithms = np.log(np.clip(projections, precision, 1.0 - precision, dtype=np.float64))
        return -_row_means(logarithms, sample_weight)


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
        """Return the Brier score of each prediction."""
        n_classes = projections.shape[2]
        differences = projections - np.eye(n_classes)[y]
        squares = np.square(differences, out=differences).sum(axis=2)
        scale = 0.5 if n_classes == 2 else 1.0
        return scale * _row_means(squares, sample_weight)


class LabelLoss(Loss):
    """Base class of losses of predicted labels, which are functions of the confusion matrix.

    The label is the most probable class, the first one in a tie. Subclasses define
    :meth:`from_counts`.
    """

    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return the loss of the labels of each prediction."""
        return self.from_counts(*_class_counts(y, projections, sample_weight))

    def from_confusion(self, confusion: FloatArray) -> FloatArray:
        """Return the loss of each confusion matrix.

        Parameters
        ----------
        confusion : ndarray of shape (n_predictions, n_classes, n_classes)
            Sum of the row weights by true class (second axis) and predicted class (last axis).

        Returns
        -------
        losses : ndarray of shape (n_predictions,)
            The losses, smaller is better.
        """
        hits = np.diagonal(confusion, axis1=1, axis2=2)
        return self.from_counts(hits, confusion.sum(axis=1), confusion[0].sum(axis=1))

    @abstractmethod
    def from_counts(self, hits: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        """Return the loss of each prediction.

        Parameters
        ----------
        hits, predicted : ndarray of shape (n_predictions, n_classes)
            Sum of the weights of the true positives, and of all rows predicted as the class.
        true : ndarray of shape (n_classes,)
            Sum of the weights of the rows of the class.

        Returns
        -------
        losses : ndarray of shape (n_predictions,)
            The losses, smaller is better.
        """


@dataclass(frozen=True)
class ErrorLoss(LabelLoss):
    """Error rate: 1 - :func:`sklearn.metrics.accuracy_score`.

    The label is the most probable class, the first one in a tie.

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
        """Return the error of each prediction."""
        return _row_means(_labels(projections) != y, sample_weight)

    def from_counts(self, hits: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        """Return the error of each prediction."""
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
        """Return the balanced error of each prediction."""
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
        """Return one minus the F1 of each prediction."""
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
        """Return one minus the coefficient of each prediction."""
        shares, expected = predicted / true.sum(), true / true.sum()
        covariance = hits.sum(axis=1) / true.sum() - shares @ expected
        variances = (1.0 - (shares**2).sum(axis=1)) * (1.0 - (expected**2).sum())
        constant = variances <= np.finfo(np.float64).eps
        deviations = np.sqrt(np.where(constant, 1.0, variances))
        return 1.0 - np.where(constant, 0.0, covariance / deviations)


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
        """Return one minus the ROC AUC of each prediction."""
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
    the log loss on test rows by two fifths and keeps the ROC AUC (see
    ``examples/benchmarks/ensemble_selection.py``).

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
        """Return the loss of each prediction plus the share of its log loss."""
        losses = self.loss(y, projections, sample_weight)
        return losses + self.share * LogLoss()(y, projections, sample_weight)


class ScorerLoss(Loss):
    """Any scikit-learn scorer as a loss, slow: one call per prediction.

    The scorer gets a classifier that returns the stored predictions. Convert a metric function to
    a scorer by :func:`sklearn.metrics.make_scorer`.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``, greater is better. If it was made by
        :func:`sklearn.metrics.make_scorer`, it gets the ``sample_weight`` too.
    classes : array-like of shape (n_classes,), default=None
        Class label of each code, for scorers with a ``pos_label``; None uses the codes.
    X : array-like of shape (n_samples, n_features), default=None
        The predicted rows, for scorers that read them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import get_scorer
    >>> from skauto.selection import ScorerLoss
    >>> loss = ScorerLoss(get_scorer("jaccard"))
    >>> loss([0, 1], np.array([[[0.6, 0.4], [0.7, 0.3]], [[0.9, 0.1], [0.2, 0.8]]]))
    array([-0., -1.])
    """

    def __init__(self, scorer: Any, classes: ArrayLike | None = None, X: Any = None) -> None:
        self.scorer = scorer
        self.X = X
        self.classes = None if classes is None else np.asarray(classes)

    def __repr__(self) -> str:
        return f"ScorerLoss({self.scorer!r})"

    def evaluate(
        self, y: IntArray, projections: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return the negative score of each prediction."""
        return np.array(
            [-self._score(Predictions, y, block, sample_weight) for block in projections],
            dtype=np.float64,
        )

    @property
    def reads_counts(self) -> bool:
        """Whether the scorer takes weights, so that a confusion matrix is sufficient input."""
        function = scorer_function(self.scorer)
        return function is not None and "sample_weight" in signature(function).parameters

    def reads_labels(self, y: IntArray, n_classes: int) -> bool:
        """Return whether class offsets can improve the score, which must read labels only.

        The response methods that the scorer calls are recorded during one call.

        Parameters
        ----------
        y : ndarray of int of shape (n_samples,)
            True classes as codes.
        n_classes : int
            Number of classes.

        Returns
        -------
        reads : bool
            False for scorers that read probabilities, and for precision or recall of a single
            class, whose optimum is a constant label.
        """
        function = scorer_function(self.scorer)
        if function in (precision_score, recall_score):
            return scorer_options(self.scorer).get("average", "binary") != "binary"
        asked: set[str] = set()

        class Recorder(Predictions):
            def predict(self, X: Any) -> NDArray[Any]:
                asked.add("predict")
                return super().predict(X)

            def predict_proba(self, X: Any) -> NDArray[Any]:
                asked.add("predict_proba")
                return super().predict_proba(X)

        shares = np.bincount(y, minlength=n_classes) / len(y)
        self._score(Recorder, y, np.tile(shares, (len(y), 1)), None)
        return asked == {"predict"}

    def from_confusion(self, confusion: FloatArray) -> FloatArray:
        """Return the negative score of each confusion matrix, (n, n_classes, n_classes)."""
        n_classes = confusion.shape[1]
        y, labels = np.indices((n_classes, n_classes)).reshape(2, -1)
        predictions = np.eye(n_classes)[labels]
        plain = ScorerLoss(self.scorer, self.classes)
        losses = np.empty(len(confusion))
        for i, weight in enumerate(confusion.reshape(len(confusion), -1)):
            met = weight > 0
            losses[i] = plain(y[met], predictions[None, met], weight[met])[0]
        return losses

    def take(self, rows: IntArray) -> Self:
        """Return the loss of some of the rows.

        Parameters
        ----------
        rows : ndarray of int
            Row indices, possibly with repetitions.

        Returns
        -------
        loss : ScorerLoss
            The loss with these rows of ``X``.
        """
        X = None if self.X is None else take_rows(self.X, rows)
        return type(self)(self.scorer, self.classes, X)

    def _score(
        self,
        predictor: type[Predictions],
        y: IntArray,
        predictions: FloatArray,
        sample_weight: FloatArray | None,
    ) -> float:
        classes = np.arange(predictions.shape[1]) if self.classes is None else self.classes
        takes_weight = sample_weight is not None and scorer_function(self.scorer) is not None
        options = {"sample_weight": sample_weight} if takes_weight else {}
        rows = np.zeros((len(y), 1)) if self.X is None else self.X
        return float(self.scorer(predictor(predictions, classes), rows, classes[y], **options))


def get_loss(scoring: Any, classes: ArrayLike) -> Loss:
    """Return the loss of a scorer, vectorised if possible.

    Parameters
    ----------
    scoring : str or callable
        Name of a scikit-learn scorer, or a scorer.
    classes : array-like of shape (n_classes,)
        Class label of each code.

    Returns
    -------
    loss : Loss
        A vectorised loss, or a :class:`ScorerLoss` for scorers without one.

    Examples
    --------
    >>> from skauto.selection import get_loss
    >>> get_loss("roc_auc", ["no", "yes"])
    RocAucLoss(average='macro')
    >>> get_loss("jaccard", ["no", "yes"])
    ScorerLoss(make_scorer(jaccard_score, response_method='predict', average=binary))
    """
    classes = np.asarray(classes)
    if not isinstance(scoring, str):
        plain = not scorer_options(scoring) and not scorer_is_loss(scoring)
        known = _METRICS.get(scorer_function(scoring)) if plain else None
        return ScorerLoss(scoring, classes) if known is None else known
    if scoring in _LOSSES:
        return _LOSSES[scoring]
    if scoring == "f1" and len(classes) == 2 and 1 in classes.tolist():
        return F1Loss(positive=classes.tolist().index(1))
    return ScorerLoss(get_scorer(scoring), classes)


_LOSSES: dict[str, Loss] = {
    "accuracy": ErrorLoss(),
    "balanced_accuracy": BalancedErrorLoss(),
    "f1_macro": F1Loss("macro"),
    "f1_micro": ErrorLoss(),  # the micro average of single labels is the accuracy
    "f1_weighted": F1Loss("weighted"),
    "matthews_corrcoef": MatthewsLoss(),
    "neg_brier_score": BrierLoss(),
    "neg_log_loss": LogLoss(),
    "roc_auc": RocAucLoss(),
    "roc_auc_ovr": RocAucLoss(),
    "roc_auc_ovr_weighted": RocAucLoss("weighted"),
}

# Losses of scorers that were made of a metric without options.
_METRICS: dict[Callable[..., Any] | None, Loss] = {
    accuracy_score: ErrorLoss(),
    balanced_accuracy_score: BalancedErrorLoss(),
    matthews_corrcoef: MatthewsLoss(),
}


def _row_means(values: NDArray[Any], weight: FloatArray | None) -> FloatArray:
    """Return the weighted mean of each row, (n_predictions, n_samples) -> (n_predictions,)."""
    if weight is None:
        return values.mean(axis=1)
    # not a BLAS product, whose rounding may differ between equal rows
    return (values * weight).sum(axis=1) / weight.sum()


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
