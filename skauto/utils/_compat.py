"""Wrappers of the private functions of other packages that skauto uses.

They have no public equivalent. All other modules use public names only, so a release of
scikit-learn, joblib, pandas or LightGBM that changes a private name requires changes in this
module only.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel
from joblib.parallel import ParallelBackendBase
from numpy.typing import NDArray
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in as input_feature_names
from sklearn.utils.validation import _check_sample_weight
from sklearn.utils.validation import _num_samples as n_rows

__all__ = [
    "Interval",
    "StrOptions",
    "fit_context",
    "input_feature_names",
    "n_rows",
    "take_rows",
]


def column_arrays(frame: Any) -> Iterator[Any] | None:
    """Iterate over the columns of a pandas dataframe as arrays; None for other tables.

    A Series for each column would take ten times as long.
    """
    columns = getattr(frame, "_iter_column_arrays", None)
    return None if columns is None else columns()


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64]:
    """Convert sample weights to floats; a ValueError if negative, infinite or of another shape."""
    if np.ma.is_masked(sample_weight):
        raise ValueError(
            "The 'sample_weight' contains masked values. Every row needs a weight; a weight of 0 "
            "leaves a row out."
        )
    rows = np.empty((n_samples, 1))
    return _check_sample_weight(sample_weight, rows, ensure_non_negative=True)


def scorer_function(scorer: Any) -> Any:
    """Return the metric of a scorer; None if `sklearn.metrics.make_scorer` has not made it.

    Such a scorer may read `X`, and takes no weights.
    """
    return getattr(scorer, "_score_func", None)


def scorer_options(scorer: Any) -> dict[str, Any]:
    """Return the keyword arguments that a scorer passes to its metric."""
    return dict(getattr(scorer, "_kwargs", {}))


def scorer_is_loss(scorer: Any) -> bool:
    """Return whether a scorer negates its metric, because the metric is a loss."""
    return getattr(scorer, "_sign", 1) < 0


def scorer_needs_labels_only(scorer: Any) -> bool:
    """Return whether a scorer reads predicted labels, not probabilities.

    True for callables that `sklearn.metrics.make_scorer` has not made: what they read is unknown.
    """
    return getattr(scorer, "_response_method", "predict") == "predict"


def backend_of(parallel: Parallel) -> ParallelBackendBase:
    """Return the backend that runs the tasks of an entered `joblib.Parallel`."""
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
