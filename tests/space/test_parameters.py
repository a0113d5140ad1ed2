"""Parameters: priors, round trips, errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skauto.space import Categorical, Distribution, Integer, Real, as_parameter

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


def test_short_values_come_back_exactly():
    for parameter in (Real(1e-10, 0.1, log=True), Real(0.0, 1.0)):
        values = [1e-4, 0.1, 0.05, 0.02, 0.015625]
        assert parameter.from_unit(parameter.to_unit(values)) == values
    powers = Real(2.0**-15, 2.0**15, log=True)
    values = [2.0**-15, 2.0**15, 1.0, 0.03125]
    assert powers.from_unit(powers.to_unit(values)) == values


@pytest.mark.parametrize(
    ("parameter", "distribution"),
    [
        (Real(-3.0, 7.0), stats.uniform(-3.0, 10.0)),
        (Real(1e-3, 10.0, log=True), stats.loguniform(1e-3, 10.0)),
        (Distribution(stats.norm(1.0, 2.0)), stats.norm(1.0, 2.0)),
    ],
    ids=["uniform", "loguniform", "normal"],
)
def test_uniform_units_sample_the_prior(parameter, distribution, rng):
    values = parameter.from_unit(rng.random(4000))
    assert stats.kstest(values, distribution.cdf).pvalue > 0.01


@pytest.mark.parametrize(
    ("parameter", "probabilities"),
    [
        (Integer(2, 6), np.full(5, 0.2)),
        (Categorical(list("abcd")), np.full(4, 0.25)),
        (
            # an integer's share is the log-uniform mass of the interval around it
            Integer(1, 4, log=True),
            np.diff(np.log([0.5, 1.5, 2.5, 3.5, 4.5])) / np.log(9.0),
        ),
    ],
    ids=repr,
)
def test_discrete_values_have_their_share(parameter, probabilities, rng):
    values = parameter.from_unit(rng.random(8000))
    _, counts = np.unique(values, return_counts=True)
    assert stats.chisquare(counts, 8000 * probabilities).pvalue > 0.01


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (stats.uniform(1.0, 2.0), "Real(1.0, 3.0, default=2.0)"),
        (stats.uniform(loc=-1, scale=2), "Real(-1.0, 1.0, default=0.0)"),
        (stats.loguniform(0.01, 100), "Real(0.01, 100.0, log=True, default=1.0)"),
        (stats.reciprocal(0.01, 100), "Real(0.01, 100.0, log=True, default=1.0)"),
        (stats.randint(1, 4), "Integer(1, 3, default=2)"),
        (stats.expon(scale=2.0), "Distribution(expon(scale=2.0))"),
        (stats.loguniform(1, 10, loc=2), "Distribution(loguniform(1, 10, loc=2))"),
        (["x", "y"], "Categorical(['x', 'y'], default='x')"),
        (np.array([1, 2]), "Categorical([1, 2], default=1)"),
        (([1, 2], [3]), "Categorical([(1, 2), (3,)], default=(1, 2))"),
        (Integer(1, 2), "Integer(1, 2, default=2)"),
    ],
)
def test_specs_of_randomized_search(spec, expected):
    assert repr(as_parameter(spec)) == expected


def test_distribution_agrees_with_scipy_draws(rng):
    spec = stats.expon(scale=2.0)
    values = as_parameter(spec).from_unit(rng.random(3000))
    assert stats.ks_2samp(values, spec.rvs(3000, random_state=1)).pvalue > 0.01


def test_as_parameter_changes_the_default_of_a_copy():
    parameter = Real(0.0, 1.0, default=0.5)
    assert as_parameter(parameter, 0.25).default == 0.25
    assert parameter.default == 0.5


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Real(1.0, 1.0), "low must be below high, got low=1.0, high=1.0"),
        (lambda: Real(0.0, 1.0, log=True), "log=True needs low > 0, got low=0.0"),
        (lambda: Real(0.0, np.inf), "must be finite numbers"),
        (lambda: Real(0.0, 1.0, default=2.0), r"default must be a number in \[0, 1\], got 2.0"),
        (lambda: Real(-1e308, 1e308), r"at most 1e\+300 in magnitude, got -1e\+308, 1e\+308"),
        (lambda: Real(0.0, 1e-300), "high - low must be at least 1e-290, .* high=1e-300"),
        (lambda: Real(1e-300, 1.0, log=True), "low must be at least 1e-290, got low=1e-300"),
        (lambda: Integer(0, 10**400), r"at most 9.0072e\+15 in magnitude"),
        (lambda: Integer(0, np.inf), "high must be an integer, got inf"),
        (lambda: Integer(0.5, 2), "low must be an integer, got 0.5"),
        (lambda: Integer(1, 5, default=1.5), r"default must be an integer in \[1, 5\], got 1.5"),
        (lambda: Categorical([]), "must not be empty"),
        (lambda: Categorical("abc"), "must be a list or tuple, got 'abc'"),
        (lambda: Categorical([1, 2, 1]), "must differ from one another"),
        (lambda: Categorical([1, 1.0]), "must differ from one another"),
        (lambda: Categorical([print]), "give the component a factory"),
        (lambda: Categorical(["a", "b"], default="c"), "default must be one of 'a', 'b', got 'c'"),
        (lambda: as_parameter(3), r"write \[value\] to fix it"),
        (lambda: as_parameter("rbf"), "must be a list of choices"),
        (lambda: Distribution(stats.norm), "must be a frozen scipy.stats distribution"),
        (lambda: Real(0.0, 1.0).to_unit([1.5]), r"expected a number in \[0, 1\], got 1.5"),
        (lambda: Real(0.0, 1.0).to_unit(["0.5"]), "got '0.5'"),
        (lambda: Real(0.0, 1.0).to_unit([True]), "got True"),
        (lambda: Real(0.0, 1.0).to_unit([np.nan]), "got nan"),
        (lambda: Integer(0, 9).to_unit([1, 2.5]), r"an integer in \[0, 9\], got 2.5"),
        (lambda: Categorical(["a", "b"]).to_unit(["a", "c"]), "one of 'a', 'b', got 'c'"),
        (lambda: Distribution(stats.poisson(2)).to_unit([0.5]), "an integer in"),
    ],
)
def test_errors(build, message):
    with pytest.raises((ValueError, TypeError), match=message):
        build()
