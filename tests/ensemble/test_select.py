"""Which members are selected within limits."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from skauto import AutoClassifier, SearchOptions
from skauto.constraints import Evidence, StatisticalParity
from tests.ensemble.ballast import GROUPS, N_ROWS, Y, builder_of, history_for, labeled_trial
from tests.strategy_settings import quick_space


def select_within(limit, columns):
    """Weights of trials with these probabilities, and the labels of their ensemble."""
    builder = builder_of([limit])
    history = history_for([limit])
    for number, positive in enumerate(columns):
        history.append(labeled_trial(number, positive, limit, builder.data))
    feasible = [history.feasible(trial) for trial in history]
    weights = builder.select(history)
    ensemble = sum(weight * history[n].predictions for n, weight in weights.items())
    evidence = Evidence(ensemble, Y, builder.data.classes, builder.data.sensitive)
    return feasible, weights, limit.measure(evidence), np.mean(evidence.labels == Y)


def test_a_fair_and_an_accurate_member_are_mixed():
    cell = np.arange(N_ROWS) // 4  # ten rows of each class and group
    true = 0.1 + 0.8 * Y
    favored = np.where((cell < 4) & (Y != GROUPS), 0.1 + 0.5 * (1 - Y) + 0.3 * Y, true)
    blurred = np.where(cell >= 6, 0.55 - 0.1 * Y, true)
    parity = StatisticalParity("g", 0.1, min_group_size=1)
    feasible, weights, value, accuracy = select_within(parity, [favored, blurred])
    assert feasible == [False, True]
    assert set(weights) == {0, 1}
    assert value <= 0.1
    assert accuracy == 1.0


def test_two_members_whose_differences_cancel_are_mixed():
    cell = np.arange(N_ROWS) // 4
    true = 0.1 + 0.8 * Y
    errors = [(cell < 4) & (Y != GROUPS), (cell >= 6) & (Y == GROUPS)]
    columns = [np.where(wrong, 0.6 - 0.2 * Y, true) for wrong in errors]
    parity = StatisticalParity("g", 0.1, min_group_size=1)
    feasible, weights, value, accuracy = select_within(parity, columns)
    assert feasible == [False, False]
    assert weights == {0: 0.5, 1: 0.5}
    assert value <= 0.1
    assert accuracy == 1.0


@pytest.mark.parametrize(("pool", "n_candidates"), [(2, 2), ("all", 12), (100, 12)])
def test_the_ensemble_is_selected_from_the_pool(pool, n_candidates):
    X, y = make_classification(300, 8, n_informative=5, flip_y=0.2, random_state=0)
    settings = {"max_evals": 12, "cv": 3, "initial": None, "random_state": 0}
    options = SearchOptions(pool=pool, warm_start=True)  # keeps the predictions of all trials
    clf = AutoClassifier("random", space=quick_space(), options=options, **settings).fit(X, y)
    known = [trial for trial in clf.history_ if trial.complete]
    best = sorted(known, key=lambda trial: (trial.loss, trial.tie_break))[:n_candidates]
    assert set(clf.member_weights_) <= {trial.number for trial in best}
