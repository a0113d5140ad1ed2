"""Early ends of a search: patience, and ensembles that no longer improve."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from skauto import SearchOptions
from skauto.estimators import _stopping
from skauto.selection import LogLoss, greedy_selection
from skauto.selection._bagged import bagged_selection
from skauto.selection._candidates import candidate_pool
from skauto.space import SearchSpace
from tests.estimators.quick import quick, tiny_space

TIMED = {"time_limit": 60, "max_evals": None, "scoring": "neg_log_loss", "initial": None}


def space_of_depths():
    space = SearchSpace(["classifier"])
    depths = {"max_depth": list(range(1, 40))}
    return space.add("classifier", "tree", DecisionTreeClassifier(), depths)


@pytest.fixture
def noisy():
    return make_classification(200, 8, n_informative=3, flip_y=0.3, random_state=0)


def log_losses(clf, n_trials, y):
    """Log loss of each row for the ensemble of the first trials, selected from scratch."""
    trials = [t for t in clf.history_ if t.number < n_trials and t.complete]
    chosen = candidate_pool([t.loss for t in trials], [t.configuration.algorithm for t in trials])
    predictions = np.stack([trials[i].predictions for i in chosen])
    plain = greedy_selection(predictions, y, LogLoss(), clf.ensemble_size).weights
    weights = bagged_selection(predictions, y, LogLoss(), plain, clf.ensemble_size)
    return -np.log(np.tensordot(weights, predictions, 1)[np.arange(len(y)), y])


def test_the_search_ends_when_twice_the_trials_improve_the_ensemble_by_less_than_an_error(
    noisy, monkeypatch
):
    monkeypatch.setattr(_stopping, "_FIRST_CHECK", 8)
    clf = quick(**TIMED, strategy="random", options=SearchOptions(warm_start=True)).fit(*noisy)
    n_trials = len(clf.history_)
    assert clf.converged_
    assert n_trials in {8, 16, 32, 64, 128}
    n_checked = 8
    while n_checked <= n_trials:
        before, after = (log_losses(clf, n, noisy[1]) for n in (n_checked // 2, n_checked))
        gains = before - after
        improved = gains.mean() > gains.std() / np.sqrt(len(gains))
        assert improved == (n_checked < n_trials)
        n_checked *= 2


def test_the_search_ends_when_the_ensemble_stays_the_same(monkeypatch):
    """Every trial tells the classes apart, so that no gain is left."""
    monkeypatch.setattr(_stopping, "_FIRST_CHECK", 4)
    X = np.tile([[0.0], [1.0]], (60, 1))
    settings = TIMED | {"max_evals": 40, "strategy": "random"}
    clf = quick(**settings, space=space_of_depths()).fit(X, X[:, 0].astype(int))
    assert clf.converged_
    assert len(clf.history_) == 4


@pytest.mark.parametrize(
    "settings",
    [
        {"max_evals": 24, "time_limit": None},
        {"max_evals": 24, "options": SearchOptions(patience=None)},
        {"max_evals": 24, "ensemble_size": 1},
    ],
)
def test_other_searches_use_their_budget(noisy, monkeypatch, settings):
    monkeypatch.setattr(_stopping, "_FIRST_CHECK", 4)
    monkeypatch.setattr(_stopping, "_MIN_GAIN", np.inf)
    clf = quick(**{**TIMED, "strategy": "random", **settings}).fit(*noisy)
    assert len(clf.history_) == 24
    assert not clf.converged_


def test_patience_ends_the_search(iris):
    clf = quick(
        max_evals=200, space=tiny_space(), initial=None, options=SearchOptions(patience=3)
    ).fit(*iris)
    best = min(range(len(clf.history_)), key=lambda i: clf.history_[i].loss)
    assert len(clf.history_) == best + 4
    assert clf.converged_
