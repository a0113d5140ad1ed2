"""Expected hypervolume improvement against its definition."""

import numpy as np
import pytest
from scipy.stats import norm

from skauto.acquisition._hypervolume import expected_hypervolume_improvement
from skauto.utils._pareto import hypervolume


def _front(n_points, n_objectives, seed=0):
    directions = np.abs(np.random.default_rng(seed).normal(size=(n_points, n_objectives)))
    return 1.0 - 0.8 * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _improvement_in_two(outcomes, front, reference):
    """Improvement of each outcome over a 2-D front, by the strips below it."""
    front = front[np.argsort(front[:, 0])]
    left = np.concatenate([[-np.inf], front[:, 0]])
    right = np.append(front[:, 0], reference[0])
    ceiling = np.concatenate([[reference[1]], front[:, 1]])
    total = np.zeros(len(outcomes))
    for a, b, c in zip(left, right, ceiling, strict=True):
        width = np.maximum(b - np.maximum(a, outcomes[:, 0]), 0.0)
        total += width * np.maximum(c - outcomes[:, 1], 0.0)
    return total


def test_strips_of_this_module_are_the_growth_of_the_hypervolume():
    front = np.array([[0.1, 0.7], [0.4, 0.5], [0.6, 0.2]])
    outcomes = np.random.default_rng(0).uniform(-0.2, 1.2, size=(50, 2))
    base = hypervolume(front, [1.0, 1.0])
    grown = [hypervolume(np.vstack([front, y]), [1.0, 1.0]) - base for y in outcomes]
    np.testing.assert_allclose(_improvement_in_two(outcomes, front, [1.0, 1.0]), grown, atol=1e-14)


@pytest.mark.parametrize(
    ("mean", "std"),
    [
        ((0.35, 0.35), (0.1, 0.1)),
        ((0.5, 0.45), (0.3, 0.02)),
        ((0.05, 0.9), (0.02, 0.2)),
        ((0.9, 0.9), (0.4, 0.4)),
        ((1.1, 0.2), (0.2, 0.1)),
    ],
)
def test_two_objectives_agree_with_a_million_draws_to_one_percent(mean, std):
    front = np.array([[0.1, 0.7], [0.4, 0.5], [0.6, 0.2]])
    outcomes = np.random.default_rng(1).normal(mean, std, size=(1_000_000, 2))
    drawn = _improvement_in_two(outcomes, front, [1.0, 1.0])
    noise = drawn.std() / np.sqrt(len(drawn))
    exact = expected_hypervolume_improvement([mean], [std], front, [1.0, 1.0])
    # Improvements that are rare events are not drawn to 1% even by a million draws.
    assert exact[0] == pytest.approx(drawn.mean(), rel=0.01, abs=4 * noise)


@pytest.mark.parametrize("mean", [(0.35, 0.02), (0.05, -0.1), (-0.2, 0.5)])
def test_nothing_is_gained_below_the_ideal(mean):
    front = np.array([[0.1, 0.7], [0.4, 0.5], [0.6, 0.2]])
    outcomes = np.random.default_rng(1).normal(mean, 0.2, size=(1_000_000, 2))
    drawn = _improvement_in_two(np.maximum(outcomes, 0.0), front, [1.0, 1.0])
    candidates = ([mean, mean], [[0.2, 0.2]] * 2, front, [1.0, 1.0])
    exact = expected_hypervolume_improvement(*candidates, ideal=0.0)
    assert exact[0] == pytest.approx(drawn.mean(), rel=0.01)
    first_only = np.column_stack([np.maximum(outcomes[:, 0], 0.0), outcomes[:, 1]])
    drawn = _improvement_in_two(first_only, front, [1.0, 1.0])
    exact = expected_hypervolume_improvement(*candidates, ideal=[0.0, -np.inf])
    assert exact[0] == pytest.approx(drawn.mean(), rel=0.01)


def test_the_monte_carlo_integral_knows_the_ideal():
    rng = np.random.default_rng(0)
    mean, std = np.full((1, 4), 0.1), np.full((1, 4), 0.2)
    front = np.full((1, 4), 0.5)
    kwargs = {"ideal": 0.0, "rng": rng, "n_draws": 200_000}
    value = expected_hypervolume_improvement(mean, std, front, np.ones(4), **kwargs)
    outcomes = np.maximum(rng.normal(mean, std, size=(200_000, 4)), 0.0)
    own = np.prod(np.maximum(1.0 - outcomes, 0.0), axis=1)
    shared = np.prod(np.maximum(1.0 - np.maximum(outcomes, 0.5), 0.0), axis=1)
    assert value[0] == pytest.approx((own - shared).mean(), rel=0.02)


def test_one_objective_is_the_expected_improvement():
    mean, std, best = np.array([0.2, 0.5, 0.9]), np.array([0.1, 0.2, 0.05]), 0.4
    z = (best - mean) / std
    closed_form = (best - mean) * norm.cdf(z) + std * norm.pdf(z)
    improvement = expected_hypervolume_improvement(
        mean[:, None], std[:, None], [[0.6], [best]], [1.0]
    )
    np.testing.assert_allclose(improvement, closed_form, rtol=1e-10)


@pytest.mark.parametrize("n_objectives", [1, 2, 3])
@pytest.mark.parametrize("n_points", [0, 1, 12])
def test_without_uncertainty_it_is_the_growth_of_the_hypervolume(n_objectives, n_points):
    front = _front(n_points, n_objectives)
    reference = np.ones(n_objectives)
    means = np.random.default_rng(2).uniform(-0.1, 1.1, size=(40, n_objectives))
    base = hypervolume(front, reference)
    grown = [hypervolume(np.vstack([front, mean]), reference) - base for mean in means]
    improvement = expected_hypervolume_improvement(means, np.zeros_like(means), front, reference)
    np.testing.assert_allclose(improvement, grown, atol=1e-12)


def test_three_objectives_agree_with_draws():
    moocore = pytest.importorskip("moocore")
    front, reference = _front(8, 3), np.ones(3)
    mean, std = np.array([0.35, 0.4, 0.45]), np.array([0.2, 0.1, 0.15])
    outcomes = np.random.default_rng(3).normal(mean, std, size=(600, 3))
    base = moocore.hypervolume(front, ref=reference)
    drawn = [moocore.hypervolume(np.vstack([front, y]), ref=reference) - base for y in outcomes]
    noise = np.std(drawn) / np.sqrt(len(drawn))
    exact = expected_hypervolume_improvement([mean], [std], front, reference)
    assert noise < 0.05 * exact[0]
    assert exact[0] == pytest.approx(np.mean(drawn), abs=4 * noise)


def test_the_monte_carlo_integral_agrees_with_the_growth_of_the_hypervolume():
    front, reference = _front(6, 4), np.ones(4)
    means = np.random.default_rng(4).uniform(0.2, 0.6, size=(5, 4))
    base = hypervolume(front, reference)
    grown = [hypervolume(np.vstack([front, mean]), reference) - base for mean in means]
    improvement = expected_hypervolume_improvement(
        means,
        np.zeros_like(means),
        front,
        reference,
        rng=np.random.default_rng(0),
        n_draws=400_000,
    )
    np.testing.assert_allclose(improvement, grown, rtol=0.03, atol=1e-4)


def test_the_monte_carlo_integral_knows_the_uncertainty():
    # Far from any front the expectation is the product of the expected distances.
    mean, std = np.array([[0.5, 0.6, 0.4, 0.3]]), np.array([[0.1, 0.2, 0.05, 0.1]])
    z = (1.0 - mean) / std
    expected = np.prod((1.0 - mean) * norm.cdf(z) + std * norm.pdf(z))
    drawn = expected_hypervolume_improvement(
        mean, std, np.empty((0, 4)), np.ones(4), rng=np.random.default_rng(0), n_draws=400_000
    )
    assert drawn[0] == pytest.approx(expected, rel=0.02)


def test_dominated_and_failed_losses_in_the_front_change_nothing():
    front = _front(5, 2)
    mean, std = [[0.4, 0.4]], [[0.1, 0.1]]
    clean = expected_hypervolume_improvement(mean, std, front, [1.0, 1.0])
    littered = np.vstack([front, front + 0.05, [[np.inf, np.inf], [2.0, 0.0]]])
    again = expected_hypervolume_improvement(mean, std, littered, [1.0, 1.0])
    np.testing.assert_array_equal(again, clean)


def test_candidates_in_several_chunks_are_the_same(monkeypatch):
    means = np.random.default_rng(5).uniform(size=(100, 2))
    stds = np.full_like(means, 0.1)
    whole = expected_hypervolume_improvement(means, stds, _front(9, 2), [1.0, 1.0])
    monkeypatch.setattr("skauto.acquisition._hypervolume._CHUNK", 64)
    pieces = expected_hypervolume_improvement(means, stds, _front(9, 2), [1.0, 1.0])
    np.testing.assert_allclose(pieces, whole, rtol=1e-12)


def test_more_than_three_objectives_need_a_generator():
    with pytest.raises(ValueError, match="rng must be a numpy.random.Generator for 4"):
        expected_hypervolume_improvement(
            np.ones((1, 4)), np.ones((1, 4)), np.empty((0, 4)), np.ones(4)
        )
