"""Wrappers of the private functions of other packages that skauto uses.

They have no public equivalent. All other modules use public names only, so a release of
scikit-learn, joblib or LightGBM that changes a private name requires changes in this module only.
"""

from typing import Any, ClassVar

import numpy as np
from joblib import Parallel
from joblib.parallel import ParallelBackendBase
from numpy.typing import NDArray
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    _num_samples,
)

__all__ = [
    "Interval",
    "OwnParameters",
    "StrOptions",
    "backend_of",
    "check_matplotlib_support",
    "check_sample_weight",
    "fit_context",
    "input_feature_names",
    "n_rows",
    "scorer_function",
    "scorer_is_loss",
    "scorer_needs_labels_only",
    "scorer_options",
    "take_rows",
]


def take_rows(table: Any, rows: NDArray[Any]) -> Any:
    """Select rows of a table of any type.

    Parameters
    ----------
    table : array-like, sparse matrix, DataFrame or list
        The table.
    rows : ndarray of int or bool
        Row indices, or a mask.

    Returns
    -------
    table : same type as `table`
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.utils import take_rows
    >>> take_rows(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    return _safe_indexing(table, rows)


def n_rows(table: Any) -> int:
    """Return the number of rows of a table of any type.

    Parameters
    ----------
    table : array-like, sparse matrix, DataFrame or list
        The table.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    TypeError
        If `table` is a scalar or has no length.
    """
    return int(_num_samples(table))


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """Validate sample weights.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,)
        The weights.
    n_samples : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights as floats.

    Raises
    ------
    ValueError
        If they are negative, not finite, or of another shape.
    """
    rows = np.empty((n_samples, 1))
    return _check_sample_weight(sample_weight, rows, ensure_non_negative=True)


def input_feature_names(transformer: Any, input_features: Any = None) -> NDArray[Any]:
    """Return the names of the columns that a transformer was fitted on.

    Parameters
    ----------
    transformer : estimator
        A fitted transformer with `n_features_in_`.
    input_features : array-like of str, default=None
        The names, if the transformer was fitted on a table without column names.

    Returns
    -------
    ndarray of str of shape (n_features,)
        The names; ``x0``, ``x1``, ... if there are none.

    Raises
    ------
    ValueError
        If `input_features` differ from the names seen in ``fit``, or from their number.
    """
    return _check_feature_names_in(transformer, input_features)


def scorer_function(scorer: Any) -> Any:
    """Return the metric that a scorer computes.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.

    Returns
    -------
    callable or None
        ``metric(y_true, y_pred)``; None if the scorer was not made by
        `sklearn.metrics.make_scorer`. Such a scorer may read `X`, and takes no weights.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> from skauto.utils import scorer_function
    >>> scorer_function(get_scorer("neg_log_loss")).__name__
    'log_loss'
    """
    return getattr(scorer, "_score_func", None)


def scorer_options(scorer: Any) -> dict[str, Any]:
    """Return the keyword arguments that a scorer passes to its metric.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.

    Returns
    -------
    dict of str to object
        Keyword arguments of `sklearn.metrics.make_scorer`; empty for other callables.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> from skauto.utils import scorer_options
    >>> scorer_options(get_scorer("f1_macro"))["average"]
    'macro'
    """
    return dict(getattr(scorer, "_kwargs", {}))


def scorer_is_loss(scorer: Any) -> bool:
    """Return whether a scorer negates its metric, because the metric is a loss.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.

    Returns
    -------
    bool
        Whether ``greater_is_better=False`` was passed to `sklearn.metrics.make_scorer`.
    """
    return getattr(scorer, "_sign", 1) < 0


def scorer_needs_labels_only(scorer: Any) -> bool:
    """Return whether a scorer reads predicted labels, not probabilities.

    Parameters
    ----------
    scorer : callable
        ``scorer(estimator, X, y)``.

    Returns
    -------
    bool
        Whether its response method is ``predict``. True for callables that were not made by
        `sklearn.metrics.make_scorer`, because their response method is unknown.
    """
    return getattr(scorer, "_response_method", "predict") == "predict"


def backend_of(parallel: Parallel) -> ParallelBackendBase:
    """Return the backend that runs the tasks of a `joblib.Parallel`.

    Parameters
    ----------
    parallel : joblib.Parallel
        An entered context manager.

    Returns
    -------
    joblib.parallel.ParallelBackendBase
        Its configured backend.
    """
    return parallel._backend


class OwnParameters:
    """Mixin for subclasses of LightGBM's estimators that add constructor parameters.

    LightGBM passes every parameter of `get_params` to its library, which warns about unknown
    names. A subclass lists the parameters that it adds in `_own_parameters`.
    """

    _own_parameters: ClassVar[tuple[str, ...]] = ()

    def _process_params(self, stage: str) -> dict[str, Any]:
        params = super()._process_params(stage)  # type: ignore[misc]
        return {key: value for key, value in params.items() if key not in self._own_parameters}
