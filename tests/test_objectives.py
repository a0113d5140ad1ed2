"""The artificial objective against its definition."""

import pickle

import numpy as np
import pytest

from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.space import Configuration, SearchSpace
from tests.strategies.search_loop import rich_space


def test_equals_the_printed_recursion():
    space = SearchSpace(["first", "second"])
    space.add("first", "bare")
    space.add("second", "tuned", parameters={"a": [0, 1], "b": [0, 1, 2, 3]})
    objective = make_artificial_objective(space, seed=3)
    rng = np.random.default_rng(3)
    w_first, e_first = rng.standard_normal(1), rng.standard_normal(10)
    w_second, e_second = rng.standard_normal(2), rng.standard_normal(10)
    theta = np.array([0.75, 0.125])  # a=1 and b=0 on the unit scale
    f_1 = np.abs(0 + abs(w_first[0]) * e_first).max()
    f_2 = np.abs(f_1 + abs(w_second @ theta / theta.sum()) * e_second).max()
    configuration = Configuration({"first": "bare", "second": ("tuned", {"a": 1, "b": 0})})
    assert objective(configuration) == pytest.approx(f_2, rel=1e-9)


def test_depends_on_the_chosen_algorithms_and_their_active_parameters_alone():
    space = rich_space()
    objective = make_artificial_objective(space)
    losses = [objective(space.decode(v)) for v in space.sample(100, np.random.default_rng(0))]
    assert np.isfinite(losses).all() and min(losses) >= 0
    assert len(set(np.round(losses, 9))) > 30
    default = space.default()
    assert objective(default) == objective(Configuration.from_dict(default.to_dict()))


def test_small_steps_change_it_little():
    space = make_artificial_space(n_steps=1, n_algorithms=1, n_continuous=1, n_integers=1)
    objective = make_artificial_objective(space)
    points = np.linspace(0, 1, 2001)
    losses = [
        objective(Configuration({"step_0": ("algorithm_0", {"real_0": u, "integer_0": 10})}))
        for u in points.tolist()
    ]
    assert np.abs(np.diff(losses)).max() < 0.02
    assert np.ptp(losses) > 0.1


def test_seed_decides_and_it_pickles():
    space = make_artificial_space(n_steps=2)
    first, same, other = (make_artificial_objective(space, seed) for seed in (1, 1, 2))
    configurations = [space.decode(v) for v in space.sample(5, np.random.default_rng(0))]
    values = [first(c) for c in configurations]
    assert values == [same(c) for c in configurations]
    assert values != [other(c) for c in configurations]
    assert values == [pickle.loads(pickle.dumps(first))(c) for c in configurations]


def test_shape_of_the_artificial_space():
    space = make_artificial_space(n_steps=2, n_algorithms=3, n_continuous=1, n_integers=4)
    assert len(space.structures) == 9
    assert space.n_dimensions == 2 + 2 * 3 * 5
