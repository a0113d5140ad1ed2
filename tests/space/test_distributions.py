"""Hyper-parameters from distributions and lists."""

import numpy as np
import pytest
from scipy import stats

from skauto.space import Integer, Real, as_parameter


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
