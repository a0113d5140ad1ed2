"""Validation predictions that strategies for ensembles read from the trials."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skauto.history import Goal, History
from skauto.selection import ErrorLoss, greedy_selection
from skauto.strategies import RandomSearch
from skauto.strategies._stored_predictions import StoredPredictions
from tests.strategies.ensemble_search import ArtificialClassifiers
from tests.strategies.search_loop import rich_space


@pytest.fixture
def history():
    return ArtificialClassifiers(rich_space()).history(30)


def read(history, stored=None):
    """Stored predictions of a history, and how many were added."""
    stored = StoredPredictions() if stored is None else stored
    strategy = RandomSearch().start(rich_space(), np.random.default_rng(0))
    return stored, stored.update(strategy.observations(history), history)


def part(history, n, **changes):
    """The first trials of a history, the last of them changed."""
    few = History(history.goal)
    for trial in history[:n]:
        few.append(replace(trial, **changes) if trial.number == n - 1 else trial)
    return few


def test_only_new_trials_are_read(history):
    stored, added = read(part(history, 12))
    assert (added, len(stored)) == (12, 12)
    assert read(history, stored)[1] == 18
    assert_array_equal(stored.values, [trial.predictions for trial in history])
    assert_array_equal(stored.targets, history.goal.targets)
    assert read(history, stored)[1] == 0


@pytest.mark.parametrize("changes", [{"predictions": None}, {"status": "failed"}])
def test_trials_without_predictions_are_left_out(history, changes):
    stored, added = read(part(history, 5, **changes))
    assert added == 4
    assert stored.indices == [0, 1, 2, 3]


def test_trials_on_a_part_of_the_rows_are_left_out(history):
    fewer = history[4].predictions.copy()
    fewer[::2] = np.nan
    assert read(part(history, 5, predictions=fewer))[0].indices == [0, 1, 2, 3]


def test_without_targets_all_are_left_out(history):
    assert read(history.with_goal(Goal()))[1] == 0


def test_candidates_are_the_best_and_those_of_each_classifier(history):
    stored, _ = read(history)
    losses = np.array([trial.loss for trial in history])
    candidates = stored.candidates(n_best=4)
    assert set(np.argsort(losses, kind="stable")[:4]) <= set(candidates)
    assert {history[i].configuration.algorithm for i in candidates} == set(stored.algorithms)
    assert set(stored.candidates(np.arange(5, 15))) <= set(range(5, 15))


def test_members_are_those_of_greedy_selection(history):
    stored, _ = read(history)
    candidates = stored.candidates()
    chosen = greedy_selection(stored.values[candidates], history.goal.targets, ErrorLoss(), 6)
    assert_array_equal(stored.members(candidates, 6), np.unique(candidates[chosen.indices]))
