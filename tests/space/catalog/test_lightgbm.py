"""LightGBM with early stopping and categorical columns."""

import pickle
import time
import warnings

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from skauto.space.catalog import (
    LightGBMClassifier,
)

QUIET = {"n_jobs": 1, "verbose": -1}


def test_lightgbm_uses_native_categories(rng):
    codes = rng.integers(0, 60, 3000).astype(float)
    codes[::50] = np.nan
    y = np.where(np.isnan(codes), 0, (rng.random(60) < 0.5)[np.nan_to_num(codes).astype(int)])
    X = np.column_stack([rng.normal(size=3000), codes])
    settings = {
        "n_estimators": 3,
        "learning_rate": 0.1,
        "num_leaves": 4,
        "min_child_samples": 5,
        **QUIET,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        native = LightGBMClassifier(categorical_features=[1], **settings).fit(X, y)
        copy = pickle.loads(pickle.dumps(native))
        assert_array_equal(copy.predict_proba(X), native.predict_proba(X))
        assert_array_equal(clone(native).fit(X, y).predict_proba(X), native.predict_proba(X))
        numeric = LightGBMClassifier(**settings).fit(X, y)
    assert native.score(X, y) == 1.0
    assert numeric.score(X, y) < 0.9
    assert native.get_params()["categorical_features"] == [1]
    assert native.set_params(num_leaves=7).get_params()["num_leaves"] == 7


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lightgbm_predicts_with_the_best_round(n_classes):
    X, y = make_classification(
        600, 8, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=n_classes
    )
    labels = np.array(["a", "b", "c"])[y]
    train, test = (X[:400], labels[:400]), (X[400:], labels[400:])
    stopped = LightGBMClassifier(max_rounds=200, **QUIET).fit(*train, eval_set=test)
    losses = [
        log_loss(test[1], stopped.predict_proba(test[0], num_iteration=n))
        for n in range(1, stopped.n_rounds_ + 1)
    ]
    assert 1 < stopped.n_rounds_ < 200
    assert_allclose(losses[-1], min(losses), atol=2e-4)
    fixed = LightGBMClassifier(**QUIET).set_rounds(stopped.n_rounds_).fit(*train)
    assert fixed.n_rounds_ == stopped.n_rounds_
    assert_allclose(fixed.predict_proba(test[0]), stopped.predict_proba(test[0]))
    assert_allclose(stopped.validation_probabilities_, stopped.predict_proba(test[0]))
    assert stopped.validation_stages_[-1].n_rounds > stopped.n_rounds_
    for n_rounds, probabilities in stopped.validation_stages_:
        fixed = LightGBMClassifier(**QUIET).set_rounds(n_rounds).fit(*train)
        assert_allclose(fixed.predict_proba(test[0]), probabilities, rtol=1e-5)
    checked = LGBMClassifier.predict_proba(stopped, test[0])  # with the checks of LightGBM
    assert_array_equal(stopped.predict_proba(test[0]), checked)
    assert_array_equal(stopped.predict_proba(test[0].tolist()), checked)
    with pytest.raises(ValueError, match="7 features"):
        stopped.predict_proba(test[0][:, :7])


def test_lightgbm_stops_at_the_deadline_with_the_rounds_so_far():
    X, y = make_classification(600, 8, random_state=0)
    train, test = (X[:400], y[:400]), (X[400:], y[400:])
    stopped = LightGBMClassifier(**QUIET).fit(*train, eval_set=test, deadline=time.monotonic())
    assert stopped.n_rounds_ == 1
    fixed = LightGBMClassifier(**QUIET).set_rounds(1).fit(*train)
    assert_array_equal(stopped.predict_proba(X), fixed.predict_proba(X))


def test_lightgbm_drops_validation_rows_of_unknown_classes():
    X, y = make_classification(300, 8, flip_y=0.3, random_state=0)
    X_val, y_val = X[200:], y[200:].copy()
    model = LightGBMClassifier(**QUIET)
    expected = clone(model).fit(X[:200], y[:200], eval_set=(X_val[30:], y_val[30:]))
    y_val[:30] = 7
    partly = clone(model).fit(X[:200], y[:200], eval_set=(X_val, y_val))
    assert_array_equal(partly.predict_proba(X), expected.predict_proba(X))
    y_val[:] = 7
    assert clone(model).fit(X[:200], y[:200], eval_set=(X_val, y_val)).n_rounds_ == 100
    assert clone(model).fit(X[:200], y[:200]).n_rounds_ == 100


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_prediction_is_the_mean_over_seeds(n_classes):
    X, y = make_classification(300, 8, n_informative=4, n_classes=n_classes, random_state=0)
    settings = {"n_estimators": 5, "subsample": 0.5, "subsample_freq": 1, **QUIET}
    one = LightGBMClassifier(random_state=3, **settings).fit(X, y)
    several = clone(one).set_seeds(3).fit(X, y)
    assert len({other.random_state for other in several.others_} | {3}) == 3
    alone = [clone(other).fit(X, y) for other in several.others_]
    expected = np.mean([model.predict_proba(X) for model in [one, *alone]], axis=0)
    assert np.ptp([model.predict_proba(X) for model in [one, *alone]], axis=0).max() > 0.01
    assert_allclose(several.predict_proba(X), expected, rtol=0, atol=1e-12)
    assert_array_equal(several.predict(X), expected.argmax(axis=1))
    assert_array_equal(clone(several).fit(X, y).predict_proba(X), several.predict_proba(X))
    copy = pickle.loads(pickle.dumps(several))
    assert_array_equal(copy.predict_proba(X), several.predict_proba(X))


def test_all_seeds_have_the_rounds_that_early_stopping_chose():
    X, y = make_classification(600, 8, flip_y=0.2, random_state=0)
    settings = {"max_rounds": 200, "random_state": 0, "n_seeds": 2, **QUIET}
    stopped = LightGBMClassifier(**settings).fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
    [other] = stopped.others_
    assert 1 < stopped.n_rounds_ == other.n_rounds_ < 200
