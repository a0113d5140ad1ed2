"""Base class of the constraints, and constraints by a user's function."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skauto.constraints._evidence import Evidence
from skauto.selection import RateLimit
from skauto.utils import FloatArray, Predictions

# Number of bootstrap samples; the level of an estimated 95% quantile has a standard error of 1.5%.
N_RESAMPLES = 200


class Constraint(BaseEstimator, ABC):
    """Upper limit on a measured value.

    A subclass has a method ``measure``. The value of a trial is the mean over its folds, or that
    of all out-of-fold predictions (``pooled``). Class attributes:

    - ``additive``: the values of the members of an ensemble add up (seconds, bytes), and the value
      is measured on the fitted ensemble. Other constraints are measured on averaged predictions.
    - ``grows``: additive values may grow in proportion to the training rows. Values of fold models
      are scaled to all rows before an ensemble is selected, except the part that is ``shared``.
    - ``pooled``: the value is measured on the out-of-fold predictions of all folds together. The
      largest difference between groups is biased upwards by chance, the more the fewer the rows.
    - ``reweighable``: reweighting rows by group and class reduces the value, as for
      `StatisticalParity`. The space "default" then has such weights.

    Parameters
    ----------
    upper : float, default=None
        The limit. With None the value is measured but not limited, and strategies for several
        objectives minimize it.

    Examples
    --------
    >>> from skauto.constraints import Constraint
    >>> class ShareOfPositives(Constraint):
    ...     def measure(self, evidence):
    ...         return float((evidence.labels == 1).mean())
    >>> ShareOfPositives(0.3).key
    'share_of_positives'
    """

    additive = False
    grows = False
    pooled = False
    reweighable = False
    #: Whether ``bound`` measures many bootstrap samples, which takes time.
    resampled = True
    sensitive: str | Sequence[str] | None = None

    def __init__(self, upper: float | None = None) -> None:
        self.upper = upper

    @property
    def key(self) -> str:
        """Name in reports: the class in lower case, with sensitive features and given label."""
        details = ", ".join(self._details)
        return f"{self._name}({details})" if details else self._name

    @property
    def _name(self) -> str:
        words = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(self).__name__)
        return words.lstrip("_")

    @property
    def _details(self) -> tuple[str, ...]:
        """What distinguishes constraints of one class in their names."""
        return self.sensitive_names

    @property
    def sensitive_names(self) -> tuple[str, ...]:
        """Names of the sensitive features."""
        if self.sensitive is None:
            return ()
        return (self.sensitive,) if isinstance(self.sensitive, str) else tuple(self.sensitive)

    @property
    def limit(self) -> float:
        """Largest allowed value of ``measure``; infinite without a limit."""
        return np.inf if self.upper is None else self.upper

    def reported(self, value: float) -> float:
        """Convert a value of ``measure`` to the scale of the user's limit (see `ScoreBound`)."""
        return value

    def check(self, classes: NDArray[Any]) -> None:
        """Raise ValueError if a setting is invalid for these class labels."""
        self._check_sensitive()
        if not (isinstance(self.limit, int | float | np.number) and self.limit > -np.inf):
            raise ValueError(
                f"The limit of the constraint {self.key!r} must be a number, or None for no "
                f"limit. Got {self.limit!r} instead."
            )

    def _check_sensitive(self) -> None:
        """Raise TypeError if sensitive features are not given by their names."""
        given = self.sensitive
        names = given if isinstance(given, Iterable) else [given]  # also a str: its characters
        if given is not None and not all(isinstance(name, str) for name in names):
            raise TypeError(
                f"The 'sensitive' of {type(self).__name__} must be the name of a column, a str, "
                f"or a list of names. Got {given!r} instead. The columns of an array are named "
                "'x0', 'x1' and so on. A single column that is passed to fit as "
                "'sensitive_features' may have any name."
            )

    def _check_not_negative(self, what: str, largest: float = math.inf) -> None:
        """Raise ValueError if the limit, which bounds a rate or a difference, is out of range."""
        if 0.0 <= self.limit <= largest or self.limit == math.inf:
            return
        rule = "not be negative" if math.isinf(largest) else f"be from 0 to {largest:g}"
        raise ValueError(
            f"The limit of the constraint {self.key!r} must {rule}, since it bounds a {what}. Got "
            f"{self.upper!r} instead."
        )

    @abstractmethod
    def measure(self, evidence: Evidence) -> float:
        """Measure the value on some rows; NaN if it is undefined on them."""

    def shared(self, evidence: Evidence, reader: Any) -> float:
        """Measure the part of an additive value that the members of an ensemble share.

        It counts once for all members. The reader is the part that they share.
        """
        return 0.0

    def rate_limits(self, evidence: Evidence) -> list[RateLimit]:
        """Express the limit as limits on rates of labels, which a decision can keep.

        It reads true classes and groups of rows of two classes, not predictions. The list is empty
        if the constraint does not limit rates of labels.
        """
        return []

    def bound(self, evidence: Evidence, confidence: float) -> float:
        """Upper bound of a one-sided confidence interval for the value on new rows.

        By default it is the percentile bootstrap [1]_ with 200 samples of the rows, for which the
        model was not fitted. The confidence is at least 0.5 and less than 1. The bound is NaN if
        the constraint is undefined on more than half of the samples.

        References
        ----------
        .. [1] B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics
           7, 1979.
        """
        values = self._resampled(evidence)
        defined = values[~np.isnan(values)]
        if 2 * defined.size < values.size:
            return math.nan
        return float(np.quantile(defined, confidence, method="higher"))

    def _resampled(self, evidence: Evidence) -> FloatArray:
        """Measure the value on bootstrap samples of the rows."""
        rng = np.random.default_rng(0)
        n_rows = len(evidence.y)
        whole = replace(evidence, judged=evidence.judged or evidence)  # same groups in all samples
        samples = (rng.integers(n_rows, size=n_rows) for _ in range(N_RESAMPLES))
        return np.array([self.measure(whole.take(rows)) for rows in samples])


def limited_resources(constraints: Iterable[Constraint]) -> list[Constraint]:
    """Constraints that a refit may exceed: those that grow with the model and have a limit."""
    return [c for c in constraints if c.grows and math.isfinite(c.limit)]


class CallableConstraint(Constraint):
    """Constraint on the value of a user's function of a classifier and validation rows.

    Parameters
    ----------
    function : callable
        ``function(estimator, X, y)`` returns a number. The estimator has ``predict`` and
        ``predict_proba``, for these rows of the raw table only.
    upper : float, default=None
        Largest allowed value; None for no limit.
    name : str, default=None
        Name in reports; None means the name of the function.

    Examples
    --------
    >>> from skauto.constraints import CallableConstraint
    >>> def doubtful(estimator, X, y):
    ...     return (estimator.predict_proba(X).max(axis=1) < 0.6).mean()
    >>> CallableConstraint(doubtful, upper=0.2).key
    'doubtful'
    """

    def __init__(
        self,
        function: Callable[..., float],
        upper: float | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self.function = function
        self.upper = upper
        self.name = name

    @property
    def key(self) -> str:
        """Name in reports."""
        return self.name or str(getattr(self.function, "__name__", type(self).__name__))

    def measure(self, evidence: Evidence) -> float:
        """Call the function."""
        X = evidence.X
        stored = Predictions(evidence.probabilities, evidence.classes, evidence.labels, X)
        return float(self.function(stored, X, evidence.classes[evidence.y]))
