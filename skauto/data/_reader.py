"""From the user's table to the numeric matrix that every pipeline works on."""

import datetime
import numbers

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

_CALENDAR = ("month", "day", "weekday", "hour")
# What column_kinds may ask for.
_KINDS = ("categorical", "drop")
_SECONDS_PER_DAY = 86_400.0


class TableReader(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Read a table into a matrix of floats, the same way at every call.

    Numbers and booleans stay as they are, strings and categories become the codes 0, 1, 2, ...
    of their sorted levels, a date becomes its day number and its calendar parts, a duration its
    seconds. Missing entries become NaN, and so do categories that were not there in ``fit``.
    Columns that tell nothing (constant, or all missing) are left out. A number that is missing
    only at ``transform`` is replaced by the median of its column, since the steps behind have
    never seen a missing value there. It is the first step of every pipeline that skauto builds,
    which is why those predict from the raw table.

    Parameters
    ----------
    column_kinds : dict or array-like, default=None
        What columns hold, where it differs from what the reader finds: "categorical" or "drop"
        for names or positions of columns. A list of names or positions, or a boolean mask, means
        "categorical".

    Attributes
    ----------
    categorical_indices_ : tuple of int
        Output columns that hold category codes.
    n_levels_ : tuple of int
        Number of levels of each of them.
    n_features_in_ : int
        Number of input columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the input columns, where ``X`` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.data import TableReader
    >>> X = np.array([[1.5, "red"], [2.5, "blue"], [None, "red"]], dtype=object)
    >>> TableReader().fit_transform(X)
    array([[1.5, 1. ],
           [2.5, 0. ],
           [nan, 1. ]])
    """

    def __init__(self, column_kinds=None):
        self.column_kinds = column_kinds

    def fit(self, X, y=None):
        """Learn the kinds and levels of the columns.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.

        Returns
        -------
        self : TableReader
            The fitted reader.

        Raises
        ------
        TypeError
            If a column holds values of several types, or of a type that is not supported.
        ValueError
            If ``X`` holds an infinite value or two columns of one name.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None):
        """Learn the kinds and levels of the columns and return the matrix.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table.
        y : None
            Ignored.

        Returns
        -------
        Z : ndarray or CSR matrix of shape (n_samples, n_columns), dtype float64
            The numeric matrix.
        """
        X = as_table(X)
        validate_data(self, X, skip_check_array=True)
        if sparse.issparse(X):
            if self.column_kinds is not None:
                raise ValueError(
                    "The 'column_kinds' parameter must be None when X is a sparse matrix. Pass a "
                    "dense table, or one-hot columns."
                )
            self.columns_ = None
            self.categorical_indices_, self.n_levels_ = (), ()
            return self._read_sparse(X)
        wanted = self._wanted_kinds(X)
        names = self._names(X)
        self.columns_ = []
        blocks = []
        for j, name in enumerate(names):
            categorical = wanted[j] == "categorical"
            column = _Column(name, _column_values(X, j), categorical=categorical)
            block = column.encode(_column_values(X, j))
            informative = _informative(block) & (wanted[j] != "drop")
            column.keep = informative
            self.columns_.append(column)
            blocks.append(block[:, informative])
        Z = np.ascontiguousarray(np.hstack(blocks)) if blocks else np.empty((X.shape[0], 0))
        if Z.shape[1] == 0:
            Z = np.zeros((X.shape[0], 1))
        widths = np.cumsum([0] + [block.shape[1] for block in blocks])
        categorical = [
            (int(start), len(column.levels))
            for start, column, block in zip(widths[:-1], self.columns_, blocks, strict=True)
            if column.kind == "categorical" and block.shape[1]
        ]
        self.categorical_indices_ = tuple(index for index, _ in categorical)
        self.n_levels_ = tuple(levels for _, levels in categorical)
        return Z

    def transform(self, X):
        """Read a table of the same columns.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table.

        Returns
        -------
        Z : ndarray or CSR matrix of shape (n_samples, n_columns), dtype float64
            The numeric matrix.
        """
        check_is_fitted(self)
        X = as_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        if self.columns_ is None:
            return self._read_sparse(X)
        if sparse.issparse(X):
            raise TypeError(
                "X must be dense, as it was in fit. Got a sparse matrix instead; use X.toarray()."
            )
        blocks = [
            column.encode(_column_values(X, j), fill=True)[:, column.keep]
            for j, column in enumerate(self.columns_)
            if column.keep.any()
        ]
        return np.ascontiguousarray(np.hstack(blocks)) if blocks else np.zeros((X.shape[0], 1))

    def get_feature_names_out(self, input_features=None):
        """Names of the output columns.

        Parameters
        ----------
        input_features : None
            Ignored; the names of ``fit`` are used.

        Returns
        -------
        names : ndarray of str
            One name a column; parts of a date are ``<column>_month`` and so on.
        """
        check_is_fitted(self)
        if self.columns_ is None:
            return np.array(_default_names(self.n_features_in_), dtype=object)
        names = [
            name
            for column in self.columns_
            for name, kept in zip(column.names_out(), column.keep, strict=True)
            if kept
        ]
        return np.array(names or ["constant"], dtype=object)

    def _read_sparse(self, X):
        Z = (
            sparse.csr_array(X, dtype=np.float64)
            if sparse.issparse(X)
            else sparse.csr_array(np.asarray(X, dtype=np.float64))
        )
        if np.isinf(Z.data).any():
            raise ValueError("Input X contains infinity. Replace or remove the infinite values.")
        return Z

    def _names(self, X):
        names = getattr(self, "feature_names_in_", None)
        return list(names) if names is not None else _default_names(X.shape[1])

    def _wanted_kinds(self, X):
        """Kind of each column as ``column_kinds`` has it, None where it says nothing."""
        n_columns = X.shape[1]
        kinds = [None] * n_columns
        if self.column_kinds is None:
            return kinds
        if isinstance(self.column_kinds, dict):
            wanted = self.column_kinds
        else:
            listed = np.asarray(self.column_kinds)
            if listed.dtype == bool and listed.shape != (n_columns,):
                raise ValueError(
                    "The 'column_kinds' parameter, where it is a mask, must have one entry for "
                    f"each of the {n_columns} columns. Got shape {listed.shape} instead."
                )
            items = np.flatnonzero(listed) if listed.dtype == bool else listed.ravel()
            wanted = dict.fromkeys(items.tolist(), "categorical")
        names = list(getattr(self, "feature_names_in_", []))
        for item, kind in wanted.items():
            if kind not in _KINDS:
                raise ValueError(
                    f"The kinds in the 'column_kinds' parameter must be among {list(_KINDS)}. "
                    f"Got {kind!r} for column {item!r} instead."
                )
            if isinstance(item, str) and item in names:
                kinds[names.index(item)] = kind
            elif isinstance(item, numbers.Integral) and -n_columns <= item < n_columns:
                kinds[item] = kind
            else:
                raise ValueError(
                    "The 'column_kinds' parameter must hold names or positions of columns of X. "
                    f"Got {item!r} instead; X has {n_columns} columns"
                    + (f" named {names[:10]}." if names else " without names.")
                )
        return kinds

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


class _Column:
    """How one column of the table is read."""

    def __init__(self, name, values, *, categorical):
        self.name = name
        self.kind, values = _typed(values, name, categorical=categorical)
        self.levels = {}
        self.fill = None
        if self.kind == "categorical":
            present = {v for v in values if v is not None}
            levels = sorted(present, key=lambda v: (isinstance(v, str), v))
            self.levels = {level: code for code, level in enumerate(levels)}
        elif self.kind == "numeric" and values.size and not np.isnan(values).any():
            self.fill = float(np.median(values))
        self.keep = None

    def encode(self, values, fill=False):
        """Give the matrix (n_samples, width) of a column's values."""
        kind, values = _typed(values, self.name, categorical=self.kind == "categorical")
        if kind != self.kind and not _all_missing(kind, values):
            raise TypeError(
                f"Column {self.name!r} of X must hold {self.kind} values, as it did in fit. "
                f"Got {kind} values instead."
            )
        if kind != self.kind:
            block = np.full((len(values), len(self.names_out())), np.nan)
        elif kind == "categorical":
            lookup = self.levels.get
            block = np.array([lookup(v, np.nan) for v in values], dtype=np.float64)[:, None]
        elif kind == "datetime":
            block = _calendar(values)
        else:
            block = values[:, None]
        if fill and self.fill is not None:
            block = np.where(np.isnan(block), self.fill, block)
        return block

    def names_out(self):
        if self.kind == "datetime":
            return [f"{self.name}_day_number", *(f"{self.name}_{part}" for part in _CALENDAR)]
        return [self.name]


def as_table(X):
    """Give X as something with columns: a dataframe, a 2-D array or a CSR matrix.

    Parameters
    ----------
    X : {array-like, dataframe, sparse matrix}
        What the user passed.

    Returns
    -------
    X : dataframe, ndarray of shape (n_samples, n_features) or CSR matrix
        Strings in nested lists stay apart from numbers (object dtype).

    Raises
    ------
    ValueError
        If it does not have two dimensions, two columns of one name, or a complex dtype.
    """
    if hasattr(X, "columns") and hasattr(X, "shape"):
        _check_unique_names(X)
        return X
    if sparse.issparse(X):
        X = X.tocsr()
    elif not isinstance(X, np.ndarray):
        array = np.asarray(X)
        X = np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead "
            "for X. Reshape your data either using array.reshape(-1, 1) if your data has a "
            "single feature or array.reshape(1, -1) if it contains a single sample."
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers or categories.")
    return X


def _default_names(n_columns):
    return [f"x{j}" for j in range(n_columns)]


def _check_unique_names(X):
    names = list(X.columns)
    if len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise ValueError(
            f"X must have columns of different names. Got {', '.join(twice)} more than once; "
            "rename or drop the duplicates."
        )


def _column_values(X, j):
    """Give column j as a pandas Series or a 1-D array."""
    if isinstance(X, np.ndarray):
        return X[:, j]
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X[X.columns[j]].to_numpy()


def _typed(values, name, *, categorical):
    """Give the kind of a column and its values in the array type of that kind.

    Numeric: float64 with NaN. Categorical: list of hashable values, None where missing.
    Datetime: datetime64[ns] with NaT.
    """
    kind = values.dtype.kind
    if categorical or values.dtype.name == "category":
        return "categorical", [None if _missing(v) else v for v in _objects(values)]
    if kind in "biuf":
        if isinstance(values, np.ndarray):
            array = values.astype(np.float64)
        else:
            array = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return "numeric", _check_finite(array, name)
    if kind == "M":
        return "datetime", _as_datetime64(values)
    if kind == "m":
        seconds = np.asarray(values, dtype="timedelta64[ns]").astype(np.float64) / 1e9
        return "numeric", np.where(np.isnat(np.asarray(values)), np.nan, seconds)
    return _typed_objects(_objects(values), name)


def _typed_objects(values, name):
    values = [None if _missing(v) else v for v in values]
    kinds = {_kind_of(v, name) for v in values if v is not None}
    if len(kinds) > 1:
        raise TypeError(
            f"Column {name!r} of X must hold values of one kind. "
            f"Got {' and '.join(sorted(kinds))} values instead; convert the column, for "
            "instance with .astype(str)."
        )
    kind = kinds.pop() if kinds else "numeric"
    if kind == "numeric":
        array = np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64)
        return kind, _check_finite(array, name)
    if kind == "datetime":
        return kind, np.array(
            [np.datetime64("NaT") if v is None else v for v in values], dtype="datetime64[ns]"
        )
    return kind, values


def _kind_of(value, name):
    if isinstance(value, str | bytes):
        return "categorical"
    if isinstance(value, numbers.Real | np.bool_) or hasattr(value, "as_integer_ratio"):
        return "numeric"
    if isinstance(value, datetime.date | np.datetime64):
        return "datetime"
    raise TypeError(
        "Every value of the 'X' argument must be a string or a number (or a date, a boolean, "
        f"missing). Column {name!r} holds a {type(value).__name__}; drop or convert it."
    )


def _missing(value):
    return value is None or value != value if not _is_pandas_na(value) else True


def _is_pandas_na(value):
    return type(value).__name__ in ("NAType", "NaTType")


def _objects(values):
    return np.asarray(values, dtype=object).tolist()


def _all_missing(kind, values):
    if kind == "categorical":
        return all(v is None for v in values)
    return bool(np.isnat(values).all() if kind == "datetime" else np.isnan(values).all())


def _check_finite(array, name):
    if np.isinf(array).any():
        raise ValueError(
            f"Input X contains infinity or a value too large for dtype('float64') in column "
            f"{name!r}. Replace it, for instance by NaN: missing values are welcome."
        )
    return array


def _as_datetime64(values):
    if not isinstance(values, np.ndarray):
        values = values.to_numpy(dtype="datetime64[ns]")
    return values.astype("datetime64[ns]")


def _calendar(values):
    """Day number (with its fraction) and calendar parts of dates, NaN where missing."""
    days = values.astype("datetime64[D]")
    months = values.astype("datetime64[M]")
    parts = np.column_stack(
        [
            values.astype("datetime64[s]").astype(np.int64) / _SECONDS_PER_DAY,
            months.astype(np.int64) % 12 + 1,
            (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
            (days.astype(np.int64) + 3) % 7,  # 1970-01-01 was a Thursday, Monday is 0
            (values.astype("datetime64[h]") - days.astype("datetime64[h]")).astype(np.int64),
        ]
    ).astype(np.float64)
    parts[np.isnat(values)] = np.nan
    return parts


def _informative(block):
    """Which columns of a block hold at least two values, missing counted as one."""
    if block.shape[0] == 0:
        return np.ones(block.shape[1], dtype=bool)
    missing = np.isnan(block)
    filled = np.where(missing, np.inf, block)
    low = filled.min(axis=0)
    high = np.where(missing, -np.inf, block).max(axis=0)
    return ~missing.all(axis=0) & ((low < high) | missing.any(axis=0))
