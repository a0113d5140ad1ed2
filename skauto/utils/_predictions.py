"""Stored predictions with the interface of a fitted classifier."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class Predictions(ClassifierMixin, BaseEstimator):
    """A fitted classifier that returns stored probabilities (n_samples, n_classes) for any input.

    With it, any scikit-learn scorer can score out-of-fold predictions and ensembles. `labels` are
    the class codes of the output of ``predict``; None for the most probable class.
    """

    def __init__(
        self,
        probabilities: NDArray[Any],
        classes: NDArray[Any],
        labels: NDArray[np.integer[Any]] | None = None,
    ) -> None:
        self.probabilities = probabilities
        self.classes = classes
        self.labels = labels
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the stored probabilities."""
        return self.probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the stored labels, or the first ones of largest probability."""
        if self.labels is not None:
            return self.classes_[self.labels]
        return self.classes_[np.argmax(self.probabilities, axis=1)]
