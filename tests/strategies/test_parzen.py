"""The density of the Parzen estimator, against brute force over a small space."""

import numpy as np
import pytest
from scipy.stats import truncnorm

from skauto.space import Real, SearchSpace
from skauto.strategies._parzen import ParzenEstimator
from tests.strategies.search_loop import rich_space
from tests.strategies.vectors import all_vectors, distinct


def discrete_space():
    space = SearchSpace(["scaler", "classifier"])
    space.add("scaler", "none").add("scaler", "power", parameters={"method": ["a", "b", "c"]})
    return space.add("classifier", "knn", parameters={"k": [1, 3]}).add("classifier", "bayes")


@pytest.mark.parametrize("n", [0, 1, 6])
def test_density_sums_to_one(n):
    space = discrete_space()
    observed = space.sample(n, np.random.default_rng(1))
    estimator = ParzenEstimator(space, observed)
    everything = all_vectors(space)
    assert len(everything) == (1 + 3) * (2 + 1)
    np.testing.assert_allclose(np.exp(estimator.log_density(everything)).sum(), 1.0)


def test_draws_follow_the_density():
    space = discrete_space()
    observed = space.sample(4, np.random.default_rng(1))
    estimator = ParzenEstimator(space, observed)
    drawn = estimator.sample(40_000, np.random.default_rng(2))
    vectors, counts = distinct(drawn)
    density = np.exp(estimator.log_density(vectors))
    np.testing.assert_allclose(counts / counts.sum(), density, atol=0.01)


def test_numeric_kernels_are_truncated_normal_distributions():
    space = SearchSpace(["only"]).add("only", "one", parameters={"x": Real(0, 1)})
    observed = np.array([[0.0, 0.1], [0.0, 0.8]])
    estimator = ParzenEstimator(space, observed)
    x = np.linspace(0, 1, 11)
    s = estimator.bandwidth
    kernels = [truncnorm.pdf(x, -c / s, (1 - c) / s, c, s) for c in (0.1, 0.8)]
    expected = (kernels[0] + kernels[1] + 1.0) / 3
    vectors = np.column_stack([np.zeros(11), x])
    np.testing.assert_allclose(np.exp(estimator.log_density(vectors)), expected)


def test_draws_are_legal_and_complete():
    space = rich_space()  # with a forbidden pair and conditions
    observed = space.sample(10, np.random.default_rng(0))
    drawn = ParzenEstimator(space, observed).sample(500, np.random.default_rng(1))
    for vector in drawn:
        configuration = space.decode(vector)
        space.validate(configuration)
        np.testing.assert_array_equal(space.encode([configuration])[0], vector)
