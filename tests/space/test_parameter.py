"""What holds for every kind of hyper-parameter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skauto.space import Categorical, Distribution, Integer, Real

PARAMETERS = [
    Real(-3.0, 7.0),
    Real(0.0, 1e-6),
    Real(1.0 / 3.0, 2.0 / 3.0),
    Real(2.0**-15, 8.0, log=True, default=0.1),
    Real(1e-30, 1e30, log=True),
    Real(-1e300, 1e300),
    Real(0.0, 1e-290),
    Real(1e-290, 1e300, log=True),
    Integer(-5, 5),
    Integer(0, 1),
    Integer(1, 100, log=True, default=1),
    Integer(50, 10000, log=True, default=100),
    Categorical(["a", "b", "c"]),
    Categorical([None, True, 3, 0.5, (1, 2)]),
    Distribution(stats.norm(1.0, 2.0)),
    Distribution(stats.poisson(3.0)),
    Distribution(stats.binom(5, 0.3)),
    Distribution(stats.beta(2.0, 5.0)),
]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
def test_units_and_values_are_inverse(parameter, rng):
    u = np.concatenate([[0.0, 1.0], rng.random(500)])
    snapped = parameter.snap(u)
    assert snapped.min() >= 0.0
    assert snapped.max() <= 1.0
    values = parameter.from_unit(u)
    assert all(parameter.contains(value) for value in values)
    assert_allclose(parameter.to_unit(values), snapped, rtol=0, atol=1e-14)
    assert parameter.from_unit(snapped) == values
    assert_array_equal(parameter.snap(snapped), snapped)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
def test_cells_hold_what_is_moved_to_the_same_value(parameter, rng):
    u = rng.random(50)
    units = parameter.snap(u)
    low, high = parameter.cells(units)
    if len(np.unique(units)) == 50 and not isinstance(parameter, Integer):  # not discrete
        assert_array_equal(low, units)
        assert_array_equal(high, units)
    else:
        assert ((low - 1e-9 <= u) & (u <= high + 1e-9)).all()
        inside = low + (high - low) * rng.uniform(1e-6, 1 - 1e-6, size=50)
        assert_allclose(parameter.snap(inside), units)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
def test_default_is_legal_and_survives(parameter):
    assert parameter.contains(parameter.default)
    assert parameter.from_unit([parameter.default_unit]) == [parameter.default]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
def test_values_are_plain_python(parameter):
    for value in parameter.from_unit([0.1, 0.9]):
        assert type(value) in (int, float, str, bool, tuple, type(None))
