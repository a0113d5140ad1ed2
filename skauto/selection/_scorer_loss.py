"""Any scorer of scikit-learn as a loss, and the vectorized losses of those that have one."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from skauto.selection._label_losses import BalancedErrorLoss, ErrorLoss, F1Loss, MatthewsLoss
from skauto.selection._losses import BrierLoss, LogLoss, Loss, RocAucLoss
from skauto.selection._scores import score_probabilities, scorer_of, scorer_takes_weights
from skauto.utils import (
    FloatArray,
    IntArray,
    Predictions,
    scorer_function,
    scorer_is_loss,
    scorer_options,
    take_rows,
)

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


class ScorerLoss(Loss):
    """Any scikit-learn scorer as a loss, slow: one call per prediction.

    The scorer gets a classifier that returns the stored predictions. Convert a metric function to
    a scorer by :func:`sklearn.metrics.make_scorer`. A score of probabilities is computed over the
    classes in ``y``, with renormalized probabilities, and NaN for a single class, unless the
    scorer has the option ``labels``.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``, greater is better. If it was made by
        :func:`sklearn.metrics.make_scorer` of a metric with a ``sample_weight``, or has one
        itself, it gets that too.
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
        return np.array(
            [-self._score(Predictions, y, block, sample_weight) for block in projections],
            dtype=np.float64,
        )

    @property
    def reads_counts(self) -> bool:
        """Whether the scorer takes weights, so that a confusion matrix is sufficient input."""
        return scorer_function(self.scorer) is not None and scorer_takes_weights(self.scorer)

    def reads_labels(self, y: IntArray, n_classes: int) -> bool:
        """Return whether class offsets can improve the score, which must read labels only.

        It is False for scorers that read probabilities, and for precision or recall of a single
        class, whose optimum is a constant label. The response methods that the scorer calls are
        recorded during one call.
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
        """Return the loss of some of the rows, by their indices, possibly with repetitions."""
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
        return score_probabilities(
            self.scorer, predictions, y, classes, sample_weight, self.X, predictor=predictor
        )


def get_loss(scoring: Any, classes: ArrayLike) -> Loss:
    """Return the loss of a scorer, vectorized if possible.

    Parameters
    ----------
    scoring : str or callable
        Name of a scikit-learn scorer, or a scorer.
    classes : array-like of shape (n_classes,)
        Class label of each code.

    Returns
    -------
    loss : Loss
        A vectorized loss, or a :class:`ScorerLoss` for scorers without one.

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
    return ScorerLoss(scorer_of(scoring), classes)
