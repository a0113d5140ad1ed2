"""What a deployment must respect, measured on what it would deploy."""

import pickle
import time
from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils import _safe_indexing

from skauto.evaluation._scores import score_probabilities
from skauto.utils import Predictions, closest

# A sensitive feature with more values is a number that somebody forgot to cut into ranges.
_MAX_GROUPS = 50


class Constraint(BaseEstimator, ABC):
    """An upper limit on something that is measured.

    A subclass has the limit in its attribute ``upper`` and measures in ``measure``. Its value is
    the mean over the folds; a constraint of the type ``additive`` adds up over the members of an
    ensemble (seconds, bytes), any other is measured anew on the averaged predictions. With
    ``upper=None`` nothing is limited: the value is measured, and minimised by the strategies for
    several objectives. Where it is ``reweighable``, as the type `StatisticalParity` is, it shrinks
    when the rows are weighed by group and class, and the space "default" offers such weights.

    Examples
    --------
    >>> from skauto.constraints import Constraint
    >>> class ShareOfPositives(Constraint):
    ...     def __init__(self, upper):
    ...         self.upper = upper
    ...     def measure(self, evidence):
    ...         return float((evidence.labels == 1).mean())
    >>> ShareOfPositives(0.3).key
    'share_of_positives'
    """

    additive = False
    reweighable = False
    sensitive = None

    @property
    def key(self):
        """Name in reports: that of the class in lower case, with the sensitive feature."""
        words = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(self).__name__)
        suffix = f"({', '.join(self.sensitive_names)})" if self.sensitive_names else ""
        return words.lstrip("_") + suffix

    @property
    def sensitive_names(self):
        """Names of the sensitive features that it looks at."""
        if self.sensitive is None:
            return ()
        return (self.sensitive,) if isinstance(self.sensitive, str) else tuple(self.sensitive)

    @property
    def limit(self):
        """Largest value of ``measure`` that is allowed; infinite where none is stated."""
        return np.inf if self.upper is None else self.upper

    def reported(self, value):
        """Give a value of ``measure`` as the user stated the limit.

        Parameters
        ----------
        value : float
            What ``measure`` returned, or the limit.

        Returns
        -------
        value : float
            The same, except where a lower bound was stated.
        """
        return value

    def check(self, classes):
        """Refuse settings that cannot be measured on a classification problem.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.

        Raises
        ------
        ValueError
            If the limit or another setting makes no sense.
        """
        if not (isinstance(self.limit, int | float | np.number) and self.limit > -np.inf):
            raise ValueError(
                f"The limit of the constraint {self.key!r} must be a number, or None for no "
                f"limit. Got {self.limit!r} instead."
            )

    @abstractmethod
    def measure(self, evidence):
        """Measure on some rows.

        Parameters
        ----------
        evidence : Evidence
            Predictions, truth and the model behind them.

        Returns
        -------
        value : float
            To be at most ``limit``; NaN where it is not defined on these rows.
        """


class PredictionLatency(Constraint):
    """Seconds that predicting a row takes, in batches of a stated size.

    Measured from the raw table to the probabilities: the median of several calls after a first
    one that does not count, divided by the number of rows.

    Parameters
    ----------
    upper : float, default=None
        Seconds per row; None for no limit.
    batch_size : int, default=100
        Rows a call. One row at a time costs far more a row than a thousand do.
    n_repeats : int, default=7
        Number of calls.

    References
    ----------
    S. Liu et al., "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020, App. 12.

    Examples
    --------
    >>> from skauto.constraints import PredictionLatency
    >>> PredictionLatency(10e-6).key
    'prediction_latency'
    """

    additive = True

    def __init__(self, upper=None, *, batch_size=100, n_repeats=7):
        self.upper = upper
        self.batch_size = batch_size
        self.n_repeats = n_repeats

    def measure(self, evidence):
        """Time the model on a batch of the rows.

        Parameters
        ----------
        evidence : Evidence
            With the rows and the model.

        Returns
        -------
        seconds : float
            Per row.
        """
        rows = np.arange(self.batch_size) % len(evidence.y)
        batch = _safe_indexing(evidence.X, rows)
        seconds = []
        for _ in range(self.n_repeats + 1):
            started = time.perf_counter()
            evidence.model.predict_proba(batch)
            seconds.append(time.perf_counter() - started)
        return float(np.median(seconds[1:])) / self.batch_size


class ModelSize(Constraint):
    """Bytes of the pickled model.

    Parameters
    ----------
    upper : float, default=None
        Bytes; None for no limit.

    Examples
    --------
    >>> from skauto.constraints import ModelSize
    >>> ModelSize(5e6).limit
    5000000.0
    """

    additive = True

    def __init__(self, upper=None):
        self.upper = upper

    def measure(self, evidence):
        """Count the bytes.

        Parameters
        ----------
        evidence : Evidence
            With the model.

        Returns
        -------
        n_bytes : float
            Of the pickled model.
        """
        return float(len(pickle.dumps(evidence.model, protocol=pickle.HIGHEST_PROTOCOL)))


class _Rate(Constraint):
    """A rate of errors among the rows of one kind."""

    def __init__(self, upper=None, *, positive_label=None):
        self.upper = upper
        self.positive_label = positive_label

    def check(self, classes):
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.
        """
        super().check(classes)
        positive_code(self, classes)

    def _error_rate(self, evidence, *, of_positives):
        positive = positive_code(self, evidence.classes)
        kind = (evidence.y == positive) == of_positives
        if not kind.any():
            return np.nan
        return float(((evidence.labels == positive) != of_positives)[kind].mean())


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

    def measure(self, evidence):
        """Measure the rate.

        Parameters
        ----------
        evidence : Evidence
            Predictions and truth.

        Returns
        -------
        rate : float
            NaN when no row is negative.
        """
        return self._error_rate(evidence, of_positives=False)


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

    def measure(self, evidence):
        """Measure the rate.

        Parameters
        ----------
        evidence : Evidence
            Predictions and truth.

        Returns
        -------
        rate : float
            NaN when no row is positive.
        """
        return self._error_rate(evidence, of_positives=True)


class StatisticalParity(Constraint):
    """Largest difference between groups in the share of rows predicted positive.

    It equals fairlearn's ``demographic_parity_difference``.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group; the name given here is
        free when ``sensitive_features`` is a single column without a name. Of several columns the
        worst counts.
    upper : float, default=None
        Largest difference allowed; None for no limit.
    positive_label : object, default=None
        Which class is positive; of two classes the second one unless stated.

    Examples
    --------
    >>> from skauto.constraints import StatisticalParity
    >>> StatisticalParity("sex", 0.05).key
    'statistical_parity(sex)'
    """

    reweighable = True

    def __init__(self, sensitive, upper=None, *, positive_label=None):
        self.sensitive = sensitive
        self.upper = upper
        self.positive_label = positive_label

    def check(self, classes):
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.
        """
        super().check(classes)
        positive_code(self, classes)

    def measure(self, evidence):
        """Measure the difference.

        Parameters
        ----------
        evidence : Evidence
            Predictions and groups.

        Returns
        -------
        difference : float
            Largest share minus smallest share.
        """
        positive = evidence.labels == positive_code(self, evidence.classes)
        return _worst_spread(self, evidence, lambda rows: positive[rows].mean())


class GroupDisparity(Constraint):
    r"""Largest difference between groups in a score.

    .. math:: \max_j \epsilon(A_j) - \min_j \epsilon(A_j)

    over the groups :math:`A_j` of a sensitive feature (App. 12, Eq. A43). A group in which the
    score is not defined (ROC AUC of a single class) does not count.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group. Of several columns the
        worst counts.
    metric : str or callable, default="accuracy"
        A scikit-learn scorer or its name.
    upper : float, default=None
        Largest difference allowed; None for no limit.

    References
    ----------
    S. Liu et al., "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020, App. 12.

    Examples
    --------
    >>> from skauto.constraints import GroupDisparity
    >>> GroupDisparity("age_group", metric="roc_auc", upper=0.07).key
    'roc_auc_disparity(age_group)'
    """

    def __init__(self, sensitive, metric="accuracy", *, upper=None):
        self.sensitive = sensitive
        self.metric = metric
        self.upper = upper

    @property
    def key(self):
        """Name in reports."""
        return f"{_scorer_name(self.metric)}_disparity({', '.join(self.sensitive_names)})"

    def check(self, classes):
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.
        """
        super().check(classes)
        _scorer(self.metric, self.key, len(classes))

    def measure(self, evidence):
        """Measure the difference.

        Parameters
        ----------
        evidence : Evidence
            Predictions, truth and groups.

        Returns
        -------
        difference : float
            0 when the score is defined in fewer than two groups.
        """
        scorer = _scorer(self.metric, self.key, len(evidence.classes))
        return _worst_spread(
            self,
            evidence,
            lambda rows: score_probabilities(
                scorer, evidence.probabilities[rows], evidence.y[rows], evidence.classes
            ),
        )


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

    def __init__(self, scoring, *, lower=None, upper=None):
        self.scoring = scoring
        self.lower = lower
        self.upper = upper

    @property
    def key(self):
        """Name in reports."""
        return _scorer_name(self.scoring)

    @property
    def limit(self):
        """Largest value of ``measure`` that is allowed."""
        return self.upper if self.lower is None else self._optimum() - self.lower

    def reported(self, value):
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

    def check(self, classes):
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
        _scorer(self.scoring, self.key, len(classes))

    def measure(self, evidence):
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
        scorer = _scorer(self.scoring, self.key, len(evidence.classes))
        score = score_probabilities(
            scorer, evidence.probabilities, evidence.y, evidence.classes, X=evidence.X
        )
        return score if self.lower is None else self._optimum() - score

    def _optimum(self):
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        return 0.0 if getattr(scorer, "_sign", 1) < 0 else 1.0


class CallableConstraint(Constraint):
    """Any function of a fitted classifier and rows that it was not fitted on.

    Parameters
    ----------
    function : callable
        ``function(estimator, X, y)`` returns a number. The estimator answers ``predict`` and
        ``predict_proba`` for just these rows of the raw table.
    upper : float, default=None
        Largest value allowed; None for no limit.
    name : str, default=None
        Name in reports; that of the function unless stated.

    Examples
    --------
    >>> from skauto.constraints import CallableConstraint
    >>> def doubtful(estimator, X, y):
    ...     return (estimator.predict_proba(X).max(axis=1) < 0.6).mean()
    >>> CallableConstraint(doubtful, upper=0.2).key
    'doubtful'
    """

    def __init__(self, function, upper=None, *, name=None):
        self.function = function
        self.upper = upper
        self.name = name

    @property
    def key(self):
        """Name in reports."""
        return self.name or getattr(self.function, "__name__", type(self).__name__)

    def measure(self, evidence):
        """Call the function.

        Parameters
        ----------
        evidence : Evidence
            Predictions, truth and rows.

        Returns
        -------
        value : float
            What it returned.
        """
        stored = Predictions(evidence.probabilities, evidence.classes)
        return float(self.function(stored, evidence.X, evidence.classes[evidence.y]))


def positive_code(constraint, classes):
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


def group_codes(values, name):
    """Number the groups of a sensitive feature.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        The feature; a missing value is a group of its own.
    name : str
        Its name, for messages.

    Returns
    -------
    codes : ndarray of int of shape (n_samples,)
        From 0.

    Raises
    ------
    ValueError
        If there are more than 50 groups, or only one.

    Examples
    --------
    >>> from skauto.evaluation import group_codes
    >>> group_codes(["b", "a", None, "b"], "letter")
    array([2, 1, 0, 2])
    """
    texts = ["" if v is None or v != v else str(v) for v in np.asarray(values, object).tolist()]
    groups, codes = np.unique(texts, return_inverse=True)
    if not 2 <= len(groups) <= _MAX_GROUPS:
        raise ValueError(
            f"The sensitive feature {name!r} must have 2 to {_MAX_GROUPS} groups. Got "
            f"{len(groups)} instead; cut numbers into ranges, for instance with pandas.cut."
        )
    return codes


def _worst_spread(constraint, evidence, measure):
    """Largest difference of ``measure(rows)`` between the groups of a sensitive feature."""
    spreads = []
    for name in constraint.sensitive_names:
        codes = evidence.groups[name]
        values = [measure(np.flatnonzero(codes == group)) for group in np.unique(codes)]
        defined = [value for value in values if np.isfinite(value)]
        spreads.append(max(defined) - min(defined) if len(defined) > 1 else 0.0)
    return float(max(spreads))


def _scorer_name(scoring):
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")


def _scorer(scoring, name, n_classes):
    if scoring == "roc_auc" and n_classes > 2:
        scoring = "roc_auc_ovr"
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        raise ValueError(
            f"The constraint {name!r} must name a scikit-learn scorer. Got {scoring!r} instead."
            + closest(scoring, get_scorer_names())
        )
    return check_scoring(Predictions(np.empty((0, 0)), np.empty(0)), scoring)
