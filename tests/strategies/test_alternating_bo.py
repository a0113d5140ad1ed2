"""Alternating Bayesian optimisation: several algorithms are improved, the good and cheap most."""

from collections import Counter

import numpy as np
import pytest

from skauto.history import History, Trial
from skauto.space import Real, SearchSpace
from skauto.strategies import AlternatingBO


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
    strategy.start(space, np.random.default_rng(0))
    return Counter(strategy.suggest(history).configuration["classifier"] for _ in range(n))


@pytest.mark.parametrize(
    "costs, shares",
    [
        ({"good": 1.0, "fair": 1.0, "poor": 1.0}, [6 / 11, 3 / 11, 2 / 11]),
        # the square root of a fourfold cost halves the share
        ({"good": 4.0, "fair": 1.0, "poor": 1.0}, [3 / 8, 3 / 8, 2 / 8]),
        # all below the least cost that counts
        ({"good": 0.05, "fair": 0.01, "poor": 0.001}, [6 / 11, 3 / 11, 2 / 11]),
    ],
)
def test_shares_follow_rank_and_cost(costs, shares):
    space = make_space()
    strategy = AlternatingBO(n_initial=5, n_candidates=30, n_starts=0, random_fraction=0.0)
    counts = proposed(strategy, space, make_history(space, costs), 200)
    observed = [counts[name] / 200 for name in ("good", "fair", "poor")]
    np.testing.assert_allclose(observed, shares, atol=0.09)


def test_seconds_do_not_count_where_no_time_limit_bounds_the_search():
    space = make_space()
    strategy = AlternatingBO(n_initial=5, n_candidates=30, n_starts=0, random_fraction=0.0)
    slow, fast = (dict.fromkeys(("good", "fair", "poor"), 1.0) | {"good": g} for g in (90.0, 0.2))
    one, other = (make_history(space, costs, time_limit=None) for costs in (slow, fast))
    assert proposed(strategy, space, one, 50) == proposed(strategy, space, other, 50)
    assert proposed(strategy, space, one, 50)["good"] > 20
