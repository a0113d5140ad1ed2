"""Reading the columns of tables of any dataframe library."""

import datetime
import itertools
import math
import numbers
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skauto.data._notations import usual
from skauto.utils import column_arrays

# Maximum number of rows of tables that are read with few calls.
_FEW_ROWS = 1000
# Integers from here on have no type of NumPy.
_LARGEST_INTEGER = 2**63
# Arguments of to_numpy of extension arrays.
_FLOATS: dict[str, Any] = {"dtype": np.float64, "na_value": np.nan}


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: real values of shape (n_samples,), NaN where missing.

    ``form`` is "numbers", "booleans" (0 and 1) or "durations" (seconds).
    """

    values: NDArray[Any]
    form: str = "numbers"

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing cells."""
        return np.isnan(self.values)


@dataclass(frozen=True)
class Dates:
    """A column of dates: datetime64[us] of shape (n_samples,), NaT where missing."""

    values: NDArray[np.datetime64]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing cells."""
        return np.isnat(self.values)


@dataclass(frozen=True)
class Levels:
    """A column of codes of its distinct values, -1 where missing.

    The levels are strings, or any objects if the column has a categorical dtype (``declared``),
    which may be ``ordered``.
    ``numbers`` are the strings among the levels that were numbers or booleans in the table.
    """

    levels: list[Any]
    codes: NDArray[np.signedinteger]
    declared: bool = False
    numbers: frozenset[str] = frozenset()
    ordered: bool = False

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing cells."""
        return self.codes < 0


Cells = Numbers | Dates | Levels


def unmasked(array: Any) -> NDArray[Any]:
    """Return a masked array without its mask: cells are NaN among numbers, else None."""
    numeric = array.dtype.kind in "biuf"
    cells = np.array(array.data, dtype=float if numeric else object)
    cells[np.ma.getmaskarray(array)] = np.nan if numeric else None
    return cells


def as_table(X: Any) -> Any:
    """Convert X to a dataframe, a 2-D array or a CSR matrix.

    Nested lists that contain strings become an array of dtype object. Masked cells of a masked
    array are missing. A ValueError is raised if X is not two-dimensional, is complex or has
    duplicate column names, and a TypeError if it is a lazy table.
    """
    is_series = nw.dependencies.is_into_series(X)
    if nw.dependencies.is_into_dataframe(X):
        names = column_names(X) or []
        if len({isinstance(name, str) for name in names}) > 1:
            odd = sorted({str(name) for name in names if not isinstance(name, str)})
            raise TypeError(
                "Feature names are only supported if all input features have string names. Got "
                f"columns without one: {', '.join(odd[:5])}; rename them, for instance by "
                "X.columns = X.columns.astype(str)."
            )
        if len(set(names)) < len(names):
            twice = sorted({str(name) for name in names if names.count(name) > 1})
            raise ValueError(
                f"X must have columns with different names. Got {', '.join(twice)} more than "
                "once; rename or drop the duplicates."
            )
        return X
    if sparse.issparse(X):
        X = X.tocsr()  # type: ignore[attr-defined]
    elif isinstance(X, np.ma.MaskedArray):  # masked cells are missing
        X = unmasked(X)
    elif isinstance(X, np.ndarray):
        X = np.asarray(X)  # without subclasses such as numpy.matrix
    elif isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(
            f"X must be a table in memory. Got a {type(X).__name__} instead; call its 'collect'."
        )
    elif isinstance(X, str | PathLike):
        raise ValueError(
            f"X must be a table. Got the {type(X).__name__} {str(X)!r}; read the file, for "
            "instance with pandas.read_csv."
        )
    elif isinstance(X, Mapping) or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        got = "dict" if isinstance(X, Mapping) else "list of dicts"
        raise ValueError(f"X must be a table. Got a {got}; pass pandas.DataFrame(X).")
    else:
        array = np.asarray(X)
        X = np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    if X.ndim == 1 and is_series:
        raise ValueError(
            "Expected 2D array, got 1D array instead: X must be a table. Got a Series; pass a "
            "table of one row, such as X.iloc[[0]], or of one column, such as X[['name']]."
        )
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead "
            "for X. Reshape your data either using array.reshape(-1, 1) if your data has a "
            "single feature or array.reshape(1, -1) if it contains a single sample."
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers or categories.")
    return X


def column_names(X: Any) -> list[Any] | None:
    """Return the column names of a dataframe of any library; None if X is not a dataframe."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _objects(X.columns)
    if nw.dependencies.is_into_dataframe(X):
        return list(nw.from_native(X, eager_only=True).columns)
    return None


def names_or_numbers(X: Any) -> list[Any]:
    """Return the column names of a table; of an array, x0, x1, ... as in error messages.

    What has no columns, such as None or a list, has no names.
    """
    names = column_names(X)
    n_columns = (*getattr(X, "shape", ()), 0, 0)[1]
    return [f"x{j}" for j in range(n_columns)] if names is None else names


def column_of(X: Any, name: str) -> Any:
    """Return a column of a table, by a name of `names_or_numbers`."""
    if column_names(X) is not None:
        return X[name]
    return column_at(X, names_or_numbers(X).index(name))


def column_at(X: Any, position: int) -> NDArray[Any]:
    """Return a column of an array or sparse matrix, of shape (n_samples,)."""
    column = X[:, [position]]
    is_sparse = sparse.issparse(column)  # no type narrowing
    return np.asarray(column.toarray() if is_sparse else column).ravel()


class UnsupportedColumnError(TypeError):
    """A column holds values of a type that is not supported."""


def read_columns(
    X: Any, names: Mapping[int, str], left_out: Collection[int] = ()
) -> Iterator[Cells]:
    """Read columns of a dataframe or array.

    `names` maps their positions, in ascending order, to the names in error messages. A TypeError
    after the last column names all columns whose type is not supported, but for the positions
    `left_out`, whose cells then are all missing.
    """
    read: Callable[[Any, str], Cells]
    if isinstance(X, np.ndarray):
        columns, read = iter(X.T), _array_cells
    elif (arrays := column_arrays(X)) is not None:
        columns, read = arrays, _pandas_cells
    else:
        columns, read = nw.from_native(X, eager_only=True).iter_columns(), _narwhals_cells
    refused: list[str] = []
    for j, values in enumerate(columns):
        if j not in names:
            continue
        try:
            yield read(values, names[j])
        except UnsupportedColumnError as error:
            if j not in left_out:
                refused.append(str(error))
            yield Levels([], np.full(len(values), -1))
    if refused:
        raise TypeError(
            "Every value of the 'X' argument must be a string or a number (or a date, a time, a "
            f"duration, a boolean, missing). {' '.join(refused)} Or leave such a column out: "
            "column_kinds={name: 'drop'}."
        )


def few_numbers(X: Any) -> NDArray[Any] | None:
    """Return a table of few rows as an array if all columns are plain numbers, else None."""
    if len(X) > _FEW_ROWS:
        return None
    if isinstance(X, np.ndarray):
        return X if _is_plain(X.dtype) else None
    if hasattr(X, "iloc") and all(map(_is_plain, X.dtypes.tolist())):
        return X.to_numpy(dtype=np.float64)
    return None


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf" and dtype.itemsize <= 8


def as_levels(cells: Cells) -> Levels:
    """Convert a column to codes of its distinct values, which are sorted for numbers and dates."""
    if isinstance(cells, Levels):
        return cells
    missing = cells.missing
    found, inverse = np.unique(cells.values[~missing], return_inverse=True)
    codes = np.full(len(missing), -1)
    codes[~missing] = inverse
    levels = found.tolist()
    if isinstance(cells, Numbers) and cells.form != "numbers":
        booleans = cells.form == "booleans"
        levels = [bool(x) if booleans else datetime.timedelta(seconds=x) for x in levels]
    return Levels(levels, codes, declared=True)


def as_strings(cells: Cells) -> Levels:
    """Convert a column to codes of strings, which are those of a CSV file of the column."""
    coded = as_levels(cells)
    if distinct_strings(cells) is not None:
        return _usual_strings(coded.levels, coded.codes) if coded.declared else coded
    return _merged(coded.levels, coded.codes)


def undeclared(cells: Cells, name: str) -> Cells:
    """Convert a column of a categorical dtype to a column of the type of its categories."""
    if not isinstance(cells, Levels) or not cells.declared or not cells.levels:
        return cells
    return _cells_from_levels(cells.levels, cells.codes, name)


def _usual_strings(levels: list[Any], codes: NDArray[np.signedinteger]) -> Levels:
    texts = [usual(_text(level)) for level in levels]
    return Levels(texts, codes) if texts == levels else _merged(texts, codes)


def _merged(values: list[Any], codes: NDArray[np.signedinteger]) -> Levels:
    code_of: defaultdict[str, int] = defaultdict(itertools.count().__next__)
    new = np.array([*(code_of[text_of(value)] for value in values), -1], dtype=np.intp)
    others = {text_of(x) for x in values if common_type(type(x)) not in ("numbers", "booleans")}
    return Levels(list(code_of), new[codes], numbers=frozenset(code_of.keys() - others))


def text_of(value: Any) -> str:
    """Return a value as a string, as in a CSV file: "2" for 2.0, "2024-01-31" for midnight."""
    if isinstance(value, str | bytes):
        return _text(value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    kind = common_type(type(value))
    if kind == "numbers":
        number = value if isinstance(value, numbers.Integral) else float(value)
        return str(int(number)) if number == number // 1 else repr(number)
    if kind == "dates":
        moment = np.datetime64(_without_zone(value), "us")
        text = str(moment).removesuffix(".000000")
        return text.removesuffix("T00:00:00").replace("T", " ")
    return duration_text(_as_float(value)) if kind == "durations" else str(value)


def duration_text(seconds: float) -> str:
    """Write a duration as pandas does: "-1 days +23:59:59.5"."""
    days, rest = divmod(seconds, 86_400)
    minutes, second = divmod(rest, 60)
    fraction = f"{second % 1:.9f}".strip("0").rstrip(".") if second % 1 else ""
    sign = "+" if days < 0 else ""
    hour, minute = divmod(int(minutes), 60)
    return f"{int(days)} days {sign}{hour:02d}:{minute:02d}:{int(second):02d}{fraction}"


def _array_cells(values: NDArray[Any], name: str) -> Cells:
    kind = values.dtype.kind
    if kind in "biuf":
        return Numbers(_finite(values, name), "booleans" if kind == "b" else "numbers")
    if kind == "M":
        return Dates(values.astype("datetime64[us]"))
    if kind == "m":
        return Numbers(_seconds(values), "durations")
    return _cells_from_levels(*_factorize(values.tolist(), name), name)


def _pandas_cells(values: Any, name: str) -> Cells:
    dtype = values.dtype
    if isinstance(dtype, np.dtype) and (dtype.kind != "O" or len(values) <= _FEW_ROWS):
        return _array_cells(np.asarray(values), name)
    if hasattr(dtype, "categories"):
        levels = _objects(values.categories)
        return Levels(levels, values.codes, declared=True, ordered=bool(values.ordered))
    kind = dtype.kind
    if kind in "biuf":
        exact = kind in "iu" and not values.isna().any()
        plain = {"dtype": np.int64 if kind == "i" else np.uint64} if exact else _FLOATS
        numbers = _finite(values.to_numpy(**plain), name)
        return Numbers(numbers, "booleans" if kind == "b" else "numbers")
    if kind == "M" and not dtype.name.startswith(("date32", "date64")):  # dates of pyarrow
        return Dates(values.to_numpy(dtype="datetime64[us]"))
    if kind == "m":
        return Numbers(_seconds(values.to_numpy(dtype=dtype.numpy_dtype)), "durations")
    if len(values) <= _FEW_ROWS:  # a dict is faster than factorize
        return _cells_from_levels(*_factorize(_objects(values), name), name)
    from pandas import factorize

    try:
        codes, levels = factorize(values)
    except (TypeError, NotImplementedError):  # unhashable, or unknown to pyarrow
        return _cells_from_levels(*_factorize(values.tolist(), name), name)
    return _cells_from_levels(_objects(levels), codes, name)


def _objects(values: Any) -> Any:
    """Return the list of an array or index of pandas; strings of pyarrow without NumPy."""
    if getattr(values.dtype, "storage", None) == "pyarrow":
        return getattr(values, "array", values).__arrow_array__().to_pylist()
    return values.tolist()


def _narwhals_cells(series: Any, name: str) -> Cells:
    dtype = series.dtype
    if dtype.is_integer():  # pyarrow casts no integer beyond 2**53 to a float
        return Numbers(_finite(series.to_numpy(), name))
    if dtype.is_float() or dtype == nw.Boolean:
        values = _finite(series.cast(nw.Float64).to_numpy(), name)
        return Numbers(values, "booleans" if dtype == nw.Boolean else "numbers")
    if dtype == nw.Date or dtype == nw.Datetime:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return Dates(series.to_numpy().astype("datetime64[us]"))
    if dtype == nw.Duration:
        return Numbers(_seconds(series.to_numpy()), "durations")
    declared = dtype in (nw.Categorical, nw.Enum)
    native = series.to_native()
    texts = dtype in (nw.String, nw.Binary) and len(native) > _FEW_ROWS  # few: a dict is faster
    if hasattr(native, "dictionary_encode") and (declared or texts):
        native = native.combine_chunks()
        encoded = native if hasattr(native, "dictionary") else native.dictionary_encode()
        codes = encoded.indices.cast("int64").fill_null(-1).to_numpy()
        return _cells_from_levels(encoded.dictionary.to_pylist(), codes, name, declared=declared)
    return _cells_from_levels(*_factorize(series.to_list(), name), name, declared=declared)


def _factorize(values: list[Any], name: str) -> tuple[list[Any], NDArray[np.signedinteger]]:
    code_of: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    try:
        codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.intp, count=len(values))
    except TypeError:  # a collection, or a tuple of some
        kinds = (type(value) for value in values if not isinstance(value, Hashable))
        raise _unsupported(next(kinds, tuple), name) from None
    return list(code_of), codes


def _cells_from_levels(
    levels: list[Any], codes: NDArray[np.signedinteger], name: str, *, declared: bool = False
) -> Cells:
    types = set(map(type, levels))
    if types != {str}:
        present = [level for level in levels if not is_missing(level)]
        if len(present) < len(levels):
            number = itertools.count()
            renumbered = [-1 if is_missing(level) else next(number) for level in levels]
            codes = np.array([*renumbered, -1])[codes]
            levels, types = present, set(map(type, present))
    if declared:
        return Levels(levels, codes, declared=True)
    if unsupported := [kind for kind in types if common_type(kind) is None]:
        raise _unsupported(unsupported[0], name)
    kinds = set(filter(None, map(common_type, types))) or {"numbers"}
    if kinds == {"strings"}:
        return _usual_strings(levels, codes)
    if kinds == {"booleans", "numbers"}:
        kinds = {"numbers"}
    if len(kinds) > 1 or kinds == {"others"}:
        return _merged(levels, codes)
    if kinds == {"dates"}:
        plain = [_without_zone(level) for level in levels]
        return Dates(np.array([*plain, "NaT"], dtype="datetime64[us]")[codes])
    if types == {int} and max(map(abs, levels)) < _LARGEST_INTEGER and (codes >= 0).all():
        return Numbers(np.array(levels, dtype=np.int64)[codes])
    values = np.array([*map(_as_float, levels), np.nan], dtype=np.float64)
    return Numbers(_finite(values, name)[codes], kinds.pop())


def _as_float(value: Any) -> float:
    if hasattr(value, "to_timedelta64"):  # of pandas, whose total_seconds() may round
        value = value.to_timedelta64()
    if isinstance(value, np.timedelta64):
        return float(_seconds(np.asarray(value)))
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    try:
        return float(value)
    except OverflowError:  # an int beyond the range of floats
        return math.inf


def common_type(kind: type) -> str | None:
    """Return the type of values: "strings", "durations", "booleans", "numbers", "dates", "others".

    Others have a text of their own, such as times and periods. None is a type without such a text
    or a collection.
    """
    if issubclass(kind, str | bytes):
        return "strings"
    if issubclass(kind, datetime.timedelta | np.timedelta64):  # an integer type to NumPy
        return "durations"
    if issubclass(kind, bool | np.bool_):
        return "booleans"
    if issubclass(kind, numbers.Real) or hasattr(kind, "as_integer_ratio"):
        return "numbers"
    if issubclass(kind, datetime.date | np.datetime64):
        return "dates"
    is_callable = any("__call__" in base.__dict__ for base in kind.__mro__)
    if is_callable or issubclass(kind, numbers.Complex | Collection):
        return None
    no_text = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    return None if no_text else "others"


def _unsupported(kind: type, name: str) -> UnsupportedColumnError:
    column = f"X[{name!r}]"
    if issubclass(kind, Mapping):
        advice = f"make columns of its keys, for instance with pandas.json_normalize({column})"
    elif issubclass(kind, numbers.Complex):
        advice = f"pass {column}.map(abs), or real and imaginary part as two columns"
    elif issubclass(kind, Iterable):
        advice = f"join its items, for instance with {column}.map(lambda v: ';'.join(map(str, v)))"
    else:
        advice = f"convert it, for instance with {column}.astype(str)"
    return UnsupportedColumnError(f"Column {name!r} holds a {kind.__name__}; {advice}.")


def is_missing(value: Any) -> bool:
    """Whether a Python object is None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    differs = value != value
    return not isinstance(differs, np.ndarray) and bool(differs)  # an array is no missing value


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _without_zone(value: Any) -> Any:
    """Convert a date with a time zone to UTC, because NumPy has no time zones."""
    if getattr(value, "tzinfo", None) is None:
        return value
    try:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    except OverflowError:  # beyond the years 1 to 9999
        return value.replace(tzinfo=None)


def _seconds(values: NDArray[Any]) -> NDArray[np.float64]:
    if np.datetime_data(values.dtype)[0] in ("Y", "M"):  # of mean length
        values = values.astype("timedelta64[s]")
    seconds: NDArray[np.float64] = values / np.timedelta64(1, "s")
    return seconds


def _finite(values: NDArray[Any], name: str) -> NDArray[Any]:
    if values.dtype.kind == "b" or values.dtype.itemsize > 8:
        values = values.astype(np.float64)
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError(
            f"Input X contains infinity or a value too large for dtype('float64') in column "
            f"{name!r}. Replace it, for instance by NaN: missing values are welcome."
        )
    return values


def distinct_strings(cells: Cells) -> Sequence[str] | None:
    """Return the distinct strings of a column; None if the values are not strings."""
    if isinstance(cells, Levels) and set(map(type, cells.levels)) <= {str}:
        return cells.levels
    return None
