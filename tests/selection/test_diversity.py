"""Diversity and disagreement against their definitions."""

import numpy as np
import pytest

from skauto.selection import pairwise_disagreement, pairwise_diversity
from skauto.selection._diversity import diversity_to, mean_over_pairs


def random_predictions(seed, n=5, n_samples=30, n_classes=3):
    return np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=(n, n_samples))


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_diversity_is_the_scaled_mean_distance(n_classes, dtype):
    predictions = random_predictions(0, n_classes=n_classes).astype(dtype)
    diversity = pairwise_diversity(predictions)
    for i, first in enumerate(predictions):
        for j, second in enumerate(predictions):
            rows = zip(first.astype(float), second.astype(float), strict=True)
            expected = np.sqrt(2) / 2 * np.mean([np.linalg.norm(a - b) for a, b in rows])
            assert diversity[i, j] == pytest.approx(expected, rel=1e-5)
    assert diversity.dtype == np.float64
    np.testing.assert_array_equal(diversity, diversity.T)
    assert not np.diagonal(diversity).any()
    np.testing.assert_array_equal(diversity_to(predictions[2], predictions), diversity[2])


def test_opposite_labels_are_as_diverse_as_can_be():
    one_hot = np.eye(3)[np.array([[0, 1, 2, 0], [1, 2, 0, 1]])]
    np.testing.assert_allclose(pairwise_diversity(one_hot), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(pairwise_disagreement(one_hot), [[0, 1], [1, 0]])


def test_of_one_hot_predictions_diversity_is_disagreement():
    predictions = np.eye(4)[np.random.default_rng(1).integers(0, 4, size=(6, 50))]
    np.testing.assert_allclose(pairwise_diversity(predictions), pairwise_disagreement(predictions))


def test_mean_over_pairs_leaves_out_the_diagonal():
    matrix = np.array([[0.0, 0.1, 0.2], [0.1, 0.0, 0.6], [0.2, 0.6, 0.0]])
    assert mean_over_pairs(matrix) == pytest.approx(0.3)
    assert mean_over_pairs(np.zeros((1, 1))) == 0.0
