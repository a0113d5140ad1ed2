"""Constraints on scores and error rates."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.metrics import get_scorer

from skauto.constraints._base import Constraint
from skauto.constraints._evidence import Evidence
from skauto.selection import RateLimit, ScorerLoss, get_loss
from skauto.selection._intervals import Answers, Truth, resampled_scores
from skauto.selection._scores import find_scorer, score_probabilities
from skauto.utils import BoolArray, FloatArray, explain_keywords, scorer_function, scorer_is_loss

Scoring = str | Callable[..., float]
# What to write for the name of an argument in scikit-learn.
LABEL_ADVICE = {"pos_label": "Use positive_label=... instead."}


class _Rate(Constraint):
    """Base class of the error rates among the positive or negative rows."""

    resampled = False
    _of_positives: bool

    @explain_keywords(LABEL_ADVICE)
    def __init__(self, upper: float | None = None, *, positive_label: Any = None) -> None:
        self.upper = upper
        self.positive_label = positive_label

    @property
    def _details(self) -> tuple[str, ...]:
        return label_details(self.positive_label)

    def _rows(self, evidence: Evidence) -> tuple[BoolArray, int]:
        """Mask of the rows over which the rate is taken, and the code of the positive class."""
        positive = positive_code(self, evidence.classes)
        return (evidence.y == positive) == self._of_positives, positive

    def _errors(self, evidence: Evidence) -> BoolArray:
        """Whether each of these rows is misclassified."""
        kind, positive = self._rows(evidence)
        return np.asarray((evidence.labels[kind] == positive) != self._of_positives)

    def measure(self, evidence: Evidence) -> float:
        """Error rate; NaN if there are no such rows."""
        errors = self._errors(evidence)
        return float(errors.mean()) if errors.size else math.nan

    def bound(self, evidence: Evidence, confidence: float) -> float:
        """Upper bound of the exact one-sided confidence interval of Clopper and Pearson.

        C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in
        the case of the binomial", Biometrika 26, 1934. It is NaN if there are no such rows.
        """
        errors = self._errors(evidence)
        if not errors.size:
            return math.nan
        n_errors = int(errors.sum())
        if n_errors == errors.size:
            return 1.0
        return float(beta.ppf(confidence, n_errors + 1, errors.size - n_errors))

    def rate_limits(self, evidence: Evidence) -> list[RateLimit]:
        """Express the limit as a limit on a rate of labels; empty if there are no such rows."""
        kind, positive = self._rows(evidence)
        wrong = 1 - positive if self._of_positives else positive
        limit = RateLimit(kind[None], float(self.limit), "rate" if wrong == 1 else "rest")
        return [limit] if kind.any() else []

    def check(self, classes: NDArray[Any]) -> None:
        """Raise ValueError if a setting or the positive class is invalid."""
        super().check(classes)
        self._check_not_negative("rate", 1.0)
        positive_code(self, classes)


class FalsePositiveRate(_Rate):
    """False positive rate: fraction of the negative rows that are predicted positive.

    All rows count the same, whatever their ``sample_weight``.

    Parameters
    ----------
    upper : float, default=None
        Largest allowed rate; None for no limit.
    positive_label : object, default=None
        Positive class; None means the second of two classes.

    Examples
    --------
    >>> from skauto.constraints import FalsePositiveRate
    >>> FalsePositiveRate(0.05).key
    'false_positive_rate'
    """

    _of_positives = False


class FalseNegativeRate(_Rate):
    """False negative rate: fraction of the positive rows that are predicted negative.

    All rows count the same, whatever their ``sample_weight``.

    Parameters
    ----------
    upper : float, default=None
        Largest allowed rate; None for no limit.
    positive_label : object, default=None
        Positive class; None means the second of two classes.

    Examples
    --------
    >>> from skauto.constraints import FalseNegativeRate
    >>> FalseNegativeRate(0.05).key
    'false_negative_rate'
    """

    _of_positives = True


class ScoreBound(Constraint):
    """Lower or upper bound on any score.

    Rows are weighted by the ``sample_weight`` of ``fit`` if the scorer takes weights.

    Parameters
    ----------
    scoring : str or callable
        scikit-learn scorer or its name.
    lower : float, default=None
        Smallest allowed score. Exactly one of ``lower`` and ``upper`` must be given.
    upper : float, default=None
        Largest allowed score.

    Examples
    --------
    >>> from skauto.constraints import ScoreBound
    >>> ScoreBound("recall", lower=0.9).key
    'recall'
    >>> ScoreBound("recall", upper=0.99).key
    'recall(upper)'
    """

    def __init__(
        self, scoring: Scoring, *, lower: float | None = None, upper: float | None = None
    ) -> None:
        self.scoring = scoring
        self.lower = lower
        self.upper = upper

    @property
    def key(self) -> str:
        """Name in reports: that of the scorer, with "(upper)" for an upper bound."""
        return scorer_name(self.scoring) + ("" if self.upper is None else "(upper)")

    @property
    def limit(self) -> float:
        """Largest allowed value of ``measure``."""
        return super().limit if self.lower is None else self._optimum() - self.lower

    def reported(self, value: float) -> float:
        """Convert a value of ``measure`` to a score."""
        return value if self.lower is None else self._optimum() - value

    def check(self, classes: NDArray[Any]) -> None:
        """Raise ValueError if a setting or the scorer is invalid."""
        if (self.lower is None) == (self.upper is None):
            raise ValueError(
                f"ScoreBound of {self.key!r} must be given either 'lower' or 'upper'. "
                f"Got lower={self.lower!r}, upper={self.upper!r} instead."
            )
        super().check(classes)
        check_metric(self.scoring, self.key, classes)

    def measure(self, evidence: Evidence) -> float:
        """Score for an upper bound; optimum minus score for a lower bound."""
        scorer = scorer_for(self.scoring, self.key, len(evidence.classes))
        score = score_probabilities(
            scorer,
            evidence.probabilities,
            evidence.y,
            evidence.classes,
            evidence.sample_weight,
            X=evidence.X,
            labels=evidence.labels,
        )
        return score if self.lower is None else self._optimum() - score

    def _resampled(self, evidence: Evidence) -> FloatArray:
        loss = get_loss(self.scoring, evidence.classes)
        if isinstance(loss, ScorerLoss):
            return super()._resampled(evidence)
        answers = Answers(evidence.probabilities, evidence.labels)
        truth = Truth(evidence.y, evidence.classes, evidence.sample_weight)
        scorer = scorer_for(self.scoring, self.key, len(evidence.classes))
        deviations = resampled_scores(scorer, loss, [answers], truth)[:, 0]
        return self.measure(evidence) + (deviations if self.lower is None else -deviations)

    def _optimum(self) -> float:
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        return 0.0 if scorer_is_loss(scorer) else 1.0


def label_details(label: Any) -> tuple[str, ...]:
    """Distinguish constraints that are given a positive label in their names."""
    return () if label is None else (f"positive_label={label}",)


def positive_code(constraint: Any, classes: NDArray[Any]) -> int:
    """Code of the ``positive_label`` of a constraint; the second of two classes for None."""
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


def check_metric(scoring: Scoring, name: str, classes: NDArray[Any]) -> None:
    """Raise ValueError if the scorer of a constraint is unknown or cannot score these classes."""
    scorer = scorer_for(scoring, name, len(classes))
    if scorer_function(scorer) is None:  # it may read the rows of X
        return
    codes = np.arange(len(classes))
    try:
        score_probabilities(scorer, np.ones((len(codes), len(codes))), codes, classes)
    except Exception as exc:
        raise ValueError(
            f"The scorer of the constraint {name!r} cannot score the classes "
            f"{classes[:5].tolist()}: {exc}"
        ) from exc


def scorer_for(scoring: Scoring, name: str, n_classes: int) -> Callable[..., float]:
    rule = f"The constraint {name!r} must name a scikit-learn scorer."
    return find_scorer(scoring, n_classes, rule)
