"""Hyper-parameters: numbers in a range and choices from a list."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.space._parameter import Parameter, clipped, is_number, plain, round_significant
from skauto.utils import FloatArray, IntArray

# Real values are rounded to this number of digits, so that the map to the unit interval and back
# is exact. Both maps are accurate to about 15 digits.
_DIGITS = 12
# Least width of a range, or least value on a logarithmic scale: rounding overflows below.
_SMALLEST = 1e-290


class Number(Parameter):
    """Base class of numeric hyper-parameters between two bounds, which are included."""

    low: float
    high: float
    _integer: bool

    @abstractmethod
    def _values(self, u: ArrayLike) -> NDArray[Any]:
        """Return the legal values at the unit values `u`."""

    @abstractmethod
    def _units(self, values: FloatArray) -> FloatArray:
        """Return the unit values of legal values."""

    def to_unit(self, values: Sequence[Any]) -> FloatArray:
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            wrong = next((v for v in values if not is_number(v)), values)
            raise ValueError(f"expected {self.describe()}, got {wrong!r}")
        numbers = array.astype(np.float64)
        legal = (numbers >= self.low) & (numbers <= self.high)
        if self._integer:
            legal &= numbers == np.rint(numbers)
        if not legal.all():
            wrong = values[int(np.argmin(legal))]
            raise ValueError(f"expected {self.describe()}, got {wrong!r}")
        return self._units(numbers)

    def from_unit(self, u: ArrayLike) -> list[Any]:
        return self._values(u).tolist()

    def snap(self, u: ArrayLike) -> FloatArray:
        return self._units(self._values(u).astype(np.float64))

    def describe(self) -> str:
        return f"{'an integer' if self._integer else 'a number'} in [{self.low:g}, {self.high:g}]"


class _Range(Number):
    """Base class of `Real` and `Integer`, which have a linear or logarithmic scale."""

    _type: type[float]  # of the values
    _largest: float  # magnitude of a bound
    _margin: float  # distance of the ends of the unit interval from the bounds
    _start: float
    _end: float

    def __init__(
        self, low: float, high: float, log: bool = False, default: float | None = None
    ) -> None:
        kind = type(self).__name__
        if not all(is_number(end) and abs(end) <= self._largest for end in (low, high)):
            raise ValueError(
                f"{kind}: low and high must be finite numbers of at most {self._largest:g} in "
                f"magnitude, got {low!r}, {high!r}"
            )
        if not low < high:
            raise ValueError(f"{kind}: low must be below high, got low={low!r}, high={high!r}")
        if log and low <= 0:
            raise ValueError(f"{kind}: log=True needs low > 0, got low={low!r}; use log=False")
        smallest = low if log else high - low
        if smallest < _SMALLEST:
            raise ValueError(
                f"{kind}: {'low' if log else 'high - low'} must be at least {_SMALLEST:g}, got "
                f"low={low!r}, high={high!r}; use another unit"
            )
        self.low, self.high, self.log = self._type(low), self._type(high), bool(log)
        # ends of the unit interval on the scale
        start, end = self.low - self._margin, self.high + self._margin
        self._start, self._end = (np.log(start), np.log(end)) if log else (start, end)
        self._set_default(default)

    def _scaled_from(self, u: ArrayLike) -> FloatArray:
        """Map numbers in [0, 1] linearly to the scale; the result is not rounded."""
        position = clipped(np.asarray(u, dtype=np.float64), 0.0, 1.0)
        values = self._start + position * (self._end - self._start)
        return np.exp(values) if self.log else values

    def _scaled_to(self, values: FloatArray) -> FloatArray:
        """Invert `_scaled_from`."""
        values = np.log(values) if self.log else values
        return np.asarray((values - self._start) / (self._end - self._start))

    def __repr__(self) -> str:
        log = ", log=True" if self.log else ""
        return f"{type(self).__name__}({self.low}, {self.high}{log}, default={self.default})"


class Real(_Range):
    """A real number between two bounds, both included.

    Parameters
    ----------
    low, high : float
        Lower and upper bound.
    log : bool, default=False
        Whether the prior is log-uniform instead of uniform.
    default : float, default=None
        The default value; None takes the middle of the (logarithmic) range.

    Notes
    -----
    Values are rounded to 12 significant digits (on a linear scale: 12 decimal digits of the
    range), so that decoding is the exact inverse of encoding.

    Examples
    --------
    >>> from skauto.space import Real
    >>> Real(1e-3, 1e3, log=True).from_unit([0, 0.5, 1])
    [0.001, 1.0, 1000.0]
    """

    _integer = False
    _type = float
    _largest = 1e300
    _margin = 0.0

    @property
    def n_choices(self) -> None:
        return None

    def _values(self, u: ArrayLike) -> FloatArray:
        return clipped(self._rounded(self._scaled_from(u)), self.low, self.high)

    def _rounded(self, values: FloatArray) -> FloatArray:
        if self.log:
            return round_significant(values, _DIGITS)
        return np.round(values, _DIGITS - int(np.ceil(np.log10(self.high - self.low))))

    def _units(self, values: FloatArray) -> FloatArray:
        rounded = clipped(self._rounded(values), self.low, self.high)
        return clipped(self._scaled_to(rounded), 0.0, 1.0)


class Integer(_Range):
    """An integer between two bounds, both included.

    Parameters
    ----------
    low, high : int
        Lower and upper bound.
    log : bool, default=False
        Whether the prior is log-uniform instead of uniform.
    default : int, default=None
        The default value; None takes the middle of the (logarithmic) range.

    Examples
    --------
    >>> from skauto.space import Integer
    >>> Integer(1, 4).from_unit([0, 0.3, 0.6, 1])
    [1, 2, 3, 4]
    >>> Integer(1, 1000, log=True).from_unit([0.25, 0.5])
    [3, 22]
    """

    _integer = True
    _type = int
    _largest = 2.0**53  # beyond it, floating point numbers skip integers
    _margin = 0.5  # the share of an integer k is the interval [k - 0.5, k + 0.5)

    def __init__(self, low: int, high: int, log: bool = False, default: int | None = None) -> None:
        for name, value in (("low", low), ("high", high)):
            if not (is_number(value) and value % 1 == 0):
                raise ValueError(f"Integer: {name} must be an integer, got {value!r}")
        super().__init__(low, high, log, default)

    @property
    def n_choices(self) -> int:
        return int(self.high) - int(self.low) + 1

    def _values(self, u: ArrayLike) -> NDArray[np.int64]:
        # floor(v + 0.5), because rint rounds half of the ties down
        nearest = np.floor(self._scaled_from(u) + 0.5).astype(np.int64)
        return clipped(nearest, self.low, self.high)

    def _units(self, values: FloatArray) -> FloatArray:
        return self._scaled_to(values)

    def cells(self, u: ArrayLike) -> tuple[FloatArray, FloatArray]:
        values = self._values(u).astype(np.float64)
        return self._units(values - 0.5), self._units(values + 0.5)

    def describe(self) -> str:
        return f"an integer in [{self.low}, {self.high}]"


class Categorical(Parameter):
    """One of a list of unordered choices, all equally likely.

    Parameters
    ----------
    choices : sequence of None, bool, int, float, str or tuples of these
        The choices, all different.
    default : object, default=None
        The default choice; None takes the first one.

    Examples
    --------
    >>> from skauto.space import Categorical
    >>> kernel = Categorical(["rbf", "poly", "sigmoid", "linear"])
    >>> kernel.default
    'rbf'
    >>> kernel.to_unit(["poly"]).tolist()
    [0.375]
    """

    def __init__(self, choices: Sequence[Any], default: Any = None) -> None:
        if isinstance(choices, str | bytes | Mapping):
            raise TypeError(f"choices must be a list or tuple, got {choices!r}")
        self.choices = tuple(plain(choice) for choice in choices)
        if not self.choices:
            raise ValueError("choices must not be empty")
        for choice in self.choices:
            if not _is_plain(choice):
                raise TypeError(
                    "choices must be None, booleans, numbers, strings or tuples of these, got "
                    f"{choice!r}; give the component a factory that builds the object from a name"
                )
        self._index = {choice: i for i, choice in enumerate(self.choices)}
        if len(self._index) < len(self.choices):
            raise ValueError(f"choices must differ from one another, got {list(self.choices)!r}")
        if default is None:
            self.default = self.choices[0]
        else:
            self._set_default(default)

    @property
    def n_choices(self) -> int:
        return len(self.choices)

    def values(self) -> list[Any]:
        return list(self.choices)

    def indices(self, u: ArrayLike) -> IntArray:
        """Return the indices in `choices` of the choices at the unit values `u`."""
        position = clipped(np.asarray(u, dtype=np.float64), 0.0, 1.0)
        indices = (position * len(self.choices)).astype(np.intp)
        return np.minimum(indices, len(self.choices) - 1)

    def to_unit(self, values: Sequence[Any]) -> FloatArray:
        try:
            indices = [self._index[plain(value)] for value in values]
        except (KeyError, TypeError):
            wrong = [v for v in values if not any(plain(v) == c for c in self.choices)]
            raise ValueError(f"expected {self.describe()}, got {wrong[0]!r}") from None
        return (np.asarray(indices, dtype=np.float64) + 0.5) / len(self.choices)

    def from_unit(self, u: ArrayLike) -> list[Any]:
        return [self.choices[i] for i in self.indices(u).tolist()]

    def snap(self, u: ArrayLike) -> FloatArray:
        return (self.indices(u) + 0.5) / len(self.choices)

    def cells(self, u: ArrayLike) -> tuple[FloatArray, FloatArray]:
        indices = self.indices(u)
        return indices / len(self.choices), (indices + 1) / len(self.choices)

    def describe(self) -> str:
        return "one of " + ", ".join(repr(choice) for choice in self.choices)

    def __repr__(self) -> str:
        return f"Categorical({list(self.choices)!r}, default={self.default!r})"


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, bool | int | float | str)
