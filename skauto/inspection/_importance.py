"""Permutation importance of the raw columns by cross-validation."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skauto.data import make_splits
from skauto.data._table import as_table
from skauto.model import PipelineEnsemble
from skauto.model._pipeline import make_pipeline
from skauto.utils import take_rows


def cross_validated_importance(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    n_repeats: int = 5,
    random_state: Any = None,
) -> Bunch:
    """Permutation importance of the raw columns, on the validation rows of each fold.

    For each fold of ``estimator.cv``, the members of the ensemble are refitted on the training
    rows, and :func:`sklearn.inspection.permutation_importance` permutes the columns of the
    validation rows. All features that are derived from a column are permuted together. If you have
    held-out rows, call the function of scikit-learn instead, which needs no refit.

    Parameters
    ----------
    estimator : AutoClassifier or ConstrainedAutoClassifier
        Fitted on ``X`` and ``y``.
    X : {array-like, dataframe} of shape (n_samples, n_features)
        The table.
    y : array-like of shape (n_samples,)
        Classes.
    groups : array-like of shape (n_samples,), default=None
        Groups of the rows, as in ``fit``.
    n_repeats : int, default=5
        Permutations of each column in each fold.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and the permutations.

    Returns
    -------
    result : Bunch
        ``importances``, ndarray of shape (n_features, n_folds * n_repeats): loss of the score of
        the search when the column is permuted; ``importances_mean`` and ``importances_std`` of
        shape (n_features,).

    Notes
    -----
    The search selected the pipelines, their weights and the levels of categories on all rows. This
    selection is not repeated in each fold.

    References
    ----------
    L. Breiman, "Random Forests", Machine Learning 45, 2001, section 10.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto import AutoClassifier
    >>> from skauto.inspection import cross_validated_importance
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> y = X[:, 1] > 0
    >>> automl = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y)
    >>> result = cross_validated_importance(automl, X, y, random_state=0)
    >>> result.importances.shape
    (2, 10)
    >>> int(result.importances_mean.argmax())
    1
    """
    check_is_fitted(estimator)
    X, y = as_table(X), np.asarray(y)
    check_consistent_length(X, y, groups)
    rng = check_random_state(random_state)
    codes = np.searchsorted(estimator.classes_, y)
    known = None if groups is None else np.asarray(groups)
    splits = make_splits(estimator.cv, X, codes, known, seed=int(rng.randint(2**31 - 1)))
    importances = []
    for train, test in splits:
        ensemble = _refitted(estimator.ensemble_, take_rows(X, train), y[train])
        result = permutation_importance(
            ensemble,
            take_rows(X, test),
            y[test],
            scoring=estimator.scorer_,
            n_repeats=n_repeats,
            random_state=rng,
        )
        importances.append(result.importances)
    every = np.hstack(importances)
    return Bunch(
        importances=every, importances_mean=every.mean(axis=1), importances_std=every.std(axis=1)
    )


def _refitted(ensemble: PipelineEnsemble, X: Any, y: Any) -> PipelineEnsemble:
    """Refit the members of an ensemble on other rows, with the same fitted reader."""
    reader = FrozenEstimator(ensemble.reader)
    members = []
    for member in ensemble.members:
        steps = [(name, clone(step)) for name, step in member.steps]
        fitted = make_pipeline([("reader", reader), *steps]).fit(X, y)
        members.append(make_pipeline(fitted.steps[1:]))
    return PipelineEnsemble(
        ensemble.reader, members, ensemble.weights, ensemble.classes, decision=ensemble.decision
    )
