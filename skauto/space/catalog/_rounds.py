"""Base class and early stopping of classifiers that are trained in rounds."""

from abc import ABC, abstractmethod
from math import ceil
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

# Number of boosting rounds times the learning rate, for fits without validation rows.
TOTAL_STEP = 10.0


class RoundsClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base class of classifiers that are trained in rounds (boosting rounds or epochs).

    A subclass has the parameter `n_rounds` and defines `fit` and `predict_proba`.
    """

    classes_: Any

    def set_rounds(self, n: int) -> Self:
        """Set the number of rounds of fits without validation rows.

        Parameters
        ----------
        n : int
            Number of rounds, at least 1.

        Returns
        -------
        self : object
            The classifier.
        """
        return self.set_params(n_rounds=int(n))

    def predict(self, X: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        codes = self.predict_proba(X).argmax(axis=1)  # raises NotFittedError first
        return self.classes_[codes]

    @abstractmethod
    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities, shape (n_samples, n_classes)."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def max_patience(n_samples: int) -> float:
    """Return the maximum number of rounds without a lower loss, from 20 to 150.

    It is half the patience of AutoGluon, and decreases for many rows, whose loss has less noise.

    Examples
    --------
    >>> from skauto.space.catalog._rounds import max_patience
    >>> max_patience(20_000)
    75.0
    """
    return max(20.0, 150.0 * min(1.0, 10_000 / n_samples))


def fixed_patience(learning_rate: float, n_samples: int) -> int:
    """Return the number of rounds without a lower loss, for libraries with a constant patience.

    Examples
    --------
    >>> from skauto.space.catalog._rounds import fixed_patience
    >>> fixed_patience(0.1, 1000)
    30
    """
    return ceil(min(10.0 + 2.0 / learning_rate, max_patience(n_samples)))


def known_rows(eval_set: tuple[Any, Any], classes: Any) -> tuple[Any, Any] | None:
    """Drop the validation rows whose class is not in `classes`; None if no row remains.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog._rounds import known_rows
    >>> known_rows((np.array([[5.0], [6.0]]), [0, 2]), [0, 1])
    (array([[5.]]), array([0]))
    """
    X, y = eval_set[0], np.asarray(eval_set[1])
    known = np.isin(y, classes)
    if known.all():
        return (X, y) if len(y) else None
    return (X[known], y[known]) if known.any() else None
