"""Which members are selected within limits."""

import numpy as np

from skauto.constraints import Evidence, StatisticalParity
from tests.ensemble.ballast import GROUPS, N_ROWS, Y, builder_of, history_for, labelled_trial


def select_within(limit, columns):
    """Weights of trials with these probabilities, and the labels of their ensemble."""
    builder = builder_of([limit])
    history = history_for([limit])
    for number, positive in enumerate(columns):
        history.append(labelled_trial(number, positive, limit, builder.data))
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
