"""What constraints are measured on, and how fold values are summed up."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from skauto.data import TrainingData
from skauto.selection import Decision
from skauto.utils import IntArray, take_rows


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
    decision : Decision, default=None
        How the probabilities are read; None labels rows with the most probable class.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.constraints import Evidence
    >>> evidence = Evidence(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), np.array([0, 1]))
    >>> evidence.labels
    array([0, 1])
    """

    probabilities: NDArray[np.floating[Any]]
    y: NDArray[np.integer[Any]]
    classes: NDArray[Any]
    groups: Mapping[str, NDArray[np.integer[Any]]] = field(default_factory=dict)
    X: Any = None
    model: Any = None
    decision: Decision | None = None

    @classmethod
    def of(
        cls,
        data: TrainingData,
        probabilities: NDArray[Any],
        rows: IntArray,
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
    def labels(self) -> NDArray[np.integer[Any]]:
        """Codes of the predicted classes."""
        if self.decision is None:
            return np.argmax(self.probabilities, axis=1)
        return self.decision.labels(self.decision.scale(self.probabilities))

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        """Give some of the rows, possibly several times.

        Parameters
        ----------
        rows : ndarray of int of shape (n_taken,)
            Positions of the rows.

        Returns
        -------
        evidence : Evidence
            Of these rows, with the same model.
        """
        return replace(
            self,
            probabilities=self.probabilities[rows],
            y=self.y[rows],
            groups={name: codes[rows] for name, codes in self.groups.items()},
            X=None if self.X is None else take_rows(self.X, rows),
            decision=None if self.decision is None else self.decision.take(rows),
        )


@dataclass(frozen=True)
class Margin:
    """How cautious a measured value is before it is held against its limit.

    Parameters
    ----------
    n_errors : float, default=0.0
        Number of standard errors over the folds that are added to the mean.
    confidence : float, default=None
        The value is the upper end of a one-sided confidence interval at this level instead, where
        that can be computed; ``n_errors`` is its normal approximation elsewhere.

    Examples
    --------
    >>> from skauto.constraints import Margin
    >>> Margin.of("95%").confidence
    0.95
    """

    n_errors: float = 0.0
    confidence: float | None = None

    @classmethod
    def of(cls, safety_margin: float | str) -> Self:
        """Read the parameter ``safety_margin`` of an estimator.

        Parameters
        ----------
        safety_margin : float or str
            Number of standard errors, or a confidence such as ``"95%"``.

        Returns
        -------
        margin : Margin
            What it stands for.

        Raises
        ------
        ValueError
            If it is a string that is no percentage from 50% up to, but not including, 100%.
        """
        if not isinstance(safety_margin, str):
            return cls(n_errors=float(safety_margin))
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", safety_margin.strip())
        confidence = float(match[1]) / 100 if match else math.nan
        if not 0.5 <= confidence < 1.0:
            raise ValueError(
                "The 'safety_margin' parameter must be a number of standard errors, such as 1.0, "
                "or a confidence of at least 50% and less than 100%, such as '95%'. "
                f"Got {safety_margin!r} instead."
            )
        return cls(n_errors=float(norm.ppf(confidence)), confidence=confidence)


def cautious_mean(values: Sequence[float], safety_margin: float) -> float:
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
