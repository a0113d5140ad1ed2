"""Each loss equals the scikit-learn metric in its docstring."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import make_scorer

from skauto.selection import (
    BalancedErrorLoss,
    BrierLoss,
    ErrorLoss,
    F1Loss,
    LogLoss,
    MatthewsLoss,
    RocAucLoss,
    ScorerLoss,
    SmoothedLoss,
    get_loss,
)
from skauto.selection._scores import score_probabilities


def labels(p):
    return p.argmax(axis=1)


def auc(average):
    def compute(y, p, w):
        if p.shape[1] == 2:
            return metrics.roc_auc_score(y, p[:, 1], sample_weight=w)
        return metrics.roc_auc_score(y, p, multi_class="ovr", average=average, sample_weight=w)

    return compute


def f1(average):
    def compute(y, p, w):
        return metrics.f1_score(y, labels(p), average=average, sample_weight=w, zero_division=0)

    return compute


# loss -> the same loss of one prediction from scikit-learn
PEERS = [
    (LogLoss(), lambda y, p, w: metrics.log_loss(y, p, labels=range(p.shape[1]), sample_weight=w)),
    (
        BrierLoss(),
        lambda y, p, w: metrics.brier_score_loss(
            y, p, labels=list(range(p.shape[1])), sample_weight=w
        ),
    ),
    (ErrorLoss(), lambda y, p, w: 1 - metrics.accuracy_score(y, labels(p), sample_weight=w)),
    (
        BalancedErrorLoss(),
        lambda y, p, w: 1 - metrics.balanced_accuracy_score(y, labels(p), sample_weight=w),
    ),
    (F1Loss("macro"), lambda y, p, w: 1 - f1("macro")(y, p, w)),
    (
        MatthewsLoss(),
        lambda y, p, w: 1 - metrics.matthews_corrcoef(y, labels(p), sample_weight=w),
    ),
    (F1Loss("weighted"), lambda y, p, w: 1 - f1("weighted")(y, p, w)),
    (RocAucLoss(), lambda y, p, w: 1 - auc("macro")(y, p, w)),
    (RocAucLoss("weighted"), lambda y, p, w: 1 - auc("weighted")(y, p, w)),
    (
        SmoothedLoss(RocAucLoss(), 0.1),
        lambda y, p, w: (
            1
            - auc("macro")(y, p, w)
            + 0.1 * metrics.log_loss(y, p, labels=range(p.shape[1]), sample_weight=w)
        ),
    ),
]


def make_predictions(rng, n_predictions, n_samples, n_classes, steps=None):
    """Random probabilities; on a coarse grid if `steps` is given, so that many values tie."""
    if steps is None:
        return rng.dirichlet(np.ones(n_classes), size=(n_predictions, n_samples))
    counts = rng.multinomial(
        steps, np.full(n_classes, 1 / n_classes), size=(n_predictions, n_samples)
    )
    return counts / steps


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("steps", [None, 4], ids=["distinct", "ties"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(("loss", "peer"), PEERS, ids=[repr(loss) for loss, _ in PEERS])
def test_losses_equal_scikit_learn(loss, peer, n_classes, steps, weighted):
    rng = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 60)])
    predictions = make_predictions(rng, 4, len(y), n_classes, steps)
    weight = rng.integers(0, 4, len(y)).astype(float) if weighted else None
    if weighted:
        weight[:n_classes] = 1.0  # every class keeps some weight
    expected = [peer(y, prediction, weight) for prediction in predictions]
    np.testing.assert_allclose(loss(y, predictions, weight), expected, rtol=1e-12, atol=1e-12)


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


def test_roc_auc_without_one_class_averages_the_others():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)  # the third class does not occur
    predictions = make_predictions(rng, 3, 40, 3)
    expected = [
        1 - np.mean([metrics.roc_auc_score(y == c, p[:, c]) for c in (0, 1)]) for p in predictions
    ]
    np.testing.assert_allclose(RocAucLoss()(y, predictions), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_roc_auc_of_a_single_class_is_undefined(n_classes):
    predictions = make_predictions(np.random.default_rng(0), 2, 5, n_classes)
    assert np.isnan(RocAucLoss()(np.ones(5, dtype=int), predictions)).all()


@pytest.mark.parametrize(
    ("certain", "expected"), [(True, -np.log1p(-np.finfo(float).eps)), (False, 36.04365338911715)]
)
def test_log_loss_of_certainty_is_clipped(certain, expected):
    predictions = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    y = [0, 0] if certain else [1, 1]
    np.testing.assert_allclose(LogLoss()(y, predictions), [expected])


@pytest.mark.parametrize("loss", [loss for loss, _ in PEERS], ids=repr)
def test_zero_weight_equals_leaving_the_row_out(loss):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 60)
    predictions = make_predictions(rng, 4, 60, 3)
    weight = np.where(np.arange(60) < 20, 0.0, 1.0)
    np.testing.assert_allclose(loss(y, predictions, weight), loss(y[20:], predictions[:, 20:]))


@pytest.mark.parametrize("loss", [loss for loss, _ in PEERS], ids=repr)
def test_projection_commutes_with_the_mean(loss):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 30)
    predictions = make_predictions(rng, 6, 30, 2)
    mean_of_projections = loss.project(predictions, y).mean(axis=0)
    projection_of_mean = loss.project(predictions.mean(axis=0), y)
    np.testing.assert_allclose(mean_of_projections, projection_of_mean)


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


def test_a_score_of_probabilities_of_a_single_class_is_undefined():
    predictions = make_predictions(np.random.default_rng(0), 2, 5, 3)
    loss = ScorerLoss(metrics.get_scorer("d2_log_loss_score"))
    assert np.isnan(loss(np.ones(5, dtype=int), predictions)).all()


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


@pytest.mark.parametrize("loss", [loss for loss, _ in PEERS], ids=repr)
def test_losses_are_values(loss):
    assert pickle.loads(pickle.dumps(loss)) == loss
