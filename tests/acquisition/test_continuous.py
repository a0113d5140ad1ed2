import numpy as np
import pytest
from scipy.optimize import approx_fprime

from skauto.acquisition import log_expected_improvement
from skauto.acquisition._continuous import (
    log_improvement_with_gradient,
    maximize_log_improvement,
)
from skauto.surrogates import GaussianProcess


def pull_to(center, weight):
    """A quadratic pull, as ADMM adds to the modeled loss."""

    def known(points):
        return weight * ((points - center) ** 2).sum(axis=1), 2 * weight * (points - center)

    return known


@pytest.fixture
def surrogate():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(20, 2))
    return GaussianProcess().fit(X, np.sin(7 * X[:, 0]) + X[:, 1] ** 2, rng)


@pytest.mark.parametrize("known", [None, pull_to(np.array([0.9, 0.1]), 0.7)])
@pytest.mark.parametrize("best", [0.5, -0.9, -5.0])
def test_gradient_equals_finite_differences(surrogate, known, best):
    for x in np.random.default_rng(1).uniform(size=(5, 2)):
        _, gradient = log_improvement_with_gradient(surrogate, best, x, known)
        numeric = approx_fprime(
            x, lambda p: log_improvement_with_gradient(surrogate, best, p, known)[0], 1e-7
        )
        np.testing.assert_allclose(gradient, numeric, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("known", [None, pull_to(np.array([0.9, 0.1]), 0.7)])
def test_maximum_is_that_of_a_fine_grid(surrogate, known):
    best = -0.7
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 201)] * 2), axis=-1).reshape(-1, 2)

    def improvement(points):
        mean, std = surrogate.predict(points)
        mean = mean + (known(points)[0] if known else 0.0)
        return np.exp(log_expected_improvement(mean, std, best))

    candidates = np.random.default_rng(2).uniform(size=(100, 2))
    point, _ = maximize_log_improvement(surrogate, best, candidates, known=known)
    assert ((point >= 0) & (point <= 1)).all()
    assert improvement(point[None])[0] >= (1 - 1e-6) * improvement(grid).max()


def test_only_free_coordinates_move(surrogate):
    candidates = np.array([[0.3, 0.6], [0.8, 0.6]])
    free = np.array([[True, False], [True, False]])
    point, start = maximize_log_improvement(surrogate, -0.9, candidates, free=free)
    assert start in (0, 1)
    assert point[1] == 0.6
    assert point[0] not in candidates[:, 0]
    still, start = maximize_log_improvement(
        surrogate, -0.9, candidates, free=np.zeros((2, 2), bool)
    )
    assert still.tolist() == candidates[start].tolist()
