"""The verdict."""

import numpy as np
import pytest

from skauto.display._predictions import LabeledPredictions
from skauto.exceptions import NoBetterThanGuessingWarning
from tests.display.report.customers import held_out, search


def test_the_verdict_without_rows_is_that_of_the_attributes(fitted):
    verdict = fitted.report_dict()["verdict"]
    assert verdict["score"] == fitted.ensemble_score_
    assert (verdict["low"], verdict["high"]) == fitted.ensemble_score_interval_
    assert verdict["majority_score"] == fitted.majority_score_
    assert verdict["measured_on"] == "out-of-fold predictions"
    low, high = fitted.ensemble_score_interval_
    assert verdict["sentence"] == (
        f"On new rows, expect {fitted.ensemble_score_:.0%} right, {100 * low:.0f} to {high:.0%}; "
        f"always answering '{verdict['majority_class']}' would be right in "
        f"{fitted.majority_score_:.0%}."
    )


def test_the_verdict_with_rows_is_that_of_the_rows(fitted, customers):
    rows = held_out(customers)
    report = fitted.report_dict(**rows)
    scores = fitted.score_report(**rows).loc["ensemble"]
    verdict = report["verdict"]
    assert verdict["score"] == pytest.approx(fitted.score(**rows))
    assert verdict["score"] == scores["held_out"]
    assert (verdict["low"], verdict["high"]) == (scores["held_out_low"], scores["held_out_high"])
    assert verdict["n_rows"] == 200
    assert report["data"]["target"] == "renews"
    assert report["data"]["n_rows"] == 400


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ("balanced_accuracy", "of the rows of a class right, on average over the classes"),
        ("roc_auc", "a row of class 'yes' to get a higher probability than a row of class 'no'"),
        ("f1_macro", " (f1 macro); answering by the class frequencies alone would reach 0."),
    ],
)
def test_the_verdict_says_what_the_score_counts(scoring, words, customers):
    X, y = customers
    clf = search(X[:200], y[:200], scoring=scoring)
    verdict = clf.report_dict()["verdict"]
    assert words in verdict["sentence"]
    assert verdict["score"] == clf.ensemble_score_
    known = LabeledPredictions.out_of_fold(clf)
    assert verdict["share_right"] == np.mean(known.truth == known.labels)


def test_losses_are_positive_in_the_verdict(customers):
    X, y = customers
    clf = search(X[:200], y[:200], scoring="neg_log_loss")
    low, high = clf.ensemble_score_interval_
    sentence = clf.report_dict()["verdict"]["sentence"]
    assert f"a loss of {-clf.ensemble_score_:.3g}, {-high:.3g} to {-low:.3g} (log" in sentence
    assert "(log loss, smaller is better)" in sentence


def test_a_model_that_guesses_is_called_so(rng):
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.1).astype(int)
    with pytest.warns(NoBetterThanGuessingWarning):
        clf = search(X, y)
    verdict = clf.report_dict()["verdict"]
    assert verdict["no_better_than_guessing"]
    assert "which is no better than always answering '0' (" in verdict["sentence"]
    few = np.arange(0, 200, 5)
    y = (X[:, 0] + 1.2 * rng.normal(size=200) > 0).astype(int)
    with pytest.warns(NoBetterThanGuessingWarning, match="may be no better than guessing"):
        clf = search(X[few], y[few], initial="defaults")
    assert clf.ensemble_score_ > clf.majority_score_
    assert "which may be no better than always" in clf.report_dict()["verdict"]["sentence"]
    assert "It may be no better than guessing" in clf._repr_html_()
