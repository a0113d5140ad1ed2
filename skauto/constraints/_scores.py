"""Limits on scores and error rates."""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names

from skauto.constraints._base import Constraint
from skauto.constraints._evidence import Evidence
from skauto.selection import RateLimit, score_probabilities
from skauto.utils import BoolArray, Predictions, closest

Scoring = str | Callable[..., float]


class _Rate(Constraint):
    """A rate of errors among the rows of one kind."""

    resampled = False
    _of_positives: bool

    def __init__(self, upper: float | None = None, *, positive_label: Any = None) -> None:
        self.upper = upper
        self.positive_label = positive_label

    @abstractmethod
    def _errors(self, evidence: Evidence) -> BoolArray:
        """Whether each row of the kind is an error, of shape (n_rows_of_the_kind,)."""

    def measure(self, evidence: Evidence) -> float:
        """Measure the rate.

        Parameters
        ----------
        evidence : Evidence
            Predictions and truth.

        Returns
        -------
        rate : float
            NaN when no row is of the kind.
        """
        errors = self._errors(evidence)
        return float(errors.mean()) if errors.size else math.nan

    def bound(self, evidence: Evidence, confidence: float) -> float:
        """Upper end of the exact one-sided confidence interval of Clopper and Pearson [1]_.

        Parameters
        ----------
        evidence : Evidence
            Predictions for rows that no model was fitted on.
        confidence : float
            Level of the interval.

        Returns
        -------
        bound : float
            NaN when no row is of the kind.

        References
        ----------
        .. [1] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits
           illustrated in the case of the binomial", Biometrika 26, 1934.
        """
        errors = self._errors(evidence)
        if not errors.size:
            return math.nan
        n_errors = int(errors.sum())
        if n_errors == errors.size:
            return 1.0
        return float(beta.ppf(confidence, n_errors + 1, errors.size - n_errors))

    def rate_limits(self, evidence: Evidence) -> list[RateLimit]:
        """Give the limit as one on rates of labels, which a decision can keep.

        Parameters
        ----------
        evidence : Evidence
            Truth of rows of two classes; predictions are not read.

        Returns
        -------
        limits : list of RateLimit
            One; none when no row is of the kind.
        """
        positive = positive_code(self, evidence.classes)
        kind = (evidence.y == positive) == self._of_positives
        wrong = 1 - positive if self._of_positives else positive
        limit = RateLimit(kind[None], float(self.limit), "rate" if wrong == 1 else "rest")
        return [limit] if kind.any() else []

    def check(self, classes: NDArray[Any]) -> None:
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.
        """
        super().check(classes)
        if self.limit < 0:
            raise ValueError(
                f"The limit of the constraint {self.key!r} must not be negative, since it bounds "
                f"a rate. Got {self.upper!r} instead."
            )
        positive_code(self, classes)


class FalsePositiveRate(_Rate):
    """Share of the negative rows that are predicted positive.

    Parameters
    ----------
    upper : float, default=None
        Largest rate allowed; None for no limit.
    positive_label : object, default=None
        Which class is positive; of two classes the second one unless stated.

    Examples
    --------
    >>> from skauto.constraints import FalsePositiveRate
    >>> FalsePositiveRate(0.05).key
    'false_positive_rate'
    """

    _of_positives = False

    def _errors(self, evidence: Evidence) -> BoolArray:
        positive = positive_code(self, evidence.classes)
        kind = evidence.y != positive
        return np.asarray(evidence.labels[kind] == positive)


class FalseNegativeRate(_Rate):
    """Share of the positive rows that are predicted negative.

    Parameters
    ----------
    upper : float, default=None
        Largest rate allowed; None for no limit.
    positive_label : object, default=None
        Which class is positive; of two classes the second one unless stated.

    Examples
    --------
    >>> from skauto.constraints import FalseNegativeRate
    >>> FalseNegativeRate(0.05).key
    'false_negative_rate'
    """

    _of_positives = True

    def _errors(self, evidence: Evidence) -> BoolArray:
        positive = positive_code(self, evidence.classes)
        kind = evidence.y == positive
        return np.asarray(evidence.labels[kind] != positive)


class ScoreBound(Constraint):
    """A lower or an upper bound on any score.

    Parameters
    ----------
    scoring : str or callable
        A scikit-learn scorer or its name.
    lower : float, default=None
        Smallest score allowed.
    upper : float, default=None
        Largest score allowed. Exactly one of the two is stated.

    Examples
    --------
    >>> from skauto.constraints import ScoreBound
    >>> ScoreBound("recall", lower=0.9).key
    'recall'
    """

    def __init__(
        self, scoring: Scoring, *, lower: float | None = None, upper: float | None = None
    ) -> None:
        self.scoring = scoring
        self.lower = lower
        self.upper = upper

    @property
    def key(self) -> str:
        """Name in reports."""
        return scorer_name(self.scoring)

    @property
    def limit(self) -> float:
        """Largest value of ``measure`` that is allowed."""
        return super().limit if self.lower is None else self._optimum() - self.lower

    def reported(self, value: float) -> float:
        """Give a value of ``measure`` as a score.

        Parameters
        ----------
        value : float
            What ``measure`` returned, or the limit.

        Returns
        -------
        score : float
            The score.
        """
        return value if self.lower is None else self._optimum() - value

    def check(self, classes: NDArray[Any]) -> None:
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.
        """
        if (self.lower is None) == (self.upper is None):
            raise ValueError(
                f"ScoreBound of {self.key!r} must be given either 'lower' or 'upper'. "
                f"Got lower={self.lower!r}, upper={self.upper!r} instead."
            )
        super().check(classes)
        scorer_for(self.scoring, self.key, len(classes))

    def measure(self, evidence: Evidence) -> float:
        """Measure the score, or what it lacks where a lower bound is stated.

        Parameters
        ----------
        evidence : Evidence
            Predictions and truth.

        Returns
        -------
        value : float
            To be at most ``limit``.
        """
        scorer = scorer_for(self.scoring, self.key, len(evidence.classes))
        score = score_probabilities(
            scorer,
            evidence.probabilities,
            evidence.y,
            evidence.classes,
            X=evidence.X,
            labels=evidence.labels,
        )
        return score if self.lower is None else self._optimum() - score

    def _optimum(self) -> float:
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        return 0.0 if getattr(scorer, "_sign", 1) < 0 else 1.0


def positive_code(constraint: Any, classes: NDArray[Any]) -> int:
    """Code of the positive class of a constraint.

    Parameters
    ----------
    constraint : Constraint
        With a ``positive_label``.
    classes : ndarray of shape (n_classes,)
        Labels.

    Returns
    -------
    code : int
        Position of the label; the last of two classes when none was stated.
    """
    label = constraint.positive_label
    if label is None and len(classes) == 2:
        return 1
    if label not in classes.tolist():
        raise ValueError(
            f"The 'positive_label' of the constraint {constraint.key!r} must be one of the "
            f"classes {classes.tolist()}. Got {label!r} instead."
        )
    return classes.tolist().index(label)


def scorer_name(scoring: Scoring) -> str:
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")


def scorer_for(scoring: Scoring, name: str, n_classes: int) -> Callable[..., float]:
    if scoring == "roc_auc" and n_classes > 2:
        scoring = "roc_auc_ovr"
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise ValueError(
            f"The constraint {name!r} must name a scikit-learn scorer. Got {scoring!r} instead."
            + closest(scoring, get_scorer_names())
        )
    return check_scoring(Predictions(np.empty((0, 0)), np.empty(0)), scoring)
