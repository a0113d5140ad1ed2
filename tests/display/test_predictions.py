"""Out-of-fold predictions of a fitted estimator."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from skauto.display._predictions import Predictions


def test_out_of_fold_predictions_are_calibrated(of_two, table_of_two):
    known = Predictions.out_of_fold(of_two)
    y = table_of_two[1][:200]
    ensemble = of_two._out_of_fold
    expected = of_two.ensemble_.decision_.scale(ensemble.predictions).astype(float)
    np.testing.assert_allclose(known.probabilities, expected, rtol=1e-6)
    np.testing.assert_array_equal(of_two.classes_[known.truth], y)
    found = of_two.report_dict()["probabilities"]["log_loss"]
    assert found == pytest.approx(
        log_loss(y, expected / expected.sum(axis=1, keepdims=True)), rel=1e-5
    )


def test_members_keep_their_out_of_fold_predictions_and_others_do_not(of_two):
    kept = {trial.number for trial in of_two.history_ if trial.predictions is not None}
    assert kept == set(of_two.member_weights_)
