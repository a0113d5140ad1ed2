"""Labels and probabilities of a fitted estimator follow the decision of its ensemble."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from skauto import AutoClassifier
from skauto.space import SearchSpace


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(
        1200, n_informative=4, n_redundant=6, weights=[0.92], flip_y=0.05, random_state=0
    )
    return train_test_split(X, y, stratify=y, random_state=0)


def fitted(table, **settings):
    X, _, y, _ = table
    space = SearchSpace(["classifier"]).add("classifier", "gaussian_nb", GaussianNB())
    return AutoClassifier(space=space, max_evals=1, cv=3, random_state=0, **settings).fit(X, y)


@pytest.fixture(scope="module")
def by_recalls(table):
    return fitted(table, scoring="balanced_accuracy")


def test_labels_follow_the_threshold(by_recalls, table):
    X = table[1]
    probabilities = by_recalls.predict_proba(X)[:, 1]
    assert by_recalls.decision_threshold_ != 0.5
    expected = (probabilities > by_recalls.decision_threshold_).astype(int)
    np.testing.assert_array_equal(by_recalls.predict(X), expected)
    np.testing.assert_array_equal(by_recalls.ensemble_.predict(X), expected)


def test_the_score_is_that_of_the_labels(by_recalls, table):
    _, X, _, y = table
    assert by_recalls.score(X, y) == balanced_accuracy_score(y, by_recalls.predict(X))


def test_argmax_keeps_probabilities_and_leaves_labels(by_recalls, table):
    X = table[1]
    plain = fitted(table, scoring="balanced_accuracy", decision="argmax")
    assert plain.decision_offsets_.tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(plain.predict_proba(X), by_recalls.predict_proba(X))
    np.testing.assert_array_equal(plain.predict(X), plain.predict_proba(X).argmax(axis=1))


def test_overconfident_probabilities_are_cooled(table):
    _, X, _, y = table  # naive Bayes counts redundant columns several times
    auto = fitted(table, scoring="neg_log_loss")
    plain = fitted(table, scoring="neg_log_loss", decision="argmax")
    assert auto.temperature_ > 1.1
    assert plain.temperature_ == 1.0
    assert log_loss(y, auto.predict_proba(X)) < log_loss(y, plain.predict_proba(X))


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_accuracy_and_roc_auc_keep_their_score_and_calibrate(table, scoring):
    _, X, _, y = table
    auto, plain = (fitted(table, scoring=scoring, decision=d) for d in ("auto", "argmax"))
    assert auto.decision_threshold_ == 0.5
    assert auto.temperature_ > 1.1
    np.testing.assert_array_equal(auto.predict(X), auto.predict_proba(X).argmax(axis=1))
    assert np.mean(auto.predict(X) == y) >= np.mean(plain.predict(X) == y)
    assert roc_auc_score(y, auto.predict_proba(X)[:, 1]) == pytest.approx(
        roc_auc_score(y, plain.predict_proba(X)[:, 1]), abs=1e-4
    )
    assert log_loss(y, auto.predict_proba(X)) < log_loss(y, plain.predict_proba(X))


def test_three_classes_have_no_threshold():
    X, y = make_classification(90, n_informative=4, n_classes=3, random_state=0)
    clf = fitted((X, None, y, None))
    assert clf.decision_offsets_.shape == (3,)
    assert not hasattr(clf, "decision_threshold_")
