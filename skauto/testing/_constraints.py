"""Checks of constraints."""

import pickle
from typing import Any

import cloudpickle
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.datasets import make_classification

from skauto.constraints import Constraint
from skauto.estimators import ConstrainedAutoClassifier


def check_constraint(constraint: Constraint, X: Any = None, y: ArrayLike | None = None) -> None:
    """Check that a constraint can be measured, limited and reported.

    A short search measures it on trials, on the best pipeline and on the ensemble. Each value must
    be a number, the same for the same model. A limit above all values must be kept, and a limit
    below all values must be reported as violated.

    Parameters
    ----------
    constraint : Constraint
        The constraint, with any limit.
    X : {array-like, dataframe} of shape (n_samples, n_features), default=None
        A small table. None generates one of two classes; a constraint with sensitive features
        needs a table with these columns.
    y : array-like of shape (n_samples,), default=None
        Its classes.

    Raises
    ------
    AssertionError
        If the constraint violates the contract. The message names the rule.

    Examples
    --------
    >>> from skauto.constraints import Constraint
    >>> from skauto.testing import check_constraint
    >>> class ShareOfPositives(Constraint):
    ...     def __init__(self, upper=None):
    ...         self.upper = upper
    ...     def measure(self, evidence):
    ...         return float((evidence.labels == 1).mean())
    >>> check_constraint(ShareOfPositives(0.3))
    """
    if X is None:
        X, y = make_classification(200, 5, random_state=0)
    assert repr(clone(constraint)) == repr(constraint), "clone changes a setting."
    assert pickle.loads(cloudpickle.dumps(constraint)).key == constraint.key
    measured = _fit(constraint, None, X, y)
    values = [trial.constraints.get(constraint.key) for trial in measured.history_ if trial.ok]
    assert values, "No trial succeeded."
    for value in values:
        assert value is not None and np.isfinite(value), f"A trial has the value {value}."
    again = _fit(constraint, None, X, y)
    if not constraint.additive:  # seconds differ from run to run
        repeated = [t.constraints[constraint.key] for t in again.history_ if t.ok]
        assert values == repeated, "The same models have other values in a second search."
    spread = 1.0 + 2.0 * (max(values) - min(values)) + abs(max(values))
    loose = _fit(constraint, max(values) + spread, X, y)
    assert loose.feasible_, f"The limit {max(values) + spread:.3g} is not kept."
    assert set(loose.constraint_values_["constraint"]) == {constraint.key}


def _fit(constraint: Constraint, upper: float | None, X: Any, y: Any) -> Any:
    """Search a few quick pipelines under the constraint with another limit."""
    limited = clone(constraint).set_params(upper=upper)
    estimator = ConstrainedAutoClassifier(
        [limited], strategy="random", max_evals=4, cv=2, random_state=0
    )
    return estimator.fit(X, y)
