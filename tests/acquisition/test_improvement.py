"""Expected improvement against integrals and high precision."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from skauto.acquisition import log_expected_improvement, log_expected_improvement_per_second


def expected_improvement(*predictions, **settings):
    return np.exp(log_expected_improvement(*predictions, **settings))


@pytest.mark.parametrize(
    "mean, std, best, xi",
    [
        (0.3, 0.1, 0.35, 0.0),
        (0.3, 0.1, 0.2, 0.0),
        (-2.0, 3.0, 1.0, 0.5),
        (5.0, 0.7, 3.0, 0.1),
    ],
)
def test_expected_improvement_is_the_integral(mean, std, best, xi):
    def integrand(value):
        return (best - xi - value) * norm.pdf(value, mean, std)

    integral, _ = integrate.quad(integrand, mean - 12 * std, best - xi, epsabs=0, epsrel=1e-12)
    value = expected_improvement(np.array([mean]), np.array([std]), best, xi=xi)
    np.testing.assert_allclose(value, integral, rtol=1e-9)


def test_log_agrees_with_plain_formula_where_that_is_accurate():
    u = np.linspace(-5, 8, 500)
    plain = np.log(norm.pdf(u) + u * norm.cdf(u))
    np.testing.assert_allclose(
        log_expected_improvement(-u, np.ones_like(u), 0.0), plain, rtol=1e-8
    )


def _exact_log_h(u, n_terms=400):
    """Log of phi(u) + u Phi(u) for u < 0 by a continued fraction in exact arithmetic.

    The Mills ratio is m(t) = 1/(t + 1/(t + 2/(t + 3/(t + ...)))), and
    h(-t) = phi(t) (1 - t m(t)).
    """
    t = Fraction(-u)
    tail = t
    for k in range(n_terms, 0, -1):
        tail = (t + Fraction(k) / tail).limit_denominator(10**40)
    return float(np.log(float(1 - t / tail)) + norm.logpdf(u))


@pytest.mark.parametrize("u", [-3, -5, -10, -20, -38, -49, -51, -60, -100, -1000])
def test_log_in_the_tail_agrees_with_exact_arithmetic(u):
    value = log_expected_improvement(np.array([-float(u)]), np.array([1.0]), 0.0)
    np.testing.assert_allclose(value, _exact_log_h(u), rtol=1e-13, atol=1e-11)


def test_log_is_smooth_and_increasing_over_all_seams():
    u = np.concatenate([-np.logspace(5, 0, 20_000), np.linspace(-1, 3, 5000)])
    log_h = log_expected_improvement(-u, np.ones_like(u), 0.0)
    assert np.isfinite(log_h).all()
    assert (np.diff(log_h) > 0)[np.diff(u) > 0].all()


def test_tail_is_close_to_its_leading_term():
    u = np.array([-100.0, -1000.0])
    leading = np.log(2.0) + norm.logpdf(u) - 2 * np.log(-u)
    np.testing.assert_allclose(
        log_expected_improvement(-2 * u, np.full(2, 2.0), 0.0), leading, atol=3e-4
    )


def test_certain_predictions():
    mean, std = np.array([0.5, 1.0, 2.0]), np.zeros(3)
    np.testing.assert_array_equal(expected_improvement(mean, std, 1.0), [0.5, 0, 0])
    np.testing.assert_array_equal(
        log_expected_improvement(mean, std, 1.0), [np.log(0.5), -np.inf, -np.inf]
    )


def test_extreme_scales_stay_finite():
    mean = np.array([-1e6, 1.0, 0.0, -1.0])
    std = np.array([1e-300, 1e300, 1e-300, 5e-324])
    np.testing.assert_allclose(
        expected_improvement(mean, std, 0.0),
        [1e6, 1e300 * norm.pdf(0), 1e-300 * norm.pdf(0), 1.0],
    )


def test_xi_shifts_the_best():
    mean, std = np.linspace(0, 1, 9), np.full(9, 0.2)
    np.testing.assert_array_equal(
        log_expected_improvement(mean, std, 0.5, xi=0.2), log_expected_improvement(mean, std, 0.3)
    )


def test_per_second_divides_by_positive_log_seconds():
    mean, std = np.full(3, 0.4), np.full(3, 0.1)
    log_seconds = np.array([np.log(2.0), np.log(101.0), -0.5])
    rate = np.exp(log_expected_improvement_per_second(mean, std, 0.5, log_seconds))
    plain = expected_improvement(mean, std, 0.5)
    np.testing.assert_allclose(rate[:2], plain[:2] / log_seconds[:2])
    assert np.isfinite(rate[2]) and rate[2] > rate[0]
