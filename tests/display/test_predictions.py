"""Out-of-fold predictions of a fitted estimator."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from skauto.display._predictions import LabeledPredictions, name_of_classes
from skauto.exceptions import RowsOfFitWarning
from tests.display.report.customers import search


def test_out_of_fold_predictions_are_calibrated(of_two, table_of_two):
    known = LabeledPredictions.out_of_fold(of_two)
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


def test_rows_of_fit_are_recognized_in_any_order(rng):
    """Also parts of them; new rows are not, though some are equal to rows of fit by chance."""
    X = pd.DataFrame({"size": rng.integers(0, 40, 600), "city": rng.choice(list("abcde"), 600)})
    X["bought"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(X["size"] // 2, unit="D")
    y = np.where(X["size"] + rng.normal(scale=20, size=600) > 20, "yes", "no")
    clf = search(X[:400], y[:400])
    score = clf.ensemble_score_
    for rows in (np.arange(400), rng.permutation(400)[:50]):
        with pytest.warns(RowsOfFitWarning, match="100% of them. The report is as without"):
            report = clf.report_dict(X=X.iloc[rows], y=y[rows])
        assert report["verdict"]["score"] == score
        assert report["verdict"]["measured_on"] == "out-of-fold predictions"
        assert report["data"]["n_held_out_rows"] == 0
        with pytest.warns(RowsOfFitWarning, match="Their scores are too high"):
            clf.score_report(X.iloc[rows], y[rows])
    chance = X[400:].merge(X[:400].drop_duplicates()).shape[0]
    assert 0.5 < chance / 200 < 1.0
    with warnings.catch_warnings(action="error", category=RowsOfFitWarning):
        report = clf.report_dict(X=X[400:], y=y[400:])
    assert report["data"]["n_held_out_rows"] == 200


def test_classes_have_the_name_of_their_series_or_column():
    y = pd.Series([0, 1], name="churn")
    assert name_of_classes(y) == name_of_classes(y.to_frame()) == "churn"
    assert name_of_classes(y.to_frame("name")) == "name"
    assert name_of_classes(y.to_numpy()) is None
