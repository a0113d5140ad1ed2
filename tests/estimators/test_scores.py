"""The scores of a fitted estimator: those of the ensemble that predicts, beside a guess."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import FalseNegativeRate
from skauto.exceptions import BudgetWarning, NoBetterThanGuessingWarning
from tests.selection.scored import fit


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    ("scoring", "metric"),
    [
        (None, lambda y, p: accuracy_score(y, p[:, 1] > 0.5)),
        ("neg_log_loss", lambda y, p: -log_loss(y, p)),
        ("roc_auc", lambda y, p: roc_auc_score(y, p[:, 1])),
    ],
)
def test_the_score_is_that_of_the_out_of_fold_predictions_of_the_ensemble(cancer, scoring, metric):
    X, y = cancer
    clf = fit(X, y, scoring=scoring)
    known = clf.out_of_fold_proba_
    assert known.shape == (len(y), 2)
    np.testing.assert_allclose(known.sum(axis=1), 1.0, atol=1e-6)
    assert clf.ensemble_score_ == pytest.approx(metric(y, known), abs=1e-6)
    shares = DummyClassifier(strategy="prior").fit(X, y).predict_proba(X)
    assert clf.majority_score_ == pytest.approx(metric(y, shares))
    low, high = clf.ensemble_score_interval_
    assert low < clf.ensemble_score_ < high


def test_labels_of_the_score_are_those_of_the_decision():
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.zeros(400, dtype=int)
    y[X[:, 0] + np.random.default_rng(1).normal(size=400) > 1.8] = 1
    clf = fit(X, y, scoring="f1")
    labels = clf.out_of_fold_proba_[:, 1] >= clf.decision_threshold_
    assert clf.decision_threshold_ != 0.5
    assert clf.ensemble_score_ == pytest.approx(f1_score(y, labels))


def test_rows_without_a_prediction_are_nan_in_the_order_of_the_table(cancer):
    X, y = cancer
    weight = np.ones(len(y))
    weight[::3] = 0.0
    clf = fit(X, y, cv=0.5, sample_weight=weight)
    known = ~np.isnan(clf.out_of_fold_proba_[:, 0])
    assert not known[::3].any()
    assert known.sum() == pytest.approx(weight.sum() / 2, abs=2)
    right = clf.out_of_fold_proba_[known].argmax(axis=1) == y[known]
    assert right.mean() == pytest.approx(clf.ensemble_score_)
    assert right.mean() > 0.8  # of these rows, not of others


def test_held_out_scores_stand_beside_those_of_the_folds(cancer):
    X, y = cancer
    clf = fit(X[::2], y[::2])
    report = clf.score_report(X[1::2], y[1::2])
    assert list(report.index) == ["ensemble", "best pipeline", "majority class"]
    assert report.loc["ensemble", "score"] == clf.ensemble_score_
    assert report.loc["ensemble", "held_out"] == clf.score(X[1::2], y[1::2])
    assert report.loc["best pipeline", "held_out"] == clf.best_estimator_.score(X[1::2], y[1::2])
    guess = DummyClassifier().fit(X[::2], y[::2])
    assert report.loc["majority class", "held_out"] == guess.score(X[1::2], y[1::2])
    assert (report["held_out_low"] <= report["held_out"]).all()
    assert list(clf.score_report().columns) == ["score", "low", "high"]
    pd.testing.assert_frame_equal(clf.score_report(X[1::2], y[1::2, None]), report)
    with pytest.raises(ValueError, match=r"classes of fit, \[0, 1\]. Got '0'"):
        clf.score_report(X[1::2], y[1::2].astype(str))
    with pytest.raises(ValueError, match="both of 'X' and 'y'.*only X"):
        clf.score_report(X)


def test_a_scorer_that_reads_the_table_gets_its_rows(cancer):
    X, y = cancer

    def where_small(estimator, X, y):
        rows = X[:, 0] < np.median(cancer[0][:, 0])
        return float((estimator.predict(X) == y)[rows].mean())

    clf = fit(X, y, scoring=where_small)
    rows = X[:, 0] < np.median(X[:, 0])
    right = clf.out_of_fold_proba_.argmax(axis=1) == y
    assert clf.ensemble_score_ == pytest.approx(right[rows].mean())


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_a_model_of_noise_is_no_better_than_guessing(scoring):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(400, 3)), (rng.random(400) < 0.07).astype(int)
    with pytest.warns(NoBetterThanGuessingWarning, match=r"most frequent class.*roc_auc"):
        fit(X, y, scoring=scoring)


@pytest.mark.parametrize("scoring", ["f1", "f1_macro"])
def test_labels_of_noise_are_no_better_than_the_same_in_random_order(scoring):
    """Always answering the rare class has an F1 of .13, the majority class one of 0."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(400, 3)), (rng.random(400) < 0.07).astype(int)
    with pytest.warns(NoBetterThanGuessingWarning, match="the same answers in random order"):
        clf = fit(X, y, scoring=scoring)
    assert clf.ensemble_score_ > clf.majority_score_
    assert clf.score_report().index.tolist() == ["ensemble", "best pipeline", "majority class"]


def test_numbers_of_a_regression_are_named():
    rng = np.random.default_rng(0)
    with pytest.warns(NoBetterThanGuessingWarning, match=r"50 different numbers.*regress"):
        fit(rng.normal(size=(200, 2)), rng.permutation(np.repeat(np.arange(50), 4)))


def test_limits_that_force_the_labels_are_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + 1.5 * rng.normal(size=400) > 0).astype(int)
    clf = ConstrainedAutoClassifier([FalseNegativeRate(0.005)], max_evals=2, cv=3, random_state=0)
    with pytest.warns(NoBetterThanGuessingWarning, match="'false_negative_rate' are the cause"):
        clf.fit(X, y)


def test_a_useful_model_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoBetterThanGuessingWarning)
        fit(*load_iris(return_X_y=True))


def test_without_a_fitted_pipeline_there_is_no_score(cancer):
    with pytest.warns(BudgetWarning):
        clf = AutoClassifier(time_limit=1e-3, random_state=0).fit(*cancer)
    assert np.isnan(clf.ensemble_score_)
    assert np.isnan(clf.out_of_fold_proba_).all()
    assert clf.out_of_fold_proba_.shape[1] == 2
