"""Dominance and hypervolume against brute force and against moocore."""

import itertools

import numpy as np
import pytest

from skauto.utils._pareto import (
    hypervolume,
    non_dominated,
    running_hypervolume,
)

moocore = pytest.importorskip("moocore")


def _dominates(a, b):
    return bool(np.all(a <= b) and np.any(a < b))


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 4])
@pytest.mark.parametrize("levels", [4, 1000])
def test_non_dominated_is_the_definition(n_objectives, levels):
    rng = np.random.default_rng(n_objectives)
    points = rng.integers(levels, size=(60, n_objectives)) / levels
    points = np.vstack([points, points[:5]])  # copies
    expected = [not any(_dominates(q, p) for q in points) for p in points]
    np.testing.assert_array_equal(non_dominated(points), expected)
    np.testing.assert_array_equal(
        non_dominated(points), moocore.is_nondominated(points, keep_weakly=True)
    )


def test_failed_points_are_on_no_front():
    points = np.array([[np.inf, 0.0], [0.5, 0.5], [np.nan, 0.0], [0.6, 0.6], [-np.inf, 0.0]])
    np.testing.assert_array_equal(non_dominated(points), [False, True, False, False, False])
    assert hypervolume(points, [1.0, 1.0]) == 0.25


def test_no_points_at_all():
    assert non_dominated(np.empty((0, 2))).shape == (0,)
    assert hypervolume(np.empty((0, 2)), [1.0, 1.0]) == 0.0
    assert hypervolume([[np.inf, np.inf]], [1.0, 1.0]) == 0.0


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hypervolume_equals_moocore(n_objectives, seed):
    rng = np.random.default_rng(seed)
    directions = np.abs(rng.normal(size=(40 if n_objectives < 5 else 25, n_objectives)))
    points = 1.1 - directions / np.linalg.norm(directions, axis=1, keepdims=True)
    points = np.vstack([points, points[:3], rng.uniform(0.5, 1.6, size=(20, n_objectives))])
    reference = rng.uniform(1.0, 1.2, size=n_objectives)
    if n_objectives == 1:
        expected = reference[0] - points.min()
    else:
        expected = moocore.hypervolume(points, ref=reference)
    assert hypervolume(points, reference) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n_objectives", [2, 3])
def test_hypervolume_on_a_grid_is_a_count(n_objectives):
    # Integer points: the volume is the number of unit cells with a point below them.
    points = np.random.default_rng(5).integers(8, size=(6, n_objectives))
    cells = np.array(list(itertools.product(range(8), repeat=n_objectives)))
    count = sum(bool((points <= cell).all(axis=1).any()) for cell in cells)
    assert hypervolume(points, [8.0] * n_objectives) == count


@pytest.mark.parametrize("n_objectives", [1, 2, 3])
def test_the_running_hypervolume_is_that_of_every_beginning(n_objectives):
    points = np.random.default_rng(7).uniform(0.0, 1.3, size=(30, n_objectives))
    points[[4, 11]] = np.inf
    points[20] = points[3]
    reference = np.ones(n_objectives)
    expected = [hypervolume(points[: k + 1], reference) for k in range(len(points))]
    np.testing.assert_allclose(running_hypervolume(points, reference), expected, rtol=1e-12)


def test_points_outside_the_reference_add_nothing():
    inside = [[0.2, 0.4]]
    outside = [[0.1, 1.0], [2.0, 0.0], [0.0, 1.5]]
    assert hypervolume(inside + outside, [1.0, 1.0]) == hypervolume(inside, [1.0, 1.0])


def test_a_reference_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"one value for each of the 2 objectives"):
        hypervolume([[0.0, 0.0]], [1.0, 1.0, 1.0])
