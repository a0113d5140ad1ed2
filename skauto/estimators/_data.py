"""From what the user passes to ``fit`` to what the search reads, with every check up front."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from skauto.data import DataFacts, TableReader, as_table
from skauto.utils import check_sample_weight, closest, n_rows, take_rows

METADATA = ("sample_weight", "groups", "sensitive_features")


@dataclass(frozen=True)
class TrainingData:
    """The user's data, checked and read.

    Parameters
    ----------
    X : dataframe, ndarray or CSR matrix of shape (n_samples, n_features)
        The raw table, rows of weight 0 left out.
    Z : ndarray or CSR matrix of shape (n_samples, n_columns)
        The numeric matrix.
    y : ndarray of int of shape (n_samples,)
        Class codes.
    classes : ndarray of shape (n_classes,)
        Labels of the codes.
    reader : TableReader
        Fitted on ``X``.
    sample_weight, groups, sensitive_features : array-like of shape (n_samples, ...) or None
        What was passed along.
    """

    X: object
    Z: object
    y: np.ndarray
    classes: np.ndarray
    reader: TableReader
    sample_weight: np.ndarray | None
    groups: np.ndarray | None
    sensitive_features: object

    def sensitive(self, name):
        """Find a sensitive feature by its name.

        Parameters
        ----------
        name : str
            A column of ``sensitive_features``, else of ``X``; a ``sensitive_features`` of one
            column without a name is taken for any.

        Returns
        -------
        values : array-like of shape (n_samples,)
            The feature.
        """
        passed = self.sensitive_features
        for table in (passed, self.X):
            if name in getattr(table, "columns", ()):
                return table[name]
        if passed is not None and not hasattr(passed, "columns"):
            values = np.asarray(passed, dtype=object)
            if values.ndim == 1 or values.shape[1] == 1:
                return values.ravel()
        known = [*getattr(passed, "columns", ()), *getattr(self.X, "columns", ())]
        raise ValueError(
            f"The sensitive feature {name!r} of a constraint must be a column of X or of "
            "fit(..., sensitive_features=...). Got neither."
            + (closest(name, [str(column) for column in known]) or " Pass it to fit.")
        )

    @property
    def facts(self):
        """What the search space is adapted to."""
        values = self.Z.data if sparse.issparse(self.Z) else self.Z
        return DataFacts(
            n_samples=self.Z.shape[0],
            n_features=self.Z.shape[1],
            has_missing=bool(np.isnan(values).any()),
            has_categories=bool(self.reader.categorical_indices_),
            sparse=sparse.issparse(self.Z),
            weighted=self.sample_weight is not None,
        )


def read_training_data(X, y, metadata, column_kinds):
    """Check and read the arguments of ``fit``.

    Parameters
    ----------
    X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
        The table.
    y : array-like of shape (n_samples,)
        Classes.
    metadata : dict
        ``sample_weight``, ``groups`` and ``sensitive_features``, as far as they were given.
    column_kinds : dict, array-like or None
        See `TableReader`.

    Returns
    -------
    data : TrainingData
        Without the rows of weight 0.

    Raises
    ------
    ValueError, TypeError
        For anything that a search could not work with.
    """
    unknown = set(metadata) - set(METADATA)
    if unknown:
        name = sorted(unknown)[0]
        raise TypeError(
            f"fit() got an unexpected argument {name!r}. Allowed are X, y, {', '.join(METADATA)}"
            f".{closest(name, METADATA)}"
        )
    X = as_table(X)
    _check_shape(X)
    y = _read_target(y)
    check_consistent_length(X, y)
    passed = {name: metadata.get(name) for name in METADATA}
    for name, values in passed.items():
        if values is not None and n_rows(values) != len(y):
            raise ValueError(
                f"The '{name}' must have one entry for each of the {len(y)} rows of X. "
                f"Got {n_rows(values)} instead."
            )
    weight = passed["sample_weight"]
    if weight is not None:
        weight = check_sample_weight(weight, len(y))
        rows = np.flatnonzero(weight)
        X, y, weight = take_rows(X, rows), y[rows], weight[rows]
        for name in ("groups", "sensitive_features"):
            if passed[name] is not None:
                passed[name] = take_rows(passed[name], rows)
    classes, codes = np.unique(y, return_inverse=True)
    _check_classes(classes, weighted=weight is not None)
    reader = TableReader(column_kinds)
    Z = reader.fit_transform(X)
    groups = passed["groups"]
    return TrainingData(
        X=X,
        Z=Z,
        y=codes,
        classes=classes,
        reader=reader,
        sample_weight=weight,
        groups=None if groups is None else np.asarray(groups),
        sensitive_features=passed["sensitive_features"],
    )


def _check_classes(classes, *, weighted):
    if len(classes) >= 2:
        return
    got = f"the single class {classes[0]!s}" if len(classes) else "no row"
    where = " in the rows whose sample_weight is not 0" if weighted else ""
    raise ValueError(
        f"y must hold at least two classes{where}. Got {got} instead; there is nothing to tell "
        "apart."
    )


def _check_shape(X):
    n_samples, n_features = X.shape
    if n_samples < 2:
        raise ValueError(
            f"Found array with {n_samples} sample(s) (shape={X.shape}) while a minimum of 2 is "
            "required by a search."
        )
    if n_features < 1:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )


def _read_target(y):
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(
            "Input y contains NaN or infinity. Every row of X needs a class; drop the others."
        )
    if y.dtype.kind == "O":
        missing = [value is None or value != value for value in y.tolist()]
        if any(missing):
            raise ValueError(
                f"Input y contains {sum(missing)} missing values (None or NaN). Every row of X "
                "needs a class; drop the others."
            )
    check_classification_targets(y)
    return y
