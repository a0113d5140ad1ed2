"""The transformer from the user's table to the numeric matrix that every pipeline works on."""

import itertools
import numbers
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from skauto.data._contract import Problem, StringForm, report
from skauto.data._encoder import Block, Encoder, TextLearning, known_strings
from skauto.data._encoders import (
    CategoryEncoder,
    NumericEncoder,
    TagsEncoder,
    describe,
    make_encoder,
    plain_fractions,
    pooled_levels,
)
from skauto.data._kinds import KINDS, TEXT_KINDS, Kind, find_kind, requested_kind
from skauto.data._notations import folded
from skauto.data._table import (
    Cells,
    Levels,
    Numbers,
    as_levels,
    as_strings,
    as_table,
    column_names,
    few_numbers,
    read_columns,
)
from skauto.data._text_budget import text_widths
from skauto.data._text_encoders import NameEncoder, TextEncoder
from skauto.exceptions import ColumnKindWarning
from skauto.utils import level_of_caller, single_blas_thread

if TYPE_CHECKING:
    import pandas as pd

# Values are clipped to single precision, because trees of scikit-learn refuse larger ones.
_LARGEST = float(np.finfo(np.float32).max)
# Maximum number of pairs of date columns whose difference is an output.
_MAX_INTERVALS = 10
# Number of rows that are copied at once, to stay within the processor's cache.
_CHUNK = 2_048
# Medians are computed on about this number of evenly spaced rows, and of cells at once.
_MEDIAN_ROWS, _MEDIAN_CELLS = 20_000, 1_000_000
# Kinds whose outputs are NaN where a cell cannot be read.
_PARSED = ("numeric", "boolean", "date", "ordinal", "compound")


@dataclass(frozen=True)
class ColumnReader:
    """The fitted reader of one column.

    ``keep`` masks the outputs of the encoder that are not constant. ``n_levels`` is the number of
    distinct strings or categories, if the column has some. ``strings`` is how a column of strings
    writes numbers. ``ignored`` are folded strings that were missing in ``fit``, and ``expected``
    says what the column held.
    """

    name: str
    kind: Kind
    encoder: Encoder
    keep: NDArray[np.bool_]
    n_levels: int | None
    n_missing: int
    strings: StringForm | None = None
    ignored: Mapping[str, bool] = field(default_factory=dict)
    expected: str = ""

    def read(self, cells: Cells, problems: list[Problem]) -> Block:
        """Return the outputs of cells in any form, and append cells that are not read."""
        if self.strings is not None:
            cells = self.strings.restore(cells)
        block = self.encoder.encode(cells, self.name)
        unread = block.unread and block.unread.without(self.ignored)
        if unread is not None and unread.is_told:
            problems.append((self.name, self.expected, unread))
        return block.select(self.keep)

    @property
    def category_outputs(self) -> dict[int, int]:
        """Positions of category codes among the kept outputs, and their numbers of levels."""
        outputs = self.encoder.category_outputs()
        if not outputs:
            return outputs
        places = np.cumsum(self.keep) - 1
        return {int(places[j]): n for j, n in outputs.items() if self.keep[j]}

    @property
    def n_scores(self) -> int:
        """Number of scores of classes, which are the last kept outputs."""
        n_scores = self.encoder.n_scores
        return int(self.keep[len(self.keep) - n_scores :].sum()) if n_scores else 0


@dataclass(frozen=True)
class Interval:
    """The days from the date in one column of the table to the date in another.

    ``first`` and ``last`` are the outputs that hold the days since 1970 of the two columns.
    """

    start: str
    end: str
    first: int
    last: int

    def days(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the days of each row of a matrix; NaN where a date is missing."""
        return Z[:, self.last] - Z[:, self.first]


class TableReader(TransformerMixin, BaseEstimator):
    """Transformer from a table to a matrix of floats.

    ``fit`` infers the kind of each column from its values, which may be written as strings;
    :doc:`/user_guide/tables` lists the kinds and their output columns. Missing numbers, categories
    and dates become NaN. If a column of numbers or dates has no missing value in ``fit``,
    ``transform`` imputes its median, because the following steps were fitted without missing
    values. The reader is the first step of every pipeline, which predict from the raw table.

    Parameters
    ----------
    column_kinds : dict or array-like, default=None
        Kinds of some columns, instead of the inferred ones: a dict from names or positions to
        "numeric", "boolean", "ordinal", "categorical", "name", "text", "date", "tags",
        "compound" or "drop". A list of all levels in their order is an ordinal column. Instead
        of the dict, a list of names or positions, or a boolean mask, means "categorical".
        Positions are a ValueError if the columns are labeled by other numbers than 0, 1, 2, ...
    text_seconds : float, default=None
        Seconds in which names and texts are read; the most costly ones have no terms. The seconds
        are predicted, so that the matrix is the same each time. None is no limit.
    max_text_cells : float, default=None
        Maximum number of cells of names and texts, which also have at most about 500 columns.
        None is 20 million.
    text_scores : bool, default=True
        Whether names and texts have scores of the classes in place of other features, if ``fit``
        knows the classes. As in :class:`~sklearn.preprocessing.TargetEncoder`, ``fit_transform``
        gives scores by models of other strings, which differ from those of ``transform``. The
        folds are random: pass False for rows that have groups or an order in time.

    Attributes
    ----------
    categorical_indices_ : tuple of int
        Output columns that hold category codes.
    n_levels_ : tuple of int
        Number of levels of each of them.
    n_features_in_ : int
        Number of input columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the input columns, if ``X`` has names.

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

    def __init__(
        self,
        column_kinds: Any = None,
        text_seconds: float | None = None,
        max_text_cells: float | None = None,
        text_scores: bool = True,
    ) -> None:
        self.column_kinds = column_kinds
        self.text_seconds = text_seconds
        self.max_text_cells = max_text_cells
        self.text_scores = text_scores

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the kinds and levels of the columns.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table; dataframes of pandas, polars, pyarrow or any library that narwhals supports.
        y : array-like of shape (n_samples,), default=None
            Class labels. With them, names and texts get terms only if the terms predict the
            classes of other strings. Targets of other types are ignored.

        Returns
        -------
        self : TableReader
            The fitted reader.

        Raises
        ------
        TypeError
            If a column holds values of a type that is not supported.
        ValueError
            If ``X`` holds an infinite value or duplicate column names, if ``column_kinds`` does
            not match the columns, or if ``y`` has another length than ``X``.

        Warns
        -----
        ColumnKindWarning
            If the kind of a column is uncertain.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the kinds and levels of the columns and return the matrix.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            Class labels, see `fit`.

        Returns
        -------
        Z : ndarray or CSR matrix of shape (n_samples, n_columns), dtype float64
            The numeric matrix.
        """
        X = as_table(X)
        validate_data(self, X, skip_check_array=True)
        if y is not None:
            check_consistent_length(X, y)
        self.columns_: list[ColumnReader] | None = None
        self.intervals_: list[Interval] = []
        self.categorical_indices_: tuple[int, ...] = ()
        self.n_levels_: tuple[int, ...] = ()
        if sparse.issparse(X):
            if self.column_kinds is not None:
                raise ValueError(
                    "The 'column_kinds' parameter must be None when X is a sparse matrix. Pass a "
                    "dense table, or one-hot columns."
                )
            return _read_sparse(X)
        with single_blas_thread():  # the matrices are small; threads wait for busy cores
            self.columns_, blocks = self._fit_columns(X, y)
        starts = np.cumsum([0] + [block.values.shape[1] for block in blocks]).tolist()
        categorical = {
            start + output: n_levels
            for start, column in zip(starts[:-1], self.columns_, strict=True)
            for output, n_levels in column.category_outputs.items()
        }
        self.categorical_indices_ = tuple(categorical)
        self.n_levels_ = tuple(categorical.values())
        _warn_of_doubts(self.columns_)
        Z = _assemble(blocks, X.shape[0])
        self.fill_ = _fill_values(self.columns_, starts, Z)
        self.intervals_ = _intervals(self.columns_, starts, Z)
        return self._with_intervals(Z)

    def without_scores(self, Z: Any) -> Any:
        """Return the columns of a matrix that are the same in ``fit_transform`` and ``transform``.

        All others are scores of classes, which ``fit_transform`` cross-fits.
        """
        columns = self.columns_ or []
        left = ((column.n_scores, int(column.keep.sum())) for column in columns)
        scores = np.flatnonzero([n - j <= n_scores for n_scores, n in left for j in range(n)])
        return np.delete(Z, scores, axis=1) if scores.size else Z

    def _check_columns(self, X: Any) -> None:
        try:
            validate_data(self, X, skip_check_array=True, reset=False)
        except ValueError as error:
            known, got = self._names(), column_names(X) or []
            missing = {folded(name): name for name in known if name not in got}
            pairs = [
                (name, missing.pop(folded(str(name)), "")) for name in got if name not in known
            ]
            advice = [f"Rename {name!r} to {right!r}." for name, right in pairs if right]
            if missing and got:
                advice.append("Add the missing columns, of None if they are not known.")
            order = ": X[list(model.feature_names_in_)]" if got else ""
            advice.append(f"Pass the columns of fit in their order{order}.")
            raise ValueError("\n".join([str(error).strip(), *advice])) from None

    def _with_intervals(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.intervals_:
            return Z
        return np.column_stack([Z, *(interval.days(Z) for interval in self.intervals_)])

    def _fit_columns(self, X: Any, y: Any) -> tuple[list[ColumnReader], list[Block]]:
        names, requested = self._names(), self._wanted_kinds(column_names(X))
        left_out = [j for j, wanted in enumerate(requested) if wanted == "drop"]
        columns = list(read_columns(X, dict(enumerate(names)), left_out))
        of_levels = any(isinstance(cells, Levels) for cells in columns) or any(requested)
        labels = _encoded_classes(y) if of_levels else None
        plain = plain_fractions(columns)
        readers: dict[bool, ColumnReader] = {}  # of plain fractions
        fitted: dict[int, tuple[ColumnReader, Block]] = {}
        texts: dict[int, tuple[Kind, Levels, TextLearning]] = {}
        for j, (cells, name, wanted) in enumerate(zip(columns, names, requested, strict=True)):
            asked = wanted is not None
            like = None if asked else plain.get(j)
            if isinstance(cells, Numbers) and like is not None and like[0] in readers:
                reader = replace(readers[like[0]], name=name, n_missing=like[1])
                fitted[j] = reader, Block(cells.values[:, None])
                continue
            kind = requested_kind(cells, name, wanted) if asked else find_kind(cells, name)
            known = known_strings(cells) if kind.name in (*TEXT_KINDS, "tags") else cells
            learning = TextLearning(labels, self.text_scores, required=asked)
            if kind.name in TEXT_KINDS:
                texts[j] = kind, as_levels(known), learning
            else:  # at once, while the strings that have been parsed are cached
                fitted[j] = _fit_column(name, kind, known, learning)
            if like is not None:
                readers[like[0]] = fitted[j][0]
        strings = [cells for _, cells, _ in texts.values()]
        required = [learning.required for *_, learning in texts.values()]
        limits = self.text_seconds, self.max_text_cells
        widths = text_widths(strings, X.shape[0], *limits, required)
        for (j, (kind, cells, learning)), width in zip(texts.items(), widths, strict=True):
            fitted[j] = _fit_column(names[j], kind, cells, learning, width)
        pairs = [fitted[j] for j in range(len(columns))]
        return [reader for reader, _ in pairs], [block for _, block in pairs]

    def transform(self, X: Any) -> Any:
        """Read a table with the columns of ``fit``.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table.

        Returns
        -------
        Z : ndarray or CSR matrix of shape (n_samples, n_columns), dtype float64
            The numeric matrix.

        Raises
        ------
        ValueError
            If most cells of a column cannot be read as in ``fit``.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if known is None or column_names(X) != known.tolist():  # else X needs no check
            X = as_table(X)
            self._check_columns(X)
        if self.columns_ is None:
            return _read_sparse(X)
        if sparse.issparse(X):
            raise TypeError(
                "X must be dense, as it was in fit. Got a sparse matrix instead; use X.toarray()."
            )
        used = {j: column for j, column in enumerate(self.columns_) if column.keep.any()}
        if (numbers := _read_numbers(X, used)) is not None:
            return _filled(numbers, self.fill_)
        cells_of = read_columns(X, {j: column.name for j, column in used.items()})
        problems: list[Problem] = []
        blocks = [
            column.read(cells, problems)
            for column, cells in zip(used.values(), cells_of, strict=True)
        ]
        report(problems)
        return self._with_intervals(_assemble(blocks, X.shape[0], self.fill_))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns, for example ``<column>_month`` of a date.

        The days between two columns of dates are the last ones, ``<column>_days_after_<column>``.

        The names of ``fit`` are used; `input_features` is ignored.
        """
        check_is_fitted(self)
        if self.columns_ is None:
            return np.array(self._names(), dtype=object)
        names = [
            name
            for column in self.columns_
            for name, kept in zip(column.encoder.names_out(column.name), column.keep, strict=True)
            if kept
        ]
        names += [f"{interval.end}_days_after_{interval.start}" for interval in self.intervals_]
        return np.array(names or ["constant"], dtype=object)

    def table_report(self) -> "pd.DataFrame":
        """Return the kind of each column and the reason for it (needs pandas).

        Returns
        -------
        report : pandas.DataFrame
            One row per column: its name, ``kind``, the reason ``why``, the number of ``levels``
            (distinct strings or categories), the number of ``missing`` cells, the number of output
            columns ``n_outputs``, and the ``doubt`` to check, if any. Empty for a sparse matrix,
            whose columns are all numeric.

        Examples
        --------
        >>> from skauto.data import TableReader
        >>> reader = TableReader().fit([["$1.50", "yes"], ["$20", "no"], ["n/a", "no"]])
        >>> reader.table_report()[["column", "kind", "missing"]]
          column     kind  missing
        0     x0  numeric        1
        1     x1  boolean        0
        """
        import pandas as pd

        check_is_fitted(self)
        starts: dict[str, list[str]] = {}
        for interval in self.intervals_:
            starts.setdefault(interval.end, []).append(f"; days after {interval.start!r}")
        rows = [
            {
                "column": column.name,
                "kind": column.kind.name,
                "why": "".join([column.kind.why, *starts.get(column.name, [])]),
                "levels": column.n_levels,
                "missing": column.n_missing,
                "n_outputs": int(column.keep.sum()) + len(starts.get(column.name, [])),
                "doubt": column.kind.doubt or "",
            }
            for column in self.columns_ or []
        ]
        names = ["column", "kind", "why", "levels", "missing", "n_outputs", "doubt"]
        return pd.DataFrame(rows, columns=names).astype({"levels": "Int64"})

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names)

    def _wanted_kinds(self, labels: list[Any] | None) -> list[Any]:
        """Kind of each column in ``column_kinds``; None for columns that it does not name.

        The labels are those of the columns of a dataframe.
        """
        n_columns = self.n_features_in_
        kinds: list[Any] = [None] * n_columns
        names = self._names()
        wanted = kinds_as_dict(self.column_kinds, n_columns)
        if np.asarray(self.column_kinds).dtype != bool:  # a mask has no names
            _refuse_ambiguous(wanted, labels)
        for item, kind in wanted.items():
            if not isinstance(kind, list | tuple) and kind not in KINDS:
                raise ValueError(
                    f"The kinds in the 'column_kinds' parameter must be among {list(KINDS)}, or "
                    f"lists of levels in their order. Got {kind!r} for column {item!r} instead."
                )
            if isinstance(item, str) and item in names:
                kinds[names.index(item)] = kind
            elif isinstance(item, numbers.Integral) and -n_columns <= item < n_columns:
                kinds[int(item)] = kind
            else:
                raise ValueError(
                    "The 'column_kinds' parameter must hold names or positions of columns of X. "
                    f"Got {item!r} instead; X has {n_columns} columns, named {names[:10]}."
                )
        return kinds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


def kinds_as_dict(kinds: Any, n_columns: int) -> dict[Any, Any]:
    """Return the parameter ``column_kinds`` as a dict from names and positions."""
    if kinds is None or isinstance(kinds, Mapping):
        return dict(kinds or {})
    listed = np.asarray(kinds)
    if listed.dtype == bool:
        if listed.shape != (n_columns,):
            raise ValueError(
                "A mask in the 'column_kinds' parameter must have one entry for each of the "
                f"{n_columns} columns. Got shape {listed.shape} instead."
            )
        listed = np.flatnonzero(listed)
    return dict.fromkeys(listed.ravel().tolist(), "categorical")


def _refuse_ambiguous(kinds: Mapping[Any, str], labels: list[Any] | None) -> None:
    if labels is None or labels == list(range(len(labels))):
        return
    positions = [item for item in kinds if isinstance(item, numbers.Integral)]
    if positions and any(isinstance(label, numbers.Real) for label in labels):
        raise ValueError(
            "The 'column_kinds' parameter must hold names of columns, or be a mask, because the "
            "columns of X are labeled by numbers other than 0, 1, 2, ... "
            f"Got {positions[0]!r}, which may be a label or a position; rename the columns, for "
            "instance with X.columns = X.columns.astype(str)."
        )


def _encoded_classes(y: Any) -> NDArray[np.intp] | None:
    if y is None or type_of_target(y) not in ("binary", "multiclass"):
        return None
    codes: NDArray[np.intp] = np.unique(np.asarray(y), return_inverse=True)[1].ravel()
    return codes


def _read_sparse(X: Any) -> sparse.csr_array:
    values: Any = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    Z = sparse.csr_array(values, dtype=np.float64)
    if np.isinf(Z.data).any():
        raise ValueError("Input X contains infinity. Replace or remove the infinite values.")
    if (abs(Z.data) > _LARGEST).any():  # a copy: the data may be those of the user
        Z.data = np.clip(Z.data, -_LARGEST, _LARGEST)
    return Z


def _read_numbers(X: Any, columns: Mapping[int, ColumnReader]) -> NDArray[np.float64] | None:
    """Read a table of few rows and finite numbers only, all columns at once; else None."""
    if not columns or not all(
        isinstance(c.encoder, NumericEncoder) and c.encoder.keeps_numbers and not c.encoder.fillers
        for c in columns.values()
    ):
        return None
    values = few_numbers(X)
    if values is None:
        return None
    Z = values[:, list(columns)].astype(np.float64)
    return None if np.isinf(Z).any() else Z


def _fit_column(
    name: str, kind: Kind, cells: Cells, learning: TextLearning, width: int | None = None
) -> tuple[ColumnReader, Block]:
    """Fit the encoder of a column, of at most `width` outputs if it holds names or texts."""
    free = None if learning.required else learning.labels
    encoder, block, why_not = make_encoder(kind, cells, width or 0, free), None, None
    if width == 0:
        why_not = "the time limit is too short for their terms"
    else:
        block = encoder.encode_fit(cells, name, learning)
        if block is None:
            why_not = "their terms do not predict the classes"
            encoder = make_encoder(kind, cells, 0, learning.labels)
    block = encoder.encode(cells, name) if block is None else block
    if why_not is not None:
        coded = isinstance(encoder, CategoryEncoder)
        why = f"{kind.why}; {'categories' if coded else 'only lengths'}, since {why_not}"
        kind = replace(kind, name="categorical" if coded else kind.name, why=why)
    if pooled := pooled_levels(encoder):
        kind = replace(kind, why=f"{kind.why}; {pooled}")
    reader = _column_reader(name, kind, encoder, block, cells)
    return reader, block.select(reader.keep)


def _column_reader(
    name: str, kind: Kind, encoder: Encoder, block: Block, cells: Cells
) -> ColumnReader:
    """Find the outputs of the encoder that are not constant, and missing cells."""
    values, gaps = block.values, np.isnan(block.values)
    if kind.name in _PARSED:
        empty = gaps[:, 0] if gaps.shape[1] == 1 else gaps.all(axis=1)
        missing = empty if block.codes is None else empty[block.codes]
    else:
        missing = cells.missing
    n_missing = int(np.count_nonzero(missing))
    if block.codes is not None and not (block.codes < 0).any():
        values, gaps = values[:-1], gaps[:-1]
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    gaps = gaps.any(axis=0)
    keep = (low < high) | (gaps & ~np.isnan(low)) if len(values) else np.ones(len(low), dtype=bool)
    n_levels = len(cells.levels) if isinstance(cells, Levels) else None
    of_one_length = kind.name in TEXT_KINDS and n_levels is not None and n_levels > 1
    if kind.name not in ("drop", "identifier") and not keep.any() and not of_one_length:
        if pooled_levels(encoder):
            kind = replace(kind, why=f"{kind.why}, since they do not predict the classes")
        else:
            values_are = "missing" if n_missing == len(missing) else "equal"
            kind = Kind("constant", f"all values are {values_are}")
    strings = None
    if isinstance(encoder, TextEncoder | NameEncoder | TagsEncoder) or (
        isinstance(encoder, CategoryEncoder) and encoder.of_strings
    ):
        strings = StringForm.of(as_strings(cells).levels)
    unread = block.unread.texts if block.unread else []
    ignored = dict.fromkeys(map(folded, unread), True)
    expected = describe(encoder, cells, unread)
    return ColumnReader(name, kind, encoder, keep, n_levels, n_missing, strings, ignored, expected)


def _fill_values(
    columns: Sequence[ColumnReader], starts: Sequence[int], Z: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what imputes each output: NaN if ``fit`` had missing cells, else a median or a code.

    A missing category gets a code of its own, since no step expects NaN.
    """
    fill = np.full(starts[-1], np.nan)
    complete = [(j, column) for j, column in enumerate(columns) if column.n_missing == 0]
    parsed = np.zeros(len(fill), dtype=bool)
    for j, column in complete:
        if column.kind.name in _PARSED:
            parsed[starts[j] : starts[j + 1]] = True
    rows, outputs = Z[:: max(1, len(Z) // _MEDIAN_ROWS)], np.flatnonzero(parsed)
    n_chunks = 1 + rows.shape[0] * len(outputs) // _MEDIAN_CELLS
    for chunk in np.array_split(outputs, n_chunks):
        fill[chunk] = np.median(rows[:, chunk], axis=0)
    for j, column in complete:
        for output, n_levels in column.category_outputs.items():
            fill[starts[j] + output] = n_levels
    return fill


def _intervals(
    columns: Sequence[ColumnReader], starts: Sequence[int], Z: NDArray[np.float64]
) -> list[Interval]:
    dates = [
        (column.name, start)
        for column, start in zip(columns, starts[:-1], strict=True)
        if column.kind.name == "date" and column.keep[0]
    ]
    pairs = itertools.islice(itertools.combinations(dates, 2), _MAX_INTERVALS)
    found = [Interval(a, b, first, last) for (a, first), (b, last) in pairs]
    days = (interval.days(Z) for interval in found)
    vary = [np.fmin.reduce(values) < np.fmax.reduce(values) for values in days]
    return list(itertools.compress(found, vary))


def _assemble(
    blocks: list[Block], n_samples: int, fill: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Concatenate blocks, in chunks of rows, and replace NaN by the fill value of its column."""
    widths = [block.values.shape[1] for block in blocks]
    ends = np.cumsum([0, *widths]).tolist()
    if ends[-1] == 0:
        return np.zeros((n_samples, 1))
    Z = np.empty((n_samples, ends[-1]))
    for start in range(0, n_samples, _CHUNK):
        stop = min(start + _CHUNK, n_samples)
        for block, first, last in zip(blocks, ends[:-1], ends[1:], strict=True):
            if last > first:
                Z[start:stop, first:last] = block.rows(start, stop)
        _filled(Z[start:stop], fill)
    return Z


def _filled(Z: NDArray[np.float64], fill: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Replace NaN by the fill value of its column, and clip large values, in place."""
    if fill is not None:
        np.copyto(Z, fill, where=np.isnan(Z))
    return np.clip(Z, -_LARGEST, _LARGEST, out=Z)


def _warn_of_doubts(columns: list[ColumnReader]) -> None:
    doubts = [f"column {c.name!r}: {c.kind.doubt}" for c in columns if c.kind.doubt]
    if doubts:
        warnings.warn(
            f"The kinds of {len(doubts)} of {len(columns)} columns are uncertain. Set them by the "
            f"'column_kinds' parameter: {'; '.join(doubts)}.",
            ColumnKindWarning,
            stacklevel=level_of_caller(),
        )
