"""Alternating Bayesian optimization: several algorithms are improved, the good and cheap most."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from skauto.history import History, Trial
from skauto.space import Real, SearchSpace
from skauto.strategies import AlternatingBO, get_strategy


def make_space():
    space = SearchSpace(["classifier"])
    for name in ("good", "fair", "poor"):
        space.add("classifier", name, None, {"x": Real(0.0, 1.0)})
    return space


def make_history(space, costs, time_limit=60.0):
    """Five trials of each algorithm, whose losses do not overlap."""
    history = History(time_limit=time_limit)
    rng = np.random.default_rng(0)
    for offset, name in enumerate(("good", "fair", "poor")):
        for vector in space.sample(5, rng, structures=np.array([[offset]])):
            history.append(
                Trial(
                    number=len(history),
                    configuration=space.decode(vector),
                    losses=(0.1 + 0.2 * offset + 0.1 * rng.random(),),
                    cost=costs[name],
                )
            )
    return history


def proposed(strategy, space, history, n):
    """Algorithms that the search is confined to, n times."""
    strategy.start(space, np.random.default_rng(0))
    names = [component.name for component in space.components("classifier")]
    observations = strategy.observations(history)
    return Counter(names[strategy._sample_algorithm(observations, history)] for _ in range(n))


def test_proposals_have_the_algorithm_that_was_drawn():
    space = make_space()
    history = make_history(space, dict.fromkeys(("good", "fair", "poor"), 1.0))
    strategy = AlternatingBO(n_initial=5, n_candidates=30, random_fraction=0.0)
    strategy.start(space, np.random.default_rng(0))
    strategy._sample_algorithm = lambda observations, history: 2
    assert strategy.ask(history).configuration["classifier"] == "poor"


@pytest.mark.parametrize(
    "costs, shares",
    [
        ({"good": 1.0, "fair": 1.0, "poor": 1.0}, [6 / 11, 3 / 11, 2 / 11]),
        # the square root of a fourfold cost halves the share
        ({"good": 4.0, "fair": 1.0, "poor": 1.0}, [3 / 8, 3 / 8, 2 / 8]),
        # all below the least cost that counts
        ({"good": 0.5, "fair": 0.1, "poor": 0.01}, [6 / 11, 3 / 11, 2 / 11]),
    ],
)
def test_shares_follow_rank_and_cost(costs, shares):
    space = make_space()
    strategy = AlternatingBO(n_initial=5, n_candidates=30, n_starts=0, random_fraction=0.0)
    counts = proposed(strategy, space, make_history(space, costs), 2000)
    observed = [counts[name] / 2000 for name in ("good", "fair", "poor")]
    np.testing.assert_allclose(observed, shares, atol=0.04)


def test_seconds_do_not_count_where_no_time_limit_bounds_the_search():
    space = make_space()
    strategy = AlternatingBO(n_initial=5, n_candidates=30, n_starts=0, random_fraction=0.0)
    slow, fast = (dict.fromkeys(("good", "fair", "poor"), 1.0) | {"good": g} for g in (90.0, 0.2))
    one, other = (make_history(space, costs, time_limit=None) for costs in (slow, fast))
    assert proposed(strategy, space, one, 50) == proposed(strategy, space, other, 50)
    assert proposed(strategy, space, one, 50)["good"] > 20


@pytest.mark.parametrize("name", ["alternating_bo", "flash", "mosaic", "rising_bandit"])
def test_spaces_of_too_many_structures_are_refused_at_the_start(name):
    space = SearchSpace([f"step {i}" for i in range(8)])
    for step, j in product(space.steps, range(12)):
        space.add(step, f"{step}, {j}")
    with pytest.raises(ValueError, match="structures, too many to list; .* 'forest_bo'"):
        get_strategy(name).start(space, np.random.default_rng(0))
    strategy = get_strategy("forest_bo").start(space, np.random.default_rng(0))
    assert strategy.ask(History(max_evals=10)).configuration == space.default()
