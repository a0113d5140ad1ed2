"""The network classifier: gradient, learning-rate schedule, rounds and members."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from skauto.space.catalog import NetworkClassifier, RobustSmoothScaler
from skauto.space.catalog._network import (
    _ends_of_cycles,
    _initial,
    _schedule,
    _without_smoothing,
)

BATCHES = "other weights make other batches"


def expected_failed_checks(estimator):
    if isinstance(estimator, RobustSmoothScaler):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": BATCHES,
        "check_sample_weight_equivalence_on_sparse_data": BATCHES,
    }


@parametrize_with_checks(
    [
        RobustSmoothScaler(),
        NetworkClassifier(width=32, n_members=1, max_rounds=32, random_state=0),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_gradient_agrees_with_differences(rng, as_matrix):
    X, targets, weights = rng.normal(size=(20, 5)), rng.dirichlet(np.ones(3), 20), rng.random(20)
    network = NetworkClassifier(depth=2, width=6, n_members=2, dropout=0.0)
    network._shapes, _ = network._layout(5, 3)
    start = rng.normal(size=len(_initial(network._shapes, 2, rng)))

    def loss(flat):  # a second implementation, member by member
        network._weights = flat
        arrays = network._arrays(flat)
        total = 0.0
        for s, w0, b0, w1, b1, w2, b2 in zip(*arrays, strict=True):
            values = (X * s[:, 0]) @ w0 / np.sqrt(5) + b0
            for w, b in ((w1, b1), (w2, b2)):
                values = np.where(values > 0, values, 1.67326324235 * np.expm1(values))
                values = (1.05070098736 * values) @ w / np.sqrt(6) + b
            total -= (weights[:, None] * targets * log_softmax(values, axis=1)).sum() / 20
        return total

    step = 1e-6
    numeric = [
        (loss(start + step * e) - loss(start - step * e)) / (2 * step) for e in np.eye(len(start))
    ]
    network._weights = start
    gradient = np.zeros_like(start)
    network._backward(as_matrix(X), targets, weights, gradient, rng)
    assert_allclose(gradient, numeric, atol=1e-6)


def test_learning_rate_ends_four_cycles_at_zero():
    ends = (2.0 ** np.arange(5) - 1) / 15
    assert_allclose([_schedule(t) for t in ends], 0.0, atol=1e-12)
    assert _ends_of_cycles(150) == [10, 30, 70, 150]
    assert _ends_of_cycles(8) == [1, 2, 4, 8]
    assert _ends_of_cycles(1) == [1, 1, 1, 1]
    assert_allclose(_schedule((2**1.5 - 1) / 15), 1.0)


@pytest.fixture(scope="module")
def noisy():
    X, y = make_classification(500, 8, n_informative=5, n_classes=3, flip_y=0.2, random_state=0)
    return scale(X), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(("wanted", "end"), [(1, 1), (3, 4), (5, 4), (6, 9), (13, 9), (14, 20)])
def test_a_fit_without_validation_rows_ends_with_a_cycle(noisy, wanted, end):
    X, y = noisy
    network = NetworkClassifier(width=4, n_members=1, max_rounds=20, random_state=0)
    assert network.set_rounds(wanted).fit(X, y).n_rounds_ == end


def test_the_best_cycle_predicts(noisy):
    X, y = noisy
    network = NetworkClassifier(width=32, n_members=1, max_rounds=20, random_state=0)
    stopped = clone(network).fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    ends, losses = _ends_of_cycles(20), []
    for n in ends:
        fixed = clone(network).set_rounds(n).fit(X[:300], y[:300])
        assert fixed.n_rounds_ == n
        losses.append(log_loss(y[300:], fixed.predict_proba(X[300:])))
        for stage in [stage for stage in stopped.validation_stages_ if stage.n_rounds == n]:
            assert_allclose(stage.probabilities, fixed.predict_proba(X[300:]), atol=1e-5)
        if n == stopped.n_rounds_:
            assert_array_equal(fixed.predict_proba(X), stopped.predict_proba(X))
    seen = losses if losses[2] < min(losses[:2]) else losses[:3]  # else the last cycle is left out
    assert stopped.n_rounds_ == ends[np.argmin(seen)]
    assert [stage.n_rounds for stage in stopped.validation_stages_] == ends[: len(seen)]
    assert_array_equal(pickle.loads(pickle.dumps(stopped)).predict(X), stopped.predict(X))


def test_unknown_classes_of_the_validation_rows_are_left_out(noisy):
    X, y = noisy
    network = NetworkClassifier(width=16, n_members=1, max_rounds=8, random_state=0)
    known = y[400:] != "c"
    seen = y[:300] != "c"
    train = X[:300][seen], y[:300][seen]
    expected = clone(network).fit(*train, eval_set=(X[400:][known], y[400:][known]))
    found = clone(network).fit(*train, eval_set=(X[400:], y[400:]))
    assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    none = clone(network).fit(*train, eval_set=(X[400:][~known], y[400:][~known]))
    assert_array_equal(none.predict_proba(X), clone(network).fit(*train).predict_proba(X))


def test_sparse_rows_give_the_same_network(noisy):
    X, y = noisy
    network = NetworkClassifier(width=16, max_rounds=8, n_members=3, dropout=0.1, random_state=0)
    dense = clone(network).fit(X, y).predict_proba(X)
    thin = clone(network).fit(sparse.csr_array(X), y).predict_proba(sparse.csr_array(X))
    assert_allclose(thin, dense, atol=1e-3)


def test_members_average(noisy):
    X, y = noisy
    losses = [
        log_loss(
            y[300:],
            NetworkClassifier(n_members=n, max_rounds=24, random_state=0)
            .fit(X[:300], y[:300])
            .predict_proba(X[300:]),
        )
        for n in (1, 8)
    ]
    assert losses[1] < losses[0]


def test_rows_without_weight_do_not_count(iris):
    X, y = iris
    weights = (np.arange(150) % 3 > 0).astype(float)
    network = NetworkClassifier(width=16, n_members=1, max_rounds=8, random_state=0)
    weighted = clone(network).fit(scale(X), y, sample_weight=weights)
    kept = clone(network).fit(scale(X)[weights > 0], y[weights > 0])
    assert_allclose(weighted.predict_proba(scale(X)), kept.predict_proba(scale(X)), atol=1e-6)


def test_predictions_take_the_smoothing_back(rng):
    true = rng.dirichlet(np.ones(3), 50) * 0.9 + 0.1 / 3
    assert_allclose(_without_smoothing(0.8 * true + 0.2 / 3, 0.2), true)
    certain = _without_smoothing(np.array([[1.0, 0.0]]), 0.2)
    assert_allclose(certain, [[0.99118943, 0.00881057]], rtol=1e-5)  # 1.125 and 0.01
