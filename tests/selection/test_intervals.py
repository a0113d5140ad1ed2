"""Intervals of the scores of an estimator, against those of a binomial."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, make_scorer

from skauto.selection._intervals import Answers, Truth, interval_of, score_models
from skauto.selection._label_losses import ErrorLoss
from tests.selection.scored import fit


def test_the_interval_of_the_accuracy_is_that_of_a_binomial():
    X, y = load_breast_cancer(return_X_y=True)
    clf = fit(X, y)
    low, high = clf.ensemble_score_interval_
    p, n = clf.ensemble_score_, len(y)
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(p * (1 - p) / n), rel=0.25)


def test_without_an_error_the_interval_is_that_of_a_binomial():
    """Resamples of right answers would say that no error is possible."""
    X = np.arange(200.0)[:, None]
    clf = fit(X, X[:, 0] >= 100, initial="defaults")
    low, high = clf.ensemble_score_interval_
    assert (clf.ensemble_score_, high) == (1.0, 1.0)
    assert low**200 == pytest.approx(0.025)


@pytest.mark.parametrize("right", [True, False])
def test_answers_that_are_all_right_or_all_wrong_have_the_exact_interval(right):
    y = np.repeat([0, 1], 10)
    labels = y if right else 1 - y
    models = {"ensemble": Answers(np.eye(2)[labels], labels)}
    score = score_models(make_scorer(accuracy_score), ErrorLoss(), models, Truth(y, np.arange(2)))
    least = 0.025 ** (1 / 20)
    expected = (1.0, least, 1.0) if right else (0.0, 0.0, 1.0 - least)
    assert score["ensemble"] == pytest.approx(expected)


def test_a_bound_at_zero_is_not_negative():
    deviations = np.full(3, -(0.1 + 0.2))  # by the error of the floats more than 0.3
    assert interval_of(0.3, deviations) == (0.3, 0.0, 0.0)


def test_the_interval_of_many_rows_is_that_of_all_of_them(rng):
    X = rng.normal(size=(20_000, 2))
    y = (X[:, 0] + rng.normal(size=20_000) > 0).astype(int)
    clf = fit(X, y, max_evals=1, cv=0.9, initial="defaults")
    low, high = clf.ensemble_score_interval_
    p, n = clf.ensemble_score_, 18_000
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(p * (1 - p) / n), rel=0.25)
