"""Prediction sets have their coverage."""

import numpy as np
import pytest

from skauto.selection._conformal import smallest_probability


@pytest.mark.parametrize("coverage", [0.7, 0.9, 0.99])
def test_sets_hold_the_true_class_of_new_rows(coverage):
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(300):
        logits = rng.normal(size=(220, 3))
        noisy = np.exp(1.7 * logits)  # not calibrated
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        y = (p.cumsum(axis=1) < rng.random((220, 1))).sum(axis=1)
        q = noisy / noisy.sum(axis=1, keepdims=True)
        least = smallest_probability(q[:200], y[:200], coverage)
        covered.append(q[np.arange(200, 220), y[200:]] >= least)
    assert coverage - 0.005 <= np.mean(covered) <= coverage + 1 / 201 + 0.005


def test_quantile_in_closed_form():
    p = np.array([[0.1 * i, 1 - 0.1 * i] for i in range(1, 10)])
    y = np.zeros(9, dtype=int)
    # 10 rows with the new one: a share of .8 is the 8th largest probability of 9
    assert smallest_probability(p, y, 0.8) == pytest.approx(0.2)
    assert smallest_probability(p, y, 0.95) == 0.0
    doubled = smallest_probability(np.repeat(p, 2, axis=0), np.repeat(y, 2), 0.8)
    assert doubled == pytest.approx(0.2)
