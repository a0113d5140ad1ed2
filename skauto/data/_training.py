"""The arguments of ``fit``, validated and read once, and the training data of a search."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from skauto.data._facts import DataFacts
from skauto.data._reader import TableReader
from skauto.data._splits import Split
from skauto.data._table import (
    as_table,
    column_names,
    column_of,
    is_missing,
    names_or_numbers,
    unmasked,
)
from skauto.utils import (
    BoolArray,
    FloatArray,
    IntArray,
    check_sample_weight,
    closest,
    n_rows,
    row_hashes,
    take_rows,
    warn,
)

# Types of labels besides strings.
_NUMERIC_LABELS = (bool, int, float, np.bool_, np.integer, np.floating)
METADATA = ("sample_weight", "groups", "sensitive_features")
_HOW_TO_PASS = {
    "sample_weight": "sklearn.utils.class_weight.compute_sample_weight makes weights of classes",
    "groups": "pass the name of a column, or its values",
    "sensitive_features": "pass the values of the columns, such as X[['sex']]",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingData:
    """The training data of a search: what workers, constraints and ensembles use.

    Attributes
    ----------
    Z : ndarray or CSR matrix of shape (n_samples, n_columns)
        The numeric matrix.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    classes : ndarray of shape (n_classes,)
        Class label of each code.
    splits : list of (ndarray, ndarray)
        Training and validation rows of each fold.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows for classifiers and scorers, of mean 1; None if they are equal.
    sensitive : mapping of str to ndarray of int of shape (n_samples,)
        Group codes of each sensitive feature that a constraint uses.
    X : dataframe, ndarray or CSR matrix of shape (n_samples, n_features), or None
        The raw table; None if neither a constraint nor a scorer reads it.
    reader : TableReader or None
        The fitted reader that gave ``Z``; None if there is no raw table.
    """

    Z: Any
    y: IntArray
    classes: NDArray[Any]
    splits: list[Split]
    sample_weight: NDArray[np.float64] | None = None
    sensitive: Mapping[str, IntArray] = field(default_factory=dict)
    X: Any = None
    reader: TableReader | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def weights_of(self, rows: IntArray | slice) -> FloatArray | None:
        """Return the weights of some rows; None for equal weights."""
        return None if self.sample_weight is None else self.sample_weight[rows]


@dataclass(frozen=True, eq=False, kw_only=True)
class ReadTable:
    """The arguments of ``fit`` as they were read, without rows of weight 0.

    ``kept`` masks these rows of the user's table; None without weights. ``groups`` are those of
    the rows. `TrainingData` describes the others.
    """

    X: Any
    reader: TableReader
    Z: Any
    y: IntArray
    classes: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    kept: BoolArray | None
    groups: NDArray[Any] | None
    sensitive_features: Any

    @property
    def has_columns(self) -> bool:
        """Whether a column is neither constant nor left out."""
        columns = self.reader.columns_
        return columns is None or any(column.keep.any() for column in columns)

    @cached_property
    def facts(self) -> DataFacts:
        """Size and properties of the matrix."""
        is_sparse = bool(sparse.issparse(self.Z))
        values = self.Z.data if is_sparse else self.Z
        n_levels = self.reader.n_levels_
        return DataFacts(
            n_samples=self.Z.shape[0],
            n_features=self.Z.shape[1],
            has_missing=bool(np.isnan(values).any()),
            has_categories=bool(self.reader.categorical_indices_),
            sparse=is_sparse,
            weighted=self.sample_weight is not None,
            n_classes=len(self.classes),
            n_one_hot=sum(n_levels) - len(n_levels),
        )

    @cached_property
    def hashes(self) -> NDArray[np.uint32]:
        """Hashes of the rows, of the columns that `transform` gives too."""
        return row_hashes(self.reader.without_scores(self.Z))

    def training_data(
        self,
        splits: list[Split],
        sensitive: Mapping[str, IntArray] | None = None,
        *,
        with_table: bool = False,
    ) -> TrainingData:
        """Return the training data of a search; with the raw table if that is read."""
        return TrainingData(
            Z=self.Z,
            y=self.y,
            classes=self.classes,
            splits=splits,
            sample_weight=self.sample_weight,
            sensitive=sensitive or {},
            X=self.X if with_table else None,
            reader=self.reader,
        )

    def sensitive_feature(self, name: str) -> Any:
        """Return a column of ``sensitive_features``, or else of ``X``, by its name."""
        passed = self.sensitive_features
        if passed is not None and column_names(passed) is None:
            passed = np.asarray(passed, dtype=object).reshape(len(self.y), -1)
            if passed.shape[1] == 1:  # a single column has any name
                return passed.ravel()
        tables = [table for table in (passed, self.X) if table is not None]
        for table in tables:
            if name in names_or_numbers(table):
                return column_of(table, name)
        known = [known for table in tables for known in column_names(table) or []]
        raise ValueError(
            f"The sensitive feature {name!r} of a constraint must be a column of X or of "
            "fit(..., sensitive_features=...). Got neither."
            + (closest(name, map(str, known)) or " Pass it to fit as sensitive_features.")
        )


def read_training_data(
    X: Any, y: Any, metadata: Mapping[str, Any], reader: TableReader
) -> ReadTable:
    """Validate and read the arguments of ``fit``; leave out rows of weight 0."""
    passed: dict[str, Any] = {name: metadata.get(name) for name in METADATA}
    X = as_table(X)
    _check_shape(X)
    y = _read_target(y)
    check_consistent_length(X, y)
    if isinstance(passed["groups"], str):
        passed["groups"] = _column(X, passed["groups"])
    for name, values in passed.items():
        if np.isscalar(values) or isinstance(values, Mapping):
            raise ValueError(
                f"The '{name}' must be array-like, with one entry for each of the {len(y)} rows "
                f"of X. Got {values!r} instead; {_HOW_TO_PASS[name]}."
            )
        if values is not None and n_rows(values) != len(y):
            raise ValueError(
                f"The '{name}' must have one entry for each of the {len(y)} rows of X. "
                f"Got {n_rows(values)} instead."
            )
    passed["groups"] = _read_groups(passed["groups"])
    weight, kept = passed["sample_weight"], None
    if weight is not None:
        weight = check_sample_weight(weight, len(y))
        kept = weight != 0
        rows = np.flatnonzero(kept)
        X, y, weight = take_rows(X, rows), y[rows], _relative_weights(weight[rows])
        for name in ("groups", "sensitive_features"):
            if passed[name] is not None:
                passed[name] = take_rows(passed[name], rows)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        got = f"the single class {classes[0]!s}" if len(classes) else "no row"
        where = "" if kept is None else " in the rows whose sample_weight is not 0"
        raise ValueError(f"y must hold at least two classes{where}. Got {got} instead.")
    return ReadTable(
        X=X,
        reader=reader,
        Z=reader.fit_transform(X, codes),
        y=codes,
        classes=classes,
        sample_weight=weight,
        kept=kept,
        groups=passed["groups"],
        sensitive_features=passed["sensitive_features"],
    )


def _relative_weights(weight: NDArray[np.floating[Any]]) -> FloatArray | None:
    """Return weights of mean 1, because regularization depends on their scale.

    Integers are kept: they are the numbers of equal rows. Equal weights are None.
    """
    if (weight == weight[:1]).all():
        return None
    if np.array_equal(weight, np.rint(weight)):
        return weight
    weight = weight / weight.max()  # the sum of large weights may overflow
    return weight / weight.mean()


def _check_shape(X: Any) -> None:
    for n, minimum, what in zip(X.shape, (2, 1), ("sample", "feature"), strict=True):
        if n < minimum:
            raise ValueError(
                f"Found array with {n} {what}(s) (shape={X.shape}) while a minimum of {minimum} "
                "is required."
            )


def _read_target(y: Any) -> NDArray[Any]:
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    if isinstance(y, str):
        raise ValueError(
            f"y must hold the class of each row. Got the str {y!r}; pass the column, for instance "
            f"X[{y!r}], and X without it."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = column_or_1d(plain_labels(y), warn=True)
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError(
                "Input y contains NaN or infinity. Every row of X needs a class; drop the others."
            )
        check_classification_targets(y)
    for warning in caught:  # of scikit-learn, with the line of this module
        warn(warning.message)
    return y


def plain_labels(y: Any) -> Any:
    """Convert labels to a NumPy array; numbers and booleans get their NumPy type.

    Labels of nullable, categorical and Arrow types are converted without loss. Labels that are
    missing or masked, of several types, or neither strings, numbers nor booleans are a ValueError.
    """
    array = _label_array(y)
    if array.dtype.kind == "T":
        array = array.astype(object)
    if array.dtype.kind != "O":
        return array
    labels = array.ravel().tolist()
    if n_missing := _n_missing(array.ravel()):
        raise ValueError(
            f"Input y contains {n_missing} missing values (None or NaN). Every row of X "
            "needs a class; drop the others."
        )
    types = set(map(type, labels))
    if all(issubclass(kind, str) for kind in types):
        return array
    # Of integers below and above 2**63, NumPy would make floats.
    unsigned = types == {int} and min(labels) >= 0 and 2**63 <= max(labels) < 2**64
    plain = np.array(labels, dtype=np.uint64 if unsigned else None)
    numeric = all(issubclass(kind, _NUMERIC_LABELS) for kind in types)
    if numeric and plain.dtype.kind in "biuf" and plain.tolist() == labels:
        return plain.reshape(array.shape)
    got = _names_of(types)
    if any(issubclass(kind, str) for kind in types):
        raise ValueError(
            f"y must hold labels of one type. Got {got} instead; convert them, for instance with "
            ".astype(str)."
        )
    raise ValueError(
        f"y must hold strings, booleans, or numbers of 64 bits. Got {got} such as {labels[0]!r} "
        "instead; convert them to strings, for instance with .astype(str)."
    )


def _label_array(y: Any) -> NDArray[Any]:
    """Return the labels as an array, of dtype object if their type may have missing values."""
    if sparse.issparse(y):
        raise ValueError("y must be an array of labels. Got a sparse matrix; use y.toarray().")
    if isinstance(y, np.ma.MaskedArray):  # masked labels are missing
        return unmasked(y.astype(object))
    to_list = getattr(y, "to_pylist", None) or getattr(y, "to_list", None)
    if to_list is None or isinstance(getattr(y, "dtype", None), np.dtype):
        return np.asarray(y)
    values = to_list()
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _column(X: Any, name: str) -> Any:
    names = names_or_numbers(X)
    if name not in names:
        raise ValueError(
            "The 'groups' must have one entry for each row of X, or be the name of a column of X. "
            f"Got {name!r}.{closest(name, map(str, names))}"
        )
    return column_of(X, name)


def _read_groups(groups: Any) -> NDArray[Any] | None:
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.ndim == 2 and groups.shape[1] == 1:
        groups = groups.ravel()
    if groups.ndim != 1:
        raise ValueError(f"The 'groups' must have one dimension. Got shape {groups.shape}.")
    if n_missing := _n_missing(groups):
        raise ValueError(
            f"The 'groups' contain {n_missing} missing values (None or NaN). Every row of X needs "
            "a group; give each of these rows a group of its own, or drop them."
        )
    types = set(map(type, groups.tolist())) if groups.dtype.kind == "O" else set()
    if len({issubclass(kind, str) for kind in types}) > 1:
        raise ValueError(
            f"The 'groups' must hold values of one type. Got {_names_of(types)} instead; convert "
            "them, for instance with .astype(str)."
        )
    return groups


def _names_of(types: Iterable[type]) -> str:
    return " and ".join(sorted(kind.__name__ for kind in types))


def _n_missing(values: NDArray[Any]) -> int:
    if values.dtype.kind in ("O", "T"):
        return sum(map(is_missing, values.tolist()))
    return int(np.count_nonzero(values != values))
