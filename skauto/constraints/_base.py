"""What a constraint is, and any function as one."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skauto.constraints._evidence import Evidence
from skauto.selection import RateLimit
from skauto.utils import Predictions

# Resamples of the rows in a bootstrap: the share of them beyond a quantile of 95% then has a
# standard error of 1.5 points.
N_RESAMPLES = 200


class Constraint(BaseEstimator, ABC):
    """An upper limit on something that is measured.

    A subclass has the limit in its attribute ``upper`` and measures in ``measure``. Its value is
    the mean over the folds; a constraint of the type ``additive`` adds up over the members of an
    ensemble (seconds, bytes) and is measured on the fitted ensemble, any other is measured anew on
    the averaged predictions. An additive constraint of the type ``grows`` has values that may grow
    in proportion to the training rows; those of fold models are scaled to all rows before an
    ensemble is selected. With ``upper=None`` nothing is limited: the value is measured, and
    minimised by the strategies for several objectives. Where it is ``reweighable``, as the type
    `StatisticalParity` is, it shrinks when the rows are weighed by group and class, and the space
    "default" offers such weights.

    Examples
    --------
    >>> from skauto.constraints import Constraint
    >>> class ShareOfPositives(Constraint):
    ...     def __init__(self, upper):
    ...         self.upper = upper
    ...     def measure(self, evidence: Evidence) -> float:
    ...         return float((evidence.labels == 1).mean())
    >>> ShareOfPositives(0.3).key
    'share_of_positives'
    """

    additive = False
    grows = False
    reweighable = False
    #: Whether ``bound`` measures many resamples of the rows, which takes time.
    resampled = True
    sensitive: str | Sequence[str] | None = None
    upper: float | None

    @property
    def key(self) -> str:
        """Name in reports: that of the class in lower case, with the sensitive feature."""
        words = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(self).__name__)
        suffix = f"({', '.join(self.sensitive_names)})" if self.sensitive_names else ""
        return words.lstrip("_") + suffix

    @property
    def sensitive_names(self) -> tuple[str, ...]:
        """Names of the sensitive features that it looks at."""
        if self.sensitive is None:
            return ()
        return (self.sensitive,) if isinstance(self.sensitive, str) else tuple(self.sensitive)

    @property
    def limit(self) -> float:
        """Largest value of ``measure`` that is allowed; infinite where none is stated."""
        return np.inf if self.upper is None else self.upper

    def reported(self, value: float) -> float:
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

    def check(self, classes: NDArray[Any]) -> None:
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
    def measure(self, evidence: Evidence) -> float:
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

    def rate_limits(self, evidence: Evidence) -> list[RateLimit]:
        """Give the limit as limits on rates of labels, which a decision can keep.

        Parameters
        ----------
        evidence : Evidence
            Truth and groups of rows of two classes; predictions are not read.

        Returns
        -------
        limits : list of RateLimit
            All are to be kept; empty where the constraint is no limit on rates of labels.
        """
        return []

    def bound(self, evidence: Evidence, confidence: float) -> float:
        """Upper end of a one-sided confidence interval for the value on new rows.

        The percentile bootstrap [1]_: the quantile of the values on 200 resamples of the rows. A
        constraint whose distribution is known overrides it.

        Parameters
        ----------
        evidence : Evidence
            Predictions for rows that no model was fitted on.
        confidence : float
            Level of the interval, at least 0.5 and less than 1.

        Returns
        -------
        bound : float
            NaN where the constraint is not defined on at least half of the resamples.

        References
        ----------
        .. [1] B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics
           7, 1979.
        """
        rng = np.random.default_rng(0)
        n_rows = len(evidence.y)
        values = np.array(
            [
                self.measure(evidence.take(rng.integers(n_rows, size=n_rows)))
                for _ in range(N_RESAMPLES)
            ]
        )
        defined = values[~np.isnan(values)]
        if 2 * defined.size < N_RESAMPLES:
            return math.nan
        return float(np.quantile(defined, confidence, method="higher"))


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
        stored = Predictions(evidence.probabilities, evidence.classes, evidence.labels)
        return float(self.function(stored, evidence.X, evidence.classes[evidence.y]))
