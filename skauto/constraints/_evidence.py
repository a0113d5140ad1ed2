"""Input of the constraints, and the safety margin of their values."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from skauto.data import TrainingData
from skauto.model import Decision, PipelineEnsemble
from skauto.utils import FloatArray, IntArray, take_rows


@dataclass(frozen=True)
class Evidence:
    """Input of a constraint: predictions for some rows, true classes and the model.

    Attributes
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
        Predicted class probabilities.
    y : ndarray of int of shape (n_rows,)
        True class codes.
    classes : ndarray of shape (n_classes,)
        Labels of the codes.
    groups : mapping of str to ndarray of int of shape (n_rows,)
        Group codes of each sensitive feature.
    X : array-like of shape (n_rows, n_features) or None
        Rows of the raw table.
    model : PipelineEnsemble or None
        The fitted model: an ensemble, of one member if it is that of a trial or of the best
        pipeline. None for an ensemble before its refit.
    decision : Decision or None
        Temperature and class offsets; None predicts the most probable class.
    sample_weight : ndarray of shape (n_rows,) or None
        Weights of the rows in scores; None for equal weights. Rates count rows.
    judged : Evidence or None
        Rows by whose number a group is judged to be large enough: of the training data, the
        validation rows of all folds. None means these rows. Predictions are not used.
    """

    probabilities: NDArray[np.floating[Any]]
    y: NDArray[np.integer[Any]]
    classes: NDArray[Any]
    groups: Mapping[str, NDArray[np.integer[Any]]] = field(default_factory=dict)
    X: Any = None
    model: PipelineEnsemble | None = None
    decision: Decision | None = None
    sample_weight: FloatArray | None = None
    judged: "Evidence | None" = None

    @classmethod
    def of(
        cls,
        data: TrainingData,
        probabilities: NDArray[Any],
        rows: IntArray,
        model: PipelineEnsemble | None = None,
    ) -> "Evidence":
        """Create the evidence of some rows of the training data, by their indices."""
        return cls(
            probabilities=probabilities,
            y=data.y[rows],
            classes=data.classes,
            groups=_groups(data, rows),
            X=None if data.X is None else take_rows(data.X, rows),
            model=model,
            sample_weight=data.weights_of(rows),
            judged=_validated(data) if data.sensitive else None,
        )

    @property
    def labels(self) -> NDArray[np.integer[Any]]:
        """Codes of the predicted classes."""
        if self.decision is None:
            return np.argmax(self.probabilities, axis=1)
        return self.decision.labels(self.decision.scale(self.probabilities))

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        """Select rows by their indices, possibly with repetition.

        The model and the rows by which groups are judged are the same.
        """
        return replace(
            self,
            probabilities=self.probabilities[rows],
            y=self.y[rows],
            groups={name: codes[rows] for name, codes in self.groups.items()},
            X=None if self.X is None else take_rows(self.X, rows),
            decision=None if self.decision is None else self.decision.take(rows),
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
        )


def _groups(data: TrainingData, rows: IntArray) -> dict[str, IntArray]:
    return {name: codes[rows] for name, codes in data.sensitive.items()}


def _validated(data: TrainingData) -> Evidence:
    """Evidence of the validation rows of all folds, without predictions."""
    rows = np.unique(np.concatenate([test for _, test in data.splits]))
    empty = np.empty((len(rows), 0))
    return Evidence(empty, data.y[rows], data.classes, groups=_groups(data, rows))


@dataclass(frozen=True)
class Margin:
    """Safety margin of a measured value before it is compared with its limit.

    `n_errors` standard errors over the folds are added to the mean. Or `confidence` is the level
    of a one-sided confidence interval whose upper bound replaces the mean; ``n_errors`` is then
    its normal approximation, used where the bound is not computed. Values of fewer than two folds
    have no standard error: the bound at the `level` of ``n_errors`` is used then.
    """

    n_errors: float = 0.0
    confidence: float | None = None

    @property
    def level(self) -> float:
        """Confidence of the bound; without one, that of `n_errors` under a normal distribution."""
        return float(norm.cdf(self.n_errors)) if self.confidence is None else self.confidence

    @classmethod
    def of(cls, safety_margin: float | str) -> Self:
        """Parse ``safety_margin``: a number of standard errors, or a confidence such as "95%"."""
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
    """Mean of the values of the folds plus `safety_margin` standard errors; NaN is ignored."""
    defined = np.array([value for value in values if not math.isnan(value)])
    if defined.size == 0:
        return math.nan
    error = defined.std(ddof=1) / math.sqrt(defined.size) if defined.size > 1 else 0.0
    return float(defined.mean() + safety_margin * error)
