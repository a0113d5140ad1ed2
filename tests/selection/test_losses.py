"""Each loss equals the scikit-learn metric in its docstring."""

import pickle

import numpy as np
import pytest
from sklearn import metrics

from skauto.selection import (
    BalancedErrorLoss,
    BrierLoss,
    ErrorLoss,
    F1Loss,
    LogLoss,
    MatthewsLoss,
    RocAucLoss,
    SmoothedLoss,
)
from skauto.selection._losses import log_losses, mean_and_error
from tests.selection.predictions import labels, make_predictions


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


@pytest.mark.parametrize("loss", [loss for loss, _ in PEERS], ids=repr)
def test_losses_are_values(loss):
    assert pickle.loads(pickle.dumps(loss)) == loss


def test_the_log_losses_of_rows_have_the_mean_of_the_metric():
    rng = np.random.default_rng(3)
    y, predictions = rng.integers(0, 3, 30), make_predictions(rng, 1, 30, 3)[0]
    expected = metrics.log_loss(y, predictions, labels=[0, 1, 2])
    np.testing.assert_allclose(log_losses(y, predictions).mean(), expected)


def test_the_error_of_weighted_rows():
    """The mean is that of the repeated rows, which bring no further evidence."""
    values, weights = np.array([0.1, -0.2, 0.4]), np.array([1, 3, 2])
    mean, error = mean_and_error(values, weights)
    copies = np.repeat(values, weights)
    assert mean == pytest.approx(copies.mean())
    assert mean_and_error(values) == pytest.approx((values.mean(), values.std() / np.sqrt(3)))
    assert mean_and_error(values, [2, 2, 2]) == pytest.approx(mean_and_error(values))
    assert error > copies.std() / np.sqrt(len(copies))
