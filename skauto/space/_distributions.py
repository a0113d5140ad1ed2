"""Hyper-parameters from the distributions of :mod:`scipy.stats`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rv_continuous, rv_discrete
from scipy.stats.distributions import rv_frozen

from skauto.space._parameter import Parameter, round_significant
from skauto.space._parameters import Categorical, Integer, Number, Real
from skauto.utils import FloatArray

_DIGITS = 9
_TAIL = 1e-12


class Distribution(Number):
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
        self._integer = isinstance(distribution.dist, rv_discrete)
        self.low, self.high = (float(end) for end in distribution.support())
        self._set_default(default)

    @property
    def n_choices(self) -> int | None:
        if self._integer and np.isfinite([self.low, self.high]).all():
            return int(self.high - self.low) + 1
        return None

    def _values(self, u: ArrayLike) -> NDArray[Any]:
        position = np.clip(np.asarray(u, dtype=np.float64), _TAIL, 1.0 - _TAIL)
        values = np.asarray(self.distribution.ppf(position), dtype=np.float64)
        if self._integer:
            return values.astype(np.int64)
        return np.clip(round_significant(values, _DIGITS), self.low, self.high)

    def _units(self, values: FloatArray) -> FloatArray:
        upper = np.asarray(self.distribution.cdf(values), dtype=np.float64)
        if self._integer:
            return (upper + np.asarray(self.distribution.cdf(values - 1))) / 2
        return upper

    def cells(self, u: ArrayLike) -> tuple[FloatArray, FloatArray]:
        if not self._integer:
            return super().cells(u)
        values = self._values(u)
        cdf = self.distribution.cdf
        return np.asarray(cdf(values - 1), np.float64), np.asarray(cdf(values), np.float64)

    def __repr__(self) -> str:
        arguments = ", ".join(
            [f"{a!r}" for a in self.distribution.args]
            + [f"{k}={v!r}" for k, v in self.distribution.kwds.items()]
        )
        return f"Distribution({self.distribution.dist.name}({arguments}))"


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
