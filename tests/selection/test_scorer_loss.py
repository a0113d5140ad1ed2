"""Scorers as losses."""

import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import make_scorer

from skauto.selection import (
    ErrorLoss,
    ScorerLoss,
    get_loss,
)
from tests.selection.predictions import labels, make_predictions


@pytest.mark.parametrize(
    "scoring", ["accuracy", "neg_log_loss", "roc_auc", "matthews_corrcoef", "average_precision"]
)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_scorer_loss_is_the_negative_score(scoring, weighted):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 40)
    predictions = make_predictions(rng, 3, 40, 2)
    weight = rng.random(40) if weighted else None
    scorer = metrics.get_scorer(scoring)
    metric, sign = scorer._score_func, scorer._sign
    expected = []
    for p in predictions:
        response = {"matthews_corrcoef": labels(p), "accuracy": labels(p), "neg_log_loss": p}
        answer = response.get(scoring, p[:, 1])
        expected.append(-sign * metric(y, answer, sample_weight=weight))
    np.testing.assert_allclose(ScorerLoss(scorer)(y, predictions, weight), expected)


@pytest.mark.parametrize("scoring", ["precision_macro", "d2_log_loss_score"])
def test_scorer_loss_of_a_candidate_does_not_warn(scoring):
    predictions = np.array([[0.7, 0.3], [0.9, 0.1]], dtype=np.float32)  # a constant label
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ScorerLoss(metrics.get_scorer(scoring))([0, 1], 1.000001 * predictions[None])


def test_scorer_loss_knows_the_labels():
    y, classes = np.array([0, 1, 1, 0]), np.array(["no", "yes"])
    predictions = np.array([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]])
    scorer = make_scorer(metrics.precision_score, pos_label="yes")
    np.testing.assert_allclose(ScorerLoss(scorer, classes)(y, predictions), [-0.5])


def test_scorer_loss_takes_a_plain_callable():
    def inverted_accuracy(estimator, X, y):
        return -np.mean(estimator.predict(X) == y)

    predictions = np.array([[[0.9, 0.1], [0.8, 0.2]]])
    np.testing.assert_allclose(ScorerLoss(inverted_accuracy)([0, 1], predictions), [0.5])


def test_a_score_of_probabilities_of_a_single_class_is_undefined():
    predictions = make_predictions(np.random.default_rng(0), 2, 5, 3)
    loss = ScorerLoss(metrics.get_scorer("d2_log_loss_score"))
    assert np.isnan(loss(np.ones(5, dtype=int), predictions)).all()


def test_a_plain_function_gets_the_weights_that_it_takes():
    def weighted(estimator, X, y, sample_weight=None):
        return metrics.accuracy_score(y, estimator.predict(X), sample_weight=sample_weight)

    rng = np.random.default_rng(8)
    y, weight = rng.integers(0, 2, 40), rng.random(40)
    predictions = make_predictions(rng, 2, 40, 2)
    expected = ErrorLoss()(y, predictions, weight)
    np.testing.assert_allclose(ScorerLoss(weighted)(y, predictions, weight), expected - 1)


@pytest.mark.parametrize(
    "scoring",
    [
        "accuracy",
        "balanced_accuracy",
        "f1",
        "f1_macro",
        "f1_micro",
        "f1_weighted",
        "neg_brier_score",
        "neg_log_loss",
        "roc_auc",
        "roc_auc_ovr",
        "roc_auc_ovr_weighted",
    ],
)
@pytest.mark.parametrize("classes", [[0, 1], [1, 2], [False, True], [0, 1, 2]], ids=str)
def test_named_losses_rank_as_their_scorers_do(scoring, classes):
    if len(classes) > 2 and scoring in ("f1", "roc_auc"):
        pytest.skip("the scorer is for two classes")
    rng = np.random.default_rng(4)
    y = rng.integers(0, len(classes), 50)
    predictions = make_predictions(rng, 8, 50, len(classes))
    loss = get_loss(scoring, classes)
    assert not isinstance(loss, ScorerLoss)
    by_scorer = ScorerLoss(metrics.get_scorer(scoring), classes)(y, predictions)
    # equal up to the constant 1 of losses that are 1 - score
    difference = loss(y, predictions) - by_scorer
    np.testing.assert_allclose(difference, np.full(8, difference[0]), atol=1e-12)
    assert np.isclose(difference[0], 0.0) or np.isclose(difference[0], 1.0)


def test_get_loss_falls_back_to_the_scorer():
    assert isinstance(get_loss("average_precision", [0, 1]), ScorerLoss)
    assert isinstance(get_loss(metrics.get_scorer("jaccard"), [0, 1]), ScorerLoss)
    assert isinstance(
        get_loss("f1", ["no", "yes"]), ScorerLoss
    )  # no label 1: scikit-learn decides
