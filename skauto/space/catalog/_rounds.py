"""What classifiers that learn in rounds share."""

from abc import ABC, abstractmethod
from math import ceil
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

# Rounds of boosting without validation rows: their number times the learning rate.
TOTAL_STEP = 10.0


class RoundsClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of classifiers that learn in rounds, whose number is the parameter ``n_rounds``.

    ``fit`` takes ``eval_set``, stops early on it and sets ``n_rounds_``; it sets ``classes_`` and
    leaves ``predict_proba`` to the subclass.

    Warning: This class should not be used directly. Use its subclasses.
    """

    classes_: Any

    @abstractmethod
    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities of shape (n_samples, n_classes)."""

    def set_rounds(self, n: int) -> Any:
        """Fix the number of rounds or epochs of fits without validation rows.

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
            Classes.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]


def most_patience(n_samples: int) -> float:
    """Rounds without a lower loss after which boosting ends at the latest.

    Half of what AutoGluon waits; fewer on many rows, whose loss has less noise.

    Parameters
    ----------
    n_samples : int
        Number of training rows.

    Returns
    -------
    float
        Number of rounds, from 20 to 150.

    Examples
    --------
    >>> from skauto.space.catalog._rounds import most_patience
    >>> most_patience(20_000)
    75.0
    """
    return max(20.0, 150.0 * min(1.0, 10_000 / n_samples))


def fixed_patience(learning_rate: float, n_samples: int) -> int:
    """Rounds without a lower loss to wait, where the number cannot grow with the best round.

    Parameters
    ----------
    learning_rate : float
        Shrinkage of each round.
    n_samples : int
        Number of training rows.

    Returns
    -------
    int
        Number of rounds.

    Examples
    --------
    >>> from skauto.space.catalog._rounds import fixed_patience
    >>> fixed_patience(0.1, 1000)
    30
    """
    return ceil(min(10.0 + 2.0 / learning_rate, most_patience(n_samples)))


def known_rows(eval_set: tuple[Any, Any], classes: Any) -> tuple[Any, Any] | None:
    """Leave out validation rows of classes that the training rows lack.

    Parameters
    ----------
    eval_set : tuple of ({array-like, sparse matrix}, array-like)
        Validation rows and their classes.
    classes : array-like of shape (n_classes,)
        Classes of the training rows.

    Returns
    -------
    eval_set : tuple or None
        The rows left; None if there are none.

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
