"""Seconds, members and decision of an ensemble before its members are refitted."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import ModelSize, StatisticalParity
from skauto.space import get_space
from tests.ensemble.ballast import ballast_trial, builder_of, history_for


@pytest.fixture
def history():
    """Two trials, of which the first one is better."""
    history = history_for([])
    for number, loss in enumerate([0.1, 0.3]):
        history.append(replace(ballast_trial(number, loss, 0), fit_times=(1.0, 3.0)))
    return history


def test_a_refit_takes_the_seconds_of_all_rows_or_of_all_folds(history):
    """The folds have half of the rows; a margin of 30% is added."""
    builder = builder_of([])
    assert builder.refit_time(history[0]) == pytest.approx(1.3 * 2 * 2.0)
    builder.refit = False
    assert builder.refit_time(history[0]) == pytest.approx(1.3 * 4.0)


def test_fitted_members_take_no_time_and_failed_ones_are_excluded(history):
    builder = builder_of([])
    assert builder.select(history, 0.0, 0.0) == {}
    refits = SimpleNamespace(pipelines={0: [], 1: []}, failed={0})
    assert builder.select(history, 0.0, 0.0, refits=refits) == {1: 1.0}


def test_a_decision_is_chosen_once(history):
    builder = builder_of([])
    first = builder.choose_decision(history, {0: 0.5, 1: 0.5})
    assert builder.choose_decision(history, {0: 0.5, 1: 0.5}) is first
    assert builder.choose_decision(history, {0: 1.0}) is not first


@pytest.mark.parametrize("constraints, n_seeds", [([], 4), ([ModelSize(10**6)], 1)])
def test_a_refit_takes_the_seconds_of_all_seeds(history, constraints, n_seeds):
    builder = builder_of(constraints)
    builder.evaluator.worker.builder = SimpleNamespace(averages_seeds=lambda configuration: True)
    assert builder.n_seeds(history[0]) == n_seeds
    assert builder.refit_time(history[0]) == pytest.approx(1.3 * 2 * 2.0 * n_seeds)


@pytest.mark.parametrize(
    "kind, settings, n_models",
    [
        (AutoClassifier, {}, 4),
        (AutoClassifier, {"options": {"refit": False}}, 1),
        (ConstrainedAutoClassifier, {"constraints": [StatisticalParity("x0", 0.9)]}, 4),
        (ConstrainedAutoClassifier, {"constraints": [ModelSize(10**7)]}, 1),
    ],
)
def test_boosted_members_are_refitted_with_several_seeds(iris, kind, settings, n_models):
    X, y = iris[0][:100].copy(), iris[1][:100]
    X[:, 0] = X[:, 0] > 5.4
    space = get_space("default").subspace({"classifier": ["lightgbm"], "transformer": "none"})
    clf = kind(space=space, max_evals=1, cv=2, random_state=0, **settings).fit(X, y)
    for pipeline in clf.ensemble_.members:
        assert 1 + len(pipeline.steps[-1][1].others_) == n_models
