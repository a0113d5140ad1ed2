"""Searches that go on."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer

from skauto import SearchOptions
from tests.estimators.quick import quick, tiny_space


def test_warm_start_continues(iris):
    clf = quick(options=SearchOptions(warm_start=True)).fit(*iris)
    first = clf.history_[:]
    clf.fit(*iris)
    assert len(clf.history_) == 8
    assert clf.history_[:4] == first
    configurations = [trial.configuration for trial in clf.history_]
    assert len(set(configurations)) == 8
    assert len(clf.set_params(options=None).fit(*iris).history_) == 4


def test_warm_start_keeps_seed_and_folds(iris):
    clf = quick(cv=0.3, random_state=None, options=SearchOptions(warm_start=True)).fit(*iris)
    clf.fit(*iris)
    missing = np.isnan([trial.predictions[:, 0] for trial in clf.history_ if trial.ok])
    np.testing.assert_array_equal(missing, missing[:1].repeat(len(missing), axis=0))
    assert clf.score(*iris) > 0.9


def test_warm_start_refuses_another_search(iris):
    X, y = iris
    clf = quick(options=SearchOptions(warm_start=True)).fit(X, y)
    with pytest.raises(ValueError, match="'warm_start', fit continues .*: data differ"):
        clf.fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="cv, scoring, space differ.*warm_start=False"):
        clone(clf).fit(X, y).set_params(cv=5, scoring="roc_auc", space=tiny_space()).fit(X, y)
    assert len(clf.fit(X, y).history_) == 8  # an error does not end the last search


def test_warm_start_refuses_other_groups_folds_and_metrics(iris):
    X, y = iris
    groups = np.arange(len(y)) % 10
    rows = np.arange(3000) % len(y)
    folds = [[(np.delete(rows, half), rows[half])] for half in (slice(700), slice(800))]
    correct, wrong = (
        make_scorer(lambda y, predicted, sign=sign: sign * np.mean(y == predicted))
        for sign in (1, -1)
    )
    clf = quick(options=SearchOptions(warm_start=True), scoring=correct, cv=folds[0]).fit(X, y)
    with pytest.raises(ValueError, match="last search: groups differ"):
        clone(clf).set_params(cv=2).fit(X, y).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="last search: cv differ"):
        clf.set_params(cv=folds[1]).fit(X, y)
    with pytest.raises(ValueError, match="last search: scoring differ"):
        clf.set_params(cv=folds[0], scoring=wrong).fit(X, y)
