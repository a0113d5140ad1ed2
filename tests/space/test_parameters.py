"""Priors, exact values and errors of hyper-parameters."""

import numpy as np
import pytest
from scipy import stats

from skauto.space import Categorical, Distribution, Integer, Real, as_parameter


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
