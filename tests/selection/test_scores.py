"""Scores of predictions equal those of scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import make_scorer

from skauto.selection import (
    ScorerLoss,
)
from skauto.selection._scores import score_probabilities, scorer_of
from tests.selection.predictions import make_predictions


def proba_scorer(metric, greater_is_better=True, **options):
    return make_scorer(
        metric, response_method="predict_proba", greater_is_better=greater_is_better, **options
    )


def of_two(metric, sign=1):
    return lambda y, p: sign * metric(y, p[:, 1])


# Scorer of probabilities -> its score of two classes that are coded as 0 and 1
OF_PRESENT_CLASSES = {
    "roc_auc_ovo": of_two(metrics.roc_auc_score),
    "d2_log_loss_score": of_two(metrics.d2_log_loss_score),
    "top_k_accuracy": of_two(metrics.top_k_accuracy_score),
    "average_precision": of_two(metrics.average_precision_score),
    "neg_brier_score": of_two(metrics.brier_score_loss, -1),
    "d2_brier_score": of_two(metrics.d2_brier_score),
    proba_scorer(metrics.log_loss, False): of_two(metrics.log_loss, -1),
}


@pytest.mark.parametrize("absent", [0, 1, 2])
@pytest.mark.parametrize("names", [[0, 1, 2], ["a", "b", "c"]], ids=["numbers", "words"])
@pytest.mark.parametrize(
    ("scoring", "peer"), OF_PRESENT_CLASSES.items(), ids=map(str, OF_PRESENT_CLASSES)
)
@pytest.mark.filterwarnings("ignore:'k'")  # the two best of two classes are always right
def test_a_score_of_probabilities_is_that_of_the_present_classes(scoring, peer, names, absent):
    scorer = metrics.get_scorer(scoring)
    rng = np.random.default_rng(7)
    present = np.delete(np.arange(3), absent)
    codes = rng.integers(0, 2, 40)
    predictions = make_predictions(rng, 2, 40, 3)
    renormalized = predictions[:, :, present]
    renormalized /= renormalized.sum(axis=2, keepdims=True)
    expected = [peer(codes, p) for p in renormalized]
    y, classes = present[codes], np.array(names)
    scores = [score_probabilities(scorer, p, y, classes) for p in predictions]
    np.testing.assert_allclose(scores, expected)
    losses = ScorerLoss(scorer, classes)(y, predictions)
    np.testing.assert_allclose(losses, [-score for score in expected])


@pytest.mark.parametrize("metric", [metrics.cohen_kappa_score, metrics.balanced_accuracy_score])
def test_metrics_do_not_warn_of_rows_that_lack_a_class(metric):
    predictions = np.eye(3)[[0, 0, 1]]
    for rows in ([0, 1], [0, 1, 2]):
        score_probabilities(
            make_scorer(metric), predictions[rows], np.zeros(len(rows), int), np.arange(3)
        )


@pytest.mark.parametrize("n_present", [1, 2, 3])
def test_a_scorer_that_names_the_labels_gets_all_classes(n_present):
    names = ["a", "b", "c"]
    rng = np.random.default_rng(7)
    y = np.arange(40) % n_present
    predictions = make_predictions(rng, 2, 40, 3)
    expected = [metrics.log_loss(np.array(names)[y], p, labels=names) for p in predictions]
    scorer = proba_scorer(metrics.log_loss, False, labels=names)
    np.testing.assert_allclose(ScorerLoss(scorer, names)(y, predictions), expected)
    score = score_probabilities(scorer, predictions[0], y, np.array(names))
    assert score == pytest.approx(-expected[0])


@pytest.mark.parametrize(
    "scorer",
    [
        make_scorer(lambda y, labels: np.mean(y == labels)),
        metrics.get_scorer("positive_likelihood_ratio"),
    ],
    ids=["own", "named"],
)
def test_a_metric_without_weights_ignores_them(scorer):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 40)
    predictions = make_predictions(rng, 2, 40, 2)
    loss, weight, classes = ScorerLoss(scorer), rng.random(40), np.arange(2)
    np.testing.assert_array_equal(loss(y, predictions, weight), loss(y, predictions))
    scores = [score_probabilities(scorer, predictions[0], y, classes, w) for w in (weight, None)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_one_vs_one_auc_is_that_of_scikit_learn_on_repeated_rows(n_classes, average):
    rng = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 100)])
    [probabilities] = make_predictions(rng, 1, len(y), n_classes, 4)
    weight = rng.integers(1, 4, len(y))
    scorer = scorer_of("roc_auc_ovo" if average == "macro" else "roc_auc_ovo_weighted")
    rows = np.repeat(np.arange(len(y)), weight)
    scores = probabilities[rows, 1] if n_classes == 2 else probabilities[rows]
    expected = metrics.roc_auc_score(y[rows], scores, multi_class="ovo", average=average)
    classes = np.arange(n_classes)
    for args in ((probabilities, y, classes, weight), (probabilities[rows], y[rows], classes)):
        assert score_probabilities(scorer, *args) == pytest.approx(expected, rel=1e-12)


def test_one_vs_one_auc_without_the_weight_of_a_class_is_that_of_the_others():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    [probabilities] = make_predictions(rng, 1, len(y), 4)
    scorer, classes = scorer_of("roc_auc_ovo"), np.arange(4)
    score = score_probabilities(scorer, probabilities, y, classes, (y < 3).astype(float))
    expected = np.mean(
        [
            metrics.roc_auc_score(y[met] == a, probabilities[met, a])
            for a in range(3)
            for b in range(3)
            if a != b
            for met in [np.isin(y, (a, b))]
        ]
    )
    assert score == pytest.approx(expected)
