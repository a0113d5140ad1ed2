"""The pool that is kept up equals selection from scratch."""

import numpy as np
import pytest

from skauto.selection import (
    EnsemblePool,
    ErrorLoss,
    LogLoss,
    RocAucLoss,
    SmoothedLoss,
    greedy_selection,
)

LOSSES = [ErrorLoss(), LogLoss(), RocAucLoss(), SmoothedLoss(ErrorLoss())]


def make_problem(seed, n_candidates=30, n_samples=40, n_classes=2, steps=None):
    """Labels and probabilities that lean to them; `steps` puts them on a grid, so they tie."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_samples - n_classes)])
    noise = rng.dirichlet(np.ones(n_classes), size=(n_candidates, n_samples))
    strength = rng.uniform(0.1, 0.5, size=(n_candidates, 1, 1))
    predictions = strength * np.eye(n_classes)[y] + (1 - strength) * noise
    if steps is not None:
        first = np.round(predictions[..., :1] * steps) / steps
        predictions = np.concatenate([first, 1 - first], axis=-1)
    return y, predictions.astype(np.float32)


def assert_same(selection, expected):
    np.testing.assert_array_equal(selection.indices, expected.indices)
    np.testing.assert_array_equal(selection.weights, expected.weights)
    np.testing.assert_allclose(selection.losses, expected.losses, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("steps", [None, 2])
@pytest.mark.parametrize("seed", range(3))
def test_equals_selection_from_scratch_after_every_candidate(loss, steps, seed):
    y, predictions = make_problem(seed, steps=steps)
    pool = EnsemblePool(y, loss, n_members=8)
    for n, prediction in enumerate(predictions, start=1):
        before = pool.selection.indices
        changed = pool.add(prediction)
        expected = greedy_selection(predictions[:n], y, loss, 8)
        assert_same(pool.selection, expected)
        assert changed == (not np.array_equal(before, expected.indices))
    assert len(pool) == 30
    np.testing.assert_array_equal(pool.members, np.unique(expected.indices))


def test_several_classes():
    y, predictions = make_problem(4, n_classes=4)
    pool = EnsemblePool(y, LogLoss())
    for prediction in predictions:
        pool.add(prediction)
    assert_same(pool.selection, greedy_selection(predictions, y, LogLoss(), 25))


def test_a_candidate_like_another_changes_nothing():
    y, predictions = make_problem(5)
    pool = EnsemblePool(y, ErrorLoss())
    for prediction in predictions:
        pool.add(prediction)
    n_updates = pool.n_updates
    assert not pool.add(predictions[pool.members[0]])
    assert pool.n_updates == n_updates


def test_what_stays_is_not_computed_again():
    evaluated = []

    class Counting(LogLoss):
        def evaluate(self, y, projections, sample_weight=None):
            evaluated.append(len(projections))
            return super().evaluate(y, projections, sample_weight)

    y, predictions = make_problem(6)
    pool = EnsemblePool(y, Counting(), n_members=10)
    for prediction in predictions:
        pool.add(prediction)
    evaluated.clear()
    assert not pool.add(1 - predictions[pool.members[0]])  # wrong throughout
    assert evaluated == [1] * 10


def test_an_empty_pool_has_no_members():
    pool = EnsemblePool([0, 1], LogLoss())
    assert len(pool.members) == len(pool.selection.indices) == len(pool) == 0


def test_missing_predictions_are_refused():
    pool = EnsemblePool([0, 1], LogLoss())
    with pytest.raises(ValueError, match="must be finite"):
        pool.add(np.array([[0.5, 0.5], [np.nan, np.nan]]))
