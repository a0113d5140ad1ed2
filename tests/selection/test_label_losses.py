"""Losses of labels where classes are missing."""

import numpy as np
import pytest
from sklearn import metrics

from skauto.selection import (
    F1Loss,
)
from tests.selection.predictions import labels, make_predictions


@pytest.mark.parametrize("positive", [0, 1])
def test_binary_f1_of_either_class(positive):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    predictions = make_predictions(rng, 5, 50, 2)
    expected = [1 - metrics.f1_score(y, labels(p), pos_label=positive) for p in predictions]
    np.testing.assert_allclose(F1Loss(positive=positive)(y, predictions), expected)


def test_f1_without_a_true_or_predicted_positive_is_zero():
    predictions = np.array([[[0.9, 0.1], [0.8, 0.2]]])
    np.testing.assert_array_equal(F1Loss()([0, 0], predictions), [1.0])


def test_macro_f1_leaves_out_what_neither_occurs_nor_is_predicted():
    predictions = np.array(
        [[[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]], [[0.9, 0.1, 0.0], [0.0, 0.0, 1.0]]]
    )
    # as sklearn.metrics.f1_score without `labels`: two classes for the first, three for the second
    np.testing.assert_allclose(F1Loss("macro")([0, 1], predictions), [0.0, 2 / 3])
