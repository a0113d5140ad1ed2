"""What a fitted search keeps."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from skauto import AutoClassifier, SearchOptions
from skauto.space import Configuration
from tests.estimators.quick import quick


@pytest.fixture(scope="module")
def fitted(iris):
    options = SearchOptions(warm_start=True)
    return AutoClassifier(max_evals=4, cv=3, random_state=0, options=options).fit(*iris)


def test_a_search_that_goes_on_keeps_the_targets(iris, fitted):
    assert fitted.history_.goal.targets is not None
    np.testing.assert_array_equal(fitted.classes_[fitted.history_.goal.targets], iris[1])
    assert all(trial.predictions is not None for trial in fitted.history_ if trial.ok)


def test_only_members_keep_their_predictions(iris):
    fitted = AutoClassifier(max_evals=2, cv=3, ensemble_size=1, random_state=0).fit(*iris)
    kept = [trial.number for trial in fitted.history_ if trial.predictions is not None]
    assert kept == list(fitted.member_weights_)
    assert fitted.history_.goal.ensemble_loss is None
    assert fitted.ensemble_.diversity_.tolist() == [[0.0]]
    assert fitted.ensemble_.disagreement_ == 0.0


@pytest.mark.parametrize(
    ("changes", "change_y"),
    [
        ({"scoring": "f2"}, None),
        ({"initial": "portfolios"}, None),
        ({"initial": [Configuration({"classifier": ("unknown", {})})]}, None),
        ({"cv": 1}, None),
        ({"options": SearchOptions(trial_time_limit=-1)}, None),
        ({}, lambda y: np.zeros_like(y)),
    ],
)
def test_a_refused_fit_keeps_the_last_model(iris, changes, change_y):
    X, y = iris
    clf = quick().fit(X, y)
    expected = clf.predict_proba(X)
    with pytest.raises((ValueError, TypeError)):
        clf.set_params(**changes).fit(X, y if change_y is None else change_y(y))
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    assert clf.n_features_in_ == 4


def test_the_seconds_of_the_phases_are_those_of_fit():
    X, y = load_breast_cancer(return_X_y=True)
    clf = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y)
    *until_fitted, scores = clf.seconds_.values()
    assert list(clf.seconds_) == ["reading", "preparation", "search", "ensemble", "scores"]
    assert 0.0 < sum(until_fitted) <= clf.search_time_
    assert scores > 0.0
