"""Base class of hyper-parameters, and the conversion of their values."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from numbers import Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.utils import FloatArray


def plain(value: Any) -> Any:
    """Convert NumPy scalars to Python values and lists to tuples, recursively."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    return value


def round_significant(values: FloatArray, digits: int) -> FloatArray:
    """Round each value to `digits` significant decimal digits."""
    magnitude = np.floor(np.log10(np.abs(values), out=np.zeros_like(values), where=values != 0))
    shift = digits - 1 - magnitude
    up = 10.0 ** np.maximum(shift, 0)
    down = 10.0 ** np.maximum(-shift, 0)
    return np.rint(values * up / down) * down / up


def clipped(values: NDArray[Any], low: float, high: float) -> NDArray[Any]:
    """Return `np.clip(values, low, high)`, several times as fast for few values."""
    return np.minimum(np.maximum(values, low), high)


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


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
        """Return all legal values in ascending order; their number must be finite."""
        low, high = self.from_unit([0.0])[0], self.from_unit([1.0])[0]
        return list(range(low, high + 1))

    @property
    def default_unit(self) -> float:
        """Unit value of the default."""
        return float(self.to_unit([self.default])[0])

    @abstractmethod
    def to_unit(self, values: Sequence[Any]) -> FloatArray:
        """Map legal values to the unit interval, shape (n_values,)."""

    @abstractmethod
    def from_unit(self, u: ArrayLike) -> list[Any]:
        """Map numbers in [0, 1] to the nearest legal values, which are plain Python objects."""

    def snap(self, u: ArrayLike) -> FloatArray:
        """Round numbers in [0, 1] to the unit values of the nearest legal values."""
        return self.to_unit(self.from_unit(u))

    def cells(self, u: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the interval of unit values that map to the same legal value: low and high ends.

        Both equal `u`, unit values of legal values, if the parameter is continuous.
        """
        units = np.asarray(u, dtype=np.float64)
        return units, units

    @abstractmethod
    def describe(self) -> str:
        """Describe the legal values in words, for example ``"an integer in [1, 10]"``."""

    def contains(self, value: Any) -> bool:
        """Return whether a value is legal."""
        try:
            self.to_unit([value])
        except (ValueError, TypeError):
            return False
        return True

    def with_default(self, default: Any) -> "Parameter":
        """Return a copy with another default, which must be legal."""
        other = copy(self)
        other._set_default(default)
        return other

    def _set_default(self, default: Any) -> None:
        default = self.from_unit([0.5])[0] if default is None else plain(default)
        if not self.contains(default):
            raise ValueError(f"default must be {self.describe()}, got {default!r}")
        self.default = default
