import numpy as np
import pytest

from skauto.space import SearchSpace
from skauto.strategies._bandit import ThompsonSampling, continuous_reward


def make_space():
    """Three algorithms, then four; two pairs are forbidden."""
    space = SearchSpace(["a", "b"])
    for step, n in (("a", 3), ("b", 4)):
        for j in range(n):
            space.add(step, f"{step}{j}")
    return space.forbid({"a": "a0"}, {"b": "b0"}).forbid({"a": "a2"}, {"b": "b3"})


SPACE = make_space()
STRUCTURES = SPACE.structures


def test_pull_maximizes_the_sum_over_legal_structures():
    rng = np.random.default_rng(0)
    bandit = ThompsonSampling(SPACE)
    for _ in range(200):
        omegas = [rng.random(3), rng.random(4)]
        expected = max(STRUCTURES, key=lambda z: omegas[0][z[0]] + omegas[1][z[1]])
        np.testing.assert_array_equal(bandit._best(omegas), expected)


def test_rewards_count_for_the_pulled_arms_alone():
    bandit = ThompsonSampling(SPACE)
    rng = np.random.default_rng(0)
    bandit.reward(np.array([1, 2]), 1.0, rng)
    bandit.reward(np.array([1, 3]), 0.0, rng)
    np.testing.assert_array_equal(bandit.pulls[0], [0, 2, 0])
    np.testing.assert_array_equal(bandit.rewards[0], [0, 1, 0])
    np.testing.assert_array_equal(bandit.pulls[1], [0, 0, 1, 1])
    np.testing.assert_array_equal(bandit.rewards[1], [0, 0, 1, 0])


def test_binary_rewards_have_the_continuous_one_as_their_mean():
    bandit, rng = ThompsonSampling(SPACE), np.random.default_rng(0)
    for _ in range(4000):
        bandit.reward(np.array([0, 1]), 0.3, rng)
    assert bandit.rewards[0][0] / 4000 == pytest.approx(0.3, abs=0.03)


def test_pulls_concentrate_on_the_best_arms():
    means = [np.array([0.2, 0.8, 0.3]), np.array([0.1, 0.2, 0.9, 0.1])]
    bandit, rng = ThompsonSampling(SPACE), np.random.default_rng(0)
    pulls = []
    for _ in range(1500):
        structure = bandit.pull(rng)
        pulls.append(tuple(structure))
        chance = (means[0][structure[0]] + means[1][structure[1]]) / 2
        bandit.reward(structure, chance, rng)
    assert np.mean([pull == (1, 2) for pull in pulls[-300:]]) > 0.8
    assert np.mean([pull == (1, 2) for pull in pulls[:100]]) < 0.5


def test_prior_alone_draws_every_legal_structure():
    bandit, rng = ThompsonSampling(SPACE), np.random.default_rng(0)
    drawn = {tuple(bandit.pull(rng)) for _ in range(500)}
    assert drawn == {tuple(z) for z in STRUCTURES}


@pytest.mark.parametrize(
    ("loss", "reward"), [(-1.0, 1.0), (0.0, 1.0), (0.35, 0.5), (0.7, 0.0), (np.inf, 0.0)]
)
def test_continuous_reward(loss, reward):
    assert continuous_reward(loss, 0.0, 0.7) == pytest.approx(reward)


@pytest.mark.parametrize(("loss", "reward"), [(1e30, 1.0), (2e30, 0.0)])
def test_the_reward_of_losses_that_absorb_their_distance(loss, reward):
    assert continuous_reward(loss, 1e30, 1e30 + 2.0) == reward
