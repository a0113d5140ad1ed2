"""Candidates of ensemble selection."""

import numpy as np

from skauto.selection._candidates import candidate_pool


def test_the_best_and_the_best_of_each_family():
    rng = np.random.default_rng(0)
    losses, algorithms = rng.random(60), rng.integers(4, size=60).tolist()
    chosen = candidate_pool(losses, algorithms, n_best=5, n_per_algorithm=2)
    order = np.argsort(losses)
    expected = set(order[:5].tolist())
    for algorithm in range(4):
        expected |= set([i for i in order.tolist() if algorithms[i] == algorithm][:2])
    assert set(chosen.tolist()) == expected
    assert (np.diff(losses[chosen]) > 0).all()


def test_later_columns_break_ties():
    losses = [(0.0, 0.5, 0.2), (0.0, 0.5, 0.1), (1.0, 0.0, 0.0)]
    assert candidate_pool(losses, "aaa", n_best=2, n_per_algorithm=0).tolist() == [1, 0]


def test_ties_keep_their_order_and_nothing_gives_nothing():
    assert candidate_pool([0.5, 0.5, 0.5], "aab").tolist() == [0, 1, 2]
    assert candidate_pool([], []).shape == (0,)
