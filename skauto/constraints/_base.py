"""What a constraint is, and any function as one."""

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from skauto.utils import Predictions


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
