"""What constraints are measured on, and how fold values are summed up."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.data import TrainingData
from skauto.utils import take_rows


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
    >>> from skauto.constraints import Evidence
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

    @classmethod
    def of(
        cls,
        data: TrainingData,
        probabilities: NDArray[Any],
        rows: NDArray[np.intp],
        model: Any = None,
    ) -> "Evidence":
        """Give the evidence of some rows of the training data.

        Parameters
        ----------
        data : TrainingData
            Truth, groups and raw rows.
        probabilities : ndarray of shape (n_rows, n_classes)
            Predictions.
        rows : ndarray of int of shape (n_rows,)
            Which rows they are for.
        model : object, default=None
            What predicted.

        Returns
        -------
        evidence : Evidence
        """
        return cls(
            probabilities=probabilities,
            y=data.y[rows],
            classes=data.classes,
            groups={name: codes[rows] for name, codes in data.sensitive.items()},
            X=None if data.X is None else take_rows(data.X, rows),
            model=model,
        )

    @property
    def labels(self):
        """Codes of the most probable classes."""
        return np.argmax(self.probabilities, axis=1)


def cautious_mean(values, safety_margin):
    """Mean over the folds on which a constraint is defined, with a margin for its error.

    Parameters
    ----------
    values : sequence of float
        One a fold; NaN where it is not defined.
    safety_margin : float
        Number of standard errors that are added.

    Returns
    -------
    value : float
        ``mean + safety_margin * std / sqrt(n_folds)``, std with n - 1; NaN when it is defined on
        no fold. A single fold has no standard error.

    Examples
    --------
    >>> from skauto.constraints import cautious_mean
    >>> cautious_mean([1.0, 3.0], safety_margin=2.0)
    4.0
    """
    defined = np.array([value for value in values if not math.isnan(value)])
    if defined.size == 0:
        return math.nan
    error = defined.std(ddof=1) / math.sqrt(defined.size) if defined.size > 1 else 0.0
    return float(defined.mean() + safety_margin * error)
