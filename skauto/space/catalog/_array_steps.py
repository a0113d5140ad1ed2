"""Imputer and scaler with a short way for arrays."""

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler


class ArrayImputer(SimpleImputer):
    """Imputer that fills arrays without the checks of scikit-learn.

    Between the steps of a pipeline they take longer than filling 100 rows does. Other matrices and
    settings are imputed by :class:`~sklearn.impute.SimpleImputer`.

    Parameters
    ----------
    missing_values : float, default=nan
        The missing value; the checks are left out for NaN only.
    strategy : {"mean", "median", "most_frequent", "constant"}, default="mean"
        Statistic of a column that replaces its missing values.
    fill_value : float, default=None
        Value of the strategy "constant"; None is 0.
    copy : bool, default=True
        Whether the input is copied. With the checks left out it always is.
    add_indicator : bool, default=False
        Whether indicators of missing values follow, for columns that had some in `fit`.
    keep_empty_features : bool, default=False
        Whether columns without any value in `fit` are kept; the checks are left out only if so.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog import ArrayImputer
    >>> X = np.array([[1.0], [np.nan], [3.0]])
    >>> ArrayImputer(keep_empty_features=True).fit_transform(X).tolist()
    [[1.0], [2.0], [3.0]]
    """

    def transform(self, X: Any) -> Any:
        """Replace NaN by the statistic of its column, and append the indicators."""
        marks_nan = self.missing_values != self.missing_values
        if not (_is_plain(self, X) and marks_nan and self.keep_empty_features):
            return super().transform(X)
        missing, filled = np.isnan(X), X.copy(order="K")
        np.copyto(filled, self.statistics_, where=missing)
        if not self.add_indicator:
            return filled
        features = self.indicator_.features_
        shown = missing if len(features) == X.shape[1] else missing[:, features]
        return np.hstack([filled, shown])


class ArrayScaler(StandardScaler):
    """Standard scaler that scales arrays without the checks of scikit-learn.

    Between the steps of a pipeline they take longer than scaling 100 rows does. Other matrices and
    settings are scaled by :class:`~sklearn.preprocessing.StandardScaler`.

    Parameters
    ----------
    copy : bool, default=True
        Whether the input is copied. With the checks left out it always is.
    with_mean : bool, default=True
        Whether the mean is subtracted; the checks are left out only if so.
    with_std : bool, default=True
        Whether columns are divided by their standard deviation; likewise.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.space.catalog import ArrayScaler
    >>> ArrayScaler().fit_transform(np.array([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Subtract the mean of each column and divide by its standard deviation."""
        if not (_is_plain(self, X) and self.with_mean and self.with_std):
            return super().transform(X, copy=copy)
        return (X - self.mean_) / self.scale_


def _is_plain(step: Any, X: Any) -> bool:
    """Whether X is an array of floats with the number of columns of ``fit``."""
    shape = (getattr(step, "n_features_in_", None),)
    return isinstance(X, np.ndarray) and X.dtype == np.float64 and X.shape[1:] == shape
