"""Hyper-parameters: their legal values, their prior and their map to the unit interval."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rv_continuous, rv_discrete
from scipy.stats.distributions import rv_frozen

from skauto.utils import FloatArray, IntArray

# Real values are rounded to this number of digits, so that the map to the unit interval and back
# is exact. Both maps are accurate to about 15 digits.
_DIGITS = 12
_DISTRIBUTION_DIGITS = 9
_TAIL = 1e-12


def plain(value: Any) -> Any:
    """Convert NumPy scalars to Python values and lists to tuples, recursively."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    return value


def _round_significant(values: FloatArray, digits: int) -> FloatArray:
    """Round each value to `digits` significant decimal digits."""
    magnitude = np.floor(np.log10(np.abs(values), out=np.zeros_like(values), where=values != 0))
    shift = digits - 1 - magnitude
    up = 10.0 ** np.maximum(shift, 0)
    down = 10.0 ** np.maximum(-shift, 0)
    return np.rint(values * up / down) * down / up


def _as_numbers(
    values: Sequence[Any], low: float, high: float, allowed: str, *, integers: bool
) -> FloatArray:
    """Convert numbers between two bounds to floats; other values raise an error."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        wrong = next((v for v in values if not _is_number(v)), values)
        raise ValueError(f"expected {allowed}, got {wrong!r}")
    numbers = array.astype(np.float64)
    legal = (numbers >= low) & (numbers <= high)
    if integers:
        legal &= numbers == np.rint(numbers)
    if not legal.all():
        raise ValueError(f"expected {allowed}, got {values[int(np.argmin(legal))]!r}")
    return numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )


class Parameter(ABC):
    """Base class of the hyper-parameters.

    A parameter maps its legal values to the unit interval, so that the inverse map of a uniform
    draw is a draw from the prior. Each value of a discrete parameter has a share of the interval,
    and is mapped to the middle of its share.

    Attributes
    ----------
    default : object
        The default value.
    n_choices : int or None
        Number of legal values; None if it is infinite.
    """

    default: Any

    @property
    @abstractmethod
    def n_choices(self) -> int | None:
        """Number of legal values, None if infinite."""

    def values(self) -> list[Any]:
        """Return all legal values in ascending order; their number must be finite.

        Returns
        -------
        list
            `n_choices` values.
        """
        low, high = self.from_unit([0.0])[0], self.from_unit([1.0])[0]
        return list(range(low, high + 1))

    @property
    def ordered(self) -> bool:
        """Whether the values are ordered, so that near unit values are similar."""
        return True

    @property
    def default_unit(self) -> float:
        """Unit value of the default."""
        return float(self.to_unit([self.default])[0])

    @abstractmethod
    def to_unit(self, values: Sequence[Any]) -> FloatArray:
        """Map legal values to the unit interval.

        Parameters
        ----------
        values : sequence
            Legal values.

        Returns
        -------
        ndarray of shape (n_values,)
            Numbers in [0, 1].
        """

    @abstractmethod
    def from_unit(self, u: ArrayLike) -> list[Any]:
        """Map numbers in [0, 1] to the nearest legal values.

        Parameters
        ----------
        u : array-like of shape (n_values,)
            Numbers in [0, 1].

        Returns
        -------
        list
            Plain Python values.
        """

    def snap(self, u: ArrayLike) -> FloatArray:
        """Round numbers in [0, 1] to the unit values of the nearest legal values.

        Parameters
        ----------
        u : array-like of shape (n_values,)
            Numbers in [0, 1].

        Returns
        -------
        ndarray of shape (n_values,)
            ``to_unit(from_unit(u))``.
        """
        return self.to_unit(self.from_unit(u))

    def cells(self, u: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the interval of unit values that map to the same legal value.

        Parameters
        ----------
        u : array-like of shape (n_values,)
            Unit values of legal values.

        Returns
        -------
        low, high : ndarray of shape (n_values,)
            Ends of the intervals; both equal `u` if the parameter is continuous.
        """
        units = np.asarray(u, dtype=np.float64)
        return units, units

    @abstractmethod
    def describe(self) -> str:
        """Describe the legal values in words.

        Returns
        -------
        str
            For example ``"an integer in [1, 10]"``.
        """

    def contains(self, value: Any) -> bool:
        """Return whether a value is legal.

        Parameters
        ----------
        value : object
            The value.

        Returns
        -------
        bool
            True if legal.
        """
        try:
            self.to_unit([value])
        except (ValueError, TypeError):
            return False
        return True

    def with_default(self, default: Any) -> "Parameter":
        """Return a copy with another default.

        Parameters
        ----------
        default : object
            A legal value.

        Returns
        -------
        Parameter
            The copy.
        """
        default = plain(default)
        if not self.contains(default):
            raise ValueError(f"default must be {self.describe()}, got {default!r}")
        other = copy(self)
        other.default = self.from_unit(self.to_unit([default]))[0]
        return other

    def _set_default(self, default: Any) -> None:
        default = self.from_unit([0.5])[0] if default is None else plain(default)
        if not self.contains(default):
            raise ValueError(f"default must be {self.describe()}, got {default!r}")
        self.default = default


class _Range(Parameter):
    """Base class of `Real` and `Integer`: two bounds and a linear or logarithmic scale."""

    def __init__(
        self, low: float, high: float, log: bool = False, default: float | None = None
    ) -> None:
        kind = type(self).__name__
        if not (_is_number(low) and _is_number(high) and np.isfinite([low, high]).all()):
            raise ValueError(f"{kind}: low and high must be finite numbers, got {low!r}, {high!r}")
        if not low < high:
            raise ValueError(f"{kind}: low must be below high, got low={low!r}, high={high!r}")
        if log and low <= 0:
            raise ValueError(f"{kind}: log=True needs low > 0, got low={low!r}; use log=False")
        self.low, self.high, self.log = plain(low), plain(high), bool(log)
        self._set_default(default)

    @abstractmethod
    def _values(self, u: ArrayLike) -> NDArray[Any]:
        """Return the legal values at the unit values `u`."""

    @abstractmethod
    def _units(self, values: FloatArray) -> FloatArray:
        """Return the unit values of legal values."""

    def to_unit(self, values: Sequence[Any]) -> FloatArray:
        integers = self.n_choices is not None
        return self._units(
            _as_numbers(values, self.low, self.high, self.describe(), integers=integers)
        )

    def from_unit(self, u: ArrayLike) -> list[Any]:
        values: list[Any] = self._values(u).tolist()
        return values

    def snap(self, u: ArrayLike) -> FloatArray:
        return self._units(self._values(u).astype(np.float64))

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

    def __init__(
        self, low: float, high: float, log: bool = False, default: float | None = None
    ) -> None:
        logarithmic = log and low > 0
        self._start = float(np.log(low)) if logarithmic else low
        self._end = float(np.log(high)) if logarithmic else high
        super().__init__(float(low), float(high), log, default)

    @property
    def n_choices(self) -> None:
        return None

    def _values(self, u: ArrayLike) -> FloatArray:
        position = np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0)
        values = self._start + position * (self._end - self._start)
        values = np.exp(values) if self.log else values
        return np.asarray(np.clip(self._rounded(values), self.low, self.high))

    def _rounded(self, values: FloatArray) -> FloatArray:
        if self.log:
            return _round_significant(values, _DIGITS)
        return np.round(values, _DIGITS - int(np.ceil(np.log10(self.high - self.low))))

    def _units(self, values: FloatArray) -> FloatArray:
        values = np.clip(self._rounded(values), self.low, self.high)
        values = np.log(values) if self.log else values
        units = (values - self._start) / (self._end - self._start)
        return np.asarray(np.clip(units, 0.0, 1.0))

    def describe(self) -> str:
        return f"a number in [{self.low:g}, {self.high:g}]"


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

    def __init__(self, low: int, high: int, log: bool = False, default: int | None = None) -> None:
        for name, value in (("low", low), ("high", high)):
            if not (_is_number(value) and float(value).is_integer()):
                raise ValueError(f"Integer: {name} must be an integer, got {value!r}")
        # The share of an integer k is the interval [k - 0.5, k + 0.5).
        self._start, self._end = low - 0.5, high + 0.5
        if log and low > 0:
            self._start, self._end = np.log(self._start), np.log(self._end)
        super().__init__(int(low), int(high), log, default)

    @property
    def n_choices(self) -> int:
        return int(self.high) - int(self.low) + 1

    def _values(self, u: ArrayLike) -> NDArray[np.int64]:
        position = np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0)
        values = self._start + position * (self._end - self._start)
        values = np.exp(values) if self.log else values
        # floor(v + 0.5), because rint rounds half of the ties down
        return np.clip(np.floor(values + 0.5).astype(np.int64), self.low, self.high)

    def _units(self, values: FloatArray) -> FloatArray:
        values = np.log(values) if self.log else values
        return np.asarray((values - self._start) / (self._end - self._start))

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

    @property
    def ordered(self) -> bool:
        return False

    def indices(self, u: ArrayLike) -> IntArray:
        """Return the indices in `choices` of the choices at the unit values `u`.

        Parameters
        ----------
        u : array-like of shape (n_values,)
            Numbers in [0, 1].

        Returns
        -------
        ndarray of int of shape (n_values,)
            The indices.
        """
        position = np.clip(np.asarray(u, dtype=np.float64), 0.0, 1.0)
        indices = (position * len(self.choices)).astype(np.intp)
        return np.minimum(indices, len(self.choices) - 1)

    def to_unit(self, values: Sequence[Any]) -> FloatArray:
        try:
            indices = [self._index[value] for value in values]
        except (KeyError, TypeError):
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


class Distribution(Parameter):
    """A value that follows any frozen distribution of :mod:`scipy.stats`.

    Parameters
    ----------
    distribution : frozen scipy.stats distribution
        Continuous or discrete, with methods ``cdf``, ``ppf`` and ``support``.
    default : float or int, default=None
        The default value; None takes the median.

    Notes
    -----
    Values of continuous distributions keep 9 significant digits.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from skauto.space import Distribution
    >>> round(Distribution(norm(loc=2)).from_unit([0.975])[0], 3)
    3.96
    """

    def __init__(self, distribution: Any, default: float | None = None) -> None:
        if not isinstance(distribution, rv_frozen):
            raise TypeError(
                f"distribution must be a frozen scipy.stats distribution, got {distribution!r}"
            )
        self.distribution = distribution
        self._discrete = isinstance(distribution.dist, rv_discrete)
        self._low, self._high = (float(end) for end in distribution.support())
        self._set_default(default)

    @property
    def n_choices(self) -> int | None:
        if self._discrete and np.isfinite([self._low, self._high]).all():
            return int(self._high - self._low) + 1
        return None

    def _values(self, u: ArrayLike) -> NDArray[Any]:
        position = np.clip(np.asarray(u, dtype=np.float64), _TAIL, 1.0 - _TAIL)
        values = np.asarray(self.distribution.ppf(position), dtype=np.float64)
        if self._discrete:
            return values.astype(np.int64)
        rounded = _round_significant(values, _DISTRIBUTION_DIGITS)
        return np.clip(rounded, self._low, self._high)

    def to_unit(self, values: Sequence[Any]) -> FloatArray:
        numbers = _as_numbers(
            values, self._low, self._high, self.describe(), integers=self._discrete
        )
        upper = np.asarray(self.distribution.cdf(numbers), dtype=np.float64)
        if self._discrete:
            return (upper + np.asarray(self.distribution.cdf(numbers - 1))) / 2
        return upper

    def from_unit(self, u: ArrayLike) -> list[Any]:
        values: list[Any] = self._values(u).tolist()
        return values

    def cells(self, u: ArrayLike) -> tuple[FloatArray, FloatArray]:
        if not self._discrete:
            return super().cells(u)
        values = self._values(u)
        cdf = self.distribution.cdf
        return np.asarray(cdf(values - 1), np.float64), np.asarray(cdf(values), np.float64)

    def describe(self) -> str:
        kind = "an integer" if self._discrete else "a number"
        return f"{kind} in [{self._low:g}, {self._high:g}]"

    def __repr__(self) -> str:
        arguments = ", ".join(
            [f"{a!r}" for a in self.distribution.args]
            + [f"{k}={v!r}" for k, v in self.distribution.kwds.items()]
        )
        return f"Distribution({self.distribution.dist.name}({arguments}))"


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, bool | int | float | str)


def as_parameter(spec: Any, default: Any = None) -> Parameter:
    """Convert a value of ``param_distributions`` of RandomizedSearchCV to a parameter.

    Parameters
    ----------
    spec : list, tuple, ndarray, frozen scipy.stats distribution or Parameter
        A list of choices becomes a `Categorical`. ``uniform`` and ``loguniform`` become `Real`,
        ``randint`` becomes `Integer`, and any other distribution becomes a `Distribution`. A
        parameter is returned as it is.
    default : object, default=None
        The default value; None takes the first choice of a list and the middle of a range.

    Returns
    -------
    Parameter
        The parameter.

    Examples
    --------
    >>> from scipy.stats import loguniform, randint
    >>> from skauto.space import as_parameter
    >>> as_parameter(loguniform(1e-3, 10), default=1.0)
    Real(0.001, 10.0, log=True, default=1.0)
    >>> as_parameter(randint(1, 11))
    Integer(1, 10, default=6)
    >>> as_parameter(["gini", "entropy"])
    Categorical(['gini', 'entropy'], default='gini')
    """
    if isinstance(spec, Parameter):
        return spec if default is None else spec.with_default(default)
    if isinstance(spec, list | tuple | np.ndarray):
        return Categorical(list(spec), default)
    if isinstance(spec, rv_frozen):
        return _from_distribution(spec, default)
    raise TypeError(
        "a hyper-parameter must be a list of choices, a frozen scipy.stats distribution or a "
        f"skauto.space.Parameter, got {spec!r}; write [value] to fix it at one value"
    )


def _from_distribution(spec: Any, default: Any) -> Parameter:
    if not isinstance(spec.dist, rv_continuous | rv_discrete):
        raise TypeError(f"multivariate distributions are not supported, got {spec!r}")
    low, high = spec.support()
    if spec.dist.name == "uniform":
        return Real(low, high, default=default)
    if spec.dist.name == "randint" and low < high:
        return Integer(low, high, default=default)
    is_shifted = spec.kwds.get("loc", spec.args[2] if len(spec.args) > 2 else 0) != 0
    if spec.dist.name in ("loguniform", "reciprocal") and not is_shifted:
        return Real(low, high, log=True, default=default)
    return Distribution(spec, default)
