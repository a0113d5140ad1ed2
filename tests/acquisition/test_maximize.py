"""Maximizers of acquisitions over search spaces."""

import numpy as np
import pytest

from skauto.acquisition import maximize_acquisition
from skauto.acquisition._maximize import local_search
from skauto.space import Real, SearchSpace


@pytest.fixture
def grid():
    """Two steps of three algorithms with two categoricals each: 36 ** 2 configurations."""
    space = SearchSpace(["a", "b"])
    for step in space.steps:
        for name in ("one", "two", "three"):
            space.add(step, name, None, {"p": [1, 2, 3, 4], "q": [1, 2, 3]})
    return space


def additive(space, seed):
    """A function without interactions, which hill climbing over single changes maximizes."""
    width = space.one_hot(space.default_vector()[None]).shape[1]
    weights = np.random.default_rng(seed).integers(1000, size=width).astype(float)
    return lambda vectors: space.one_hot(vectors) @ weights


def test_local_search_climbs_to_the_best_neighbor(grid):
    acquisition = additive(grid, 0)
    start = grid.default_vector()[None]
    rng = np.random.default_rng(0)
    _, one_round = local_search(acquisition, grid, start, acquisition(start), rng, n_rounds=1)
    # All neighbors are categorical changes here: no randomness, so they are the same again.
    neighbors = grid.neighbors(start[0], rng)
    np.testing.assert_array_equal(np.sort(one_round), np.sort(acquisition(neighbors)))
    _, values = local_search(acquisition, grid, start, acquisition(start), rng, n_rounds=20)
    climbed = neighbors[acquisition(neighbors).argmax()]
    for _ in range(20):
        around = grid.neighbors(climbed, rng)
        if acquisition(around).max() <= acquisition(climbed[None])[0]:
            break
        climbed = around[acquisition(around).argmax()]
    assert values.max() == acquisition(climbed[None])[0]


def test_local_search_stops_on_a_plateau(grid):
    calls = []

    def flat(vectors):
        calls.append(len(vectors))
        return np.zeros(len(vectors))

    start = grid.default_vector()[None]
    local_search(flat, grid, start, np.zeros(1), np.random.default_rng(0), n_rounds=50)
    assert len(calls) == 1


@pytest.mark.parametrize("lowest, share_near", [(0.0, 0.3), (0.1, 0.55)])
def test_the_best_candidate_on_a_plateau_is_random(lowest, share_near):
    """It is near to a start if the acquisition tells candidates apart, else anywhere."""
    space = SearchSpace().add("classifier", "one", None, {"x": Real(0, 1)})
    settings = {"starts": space.default_vector()[None], "n_random": 100, "n_random_starts": 0}

    def plateau(vectors):
        return 1.0 * (vectors[:, 1] >= lowest)

    found = [
        maximize_acquisition(plateau, space, np.random.default_rng(seed), **settings)[0][0, 1]
        for seed in range(200)
    ]
    assert 0.4 < np.mean(np.array(found) < 0.5) < 0.6
    near = np.mean(np.abs(np.array(found) - 0.5) < 0.15)
    assert near == pytest.approx(share_near, abs=0.12)


def test_local_search_moves_to_a_random_one_of_the_best_neighbors():
    space = SearchSpace().add("classifier", "one", None, {"x": [0, 1, 2, 3, 4]})
    start = space.default_vector()[None]
    chosen = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        step = {"acquisition": lambda v: 1.0 * (v[:, 1] != start[0, 1]), "rng": rng}
        seen, _ = local_search(space=space, starts=start, values=np.zeros(1), **step)
        first, second = set(seen[:4, 1]), set(seen[4:, 1])
        chosen += first - second  # all but the current point are neighbors
    _, counts = np.unique(chosen, return_counts=True)
    assert len(counts) == 4 and counts.sum() == 200 and counts.min() > 30


def test_local_search_without_neighbors_gives_nothing():
    space = SearchSpace().add("classifier", "only")
    start = space.default_vector()[None]
    vectors, values = local_search(
        lambda v: np.zeros(len(v)), space, start, np.zeros(1), np.random.default_rng(0)
    )
    assert vectors.shape == (0, space.n_dimensions) and values.shape == (0,)


def test_maximize_is_sorted_and_at_least_as_good_as_random(grid):
    acquisition = additive(grid, 1)
    starts = grid.sample(3, np.random.default_rng(5))
    vectors, values = maximize_acquisition(
        acquisition, grid, np.random.default_rng(0), starts=starts, n_random=50, n_random_starts=2
    )
    np.testing.assert_array_equal(values, acquisition(vectors))
    assert (np.diff(values) <= 0).all()
    random = acquisition(grid.sample(50, np.random.default_rng(0)))
    assert values[0] >= random.max()
    everything = acquisition(grid.sample(20_000, np.random.default_rng(7)))
    assert values[0] == pytest.approx(everything.max())
