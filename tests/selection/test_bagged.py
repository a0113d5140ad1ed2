"""Bagged ensemble selection."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from skauto.selection import LogLoss, RocAucLoss, greedy_selection
from skauto.selection._bagged import bagged_selection
from tests.selection.predictions import make_predictions


def noisy(n_candidates, n_rows, rng, noise=1.0):
    """Predictions of candidates that are right up to independent errors, and the classes."""
    y = rng.integers(2, size=n_rows)
    logits = 2 * y - 1 + noise * rng.normal(size=(n_candidates, n_rows))
    positive = 1 / (1 + np.exp(-logits))
    return np.stack([1 - positive, positive], axis=2), y


def both(predictions, y, loss, n_members=25, **settings):
    plain = greedy_selection(predictions, y, loss, n_members).weights
    return plain, bagged_selection(predictions, y, loss, plain, n_members, **settings)


@pytest.mark.parametrize("n_candidates, n_members, most", [(1, 25, 1), (3, 25, 3), (20, 25, 8)])
def test_weights_sum_to_one_and_few_remain(n_candidates, n_members, most, rng):
    predictions, y = noisy(n_candidates, 200, rng)
    _, weights = both(predictions, y, RocAucLoss(), n_members)
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0.0
    assert (weights > 0).sum() == most


def test_they_are_the_mean_of_selections_among_random_candidates(rng):
    predictions, y = noisy(6, 100, rng)
    _, weights = both(predictions, y, LogLoss(), 10)
    again, mean = np.random.default_rng(0), np.zeros(6)
    for _ in range(20):
        drawn = again.permutation(6)[:4]
        mean[drawn] += greedy_selection(predictions[drawn], y, LogLoss(), 5).weights / 20
    np.testing.assert_allclose(weights, mean)


def test_a_candidate_that_is_much_better_is_not_diluted(rng):
    predictions, y = noisy(8, 300, rng, noise=3.0)
    predictions[5] = np.where(np.eye(2)[y] > 0, 0.95, 0.05)
    plain, weights = both(predictions, y, LogLoss())
    assert weights is plain
    assert weights[5] == 1.0


def test_new_rows_are_predicted_better_than_by_one_selection(rng):
    """Of 30 tables with 100 rows, most are, and the mean log loss is lower."""
    gains = []
    for _ in range(30):
        predictions, y = noisy(20, 1100, rng, noise=2.0)
        ensembles = both(predictions[:, :100], y[:100], LogLoss())
        losses = [log_loss(y[100:], np.tensordot(w, predictions[:, 100:], 1)) for w in ensembles]
        gains.append(losses[0] - losses[1])
    assert np.mean(gains) > 0
    assert np.mean(np.array(gains) > 0) > 0.6


def test_a_row_of_weight_zero_is_no_row(rng):
    predictions, y = make_predictions(rng, 6, 60, 2), rng.integers(2, size=60)
    weight = np.where(np.arange(60) < 20, 0.0, 1.0)
    plain = greedy_selection(predictions, y, LogLoss(), sample_weight=weight).weights
    weighted = bagged_selection(predictions, y, LogLoss(), plain, sample_weight=weight)
    shorter = bagged_selection(predictions[:, 20:], y[20:], LogLoss(), plain)
    np.testing.assert_allclose(weighted, shorter)
