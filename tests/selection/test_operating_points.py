"""Operating points against scikit-learn, and the coverage of prediction sets."""

import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score

from skauto.selection._conformal import smallest_probability
from skauto.selection._operating_points import OperatingPoints


def rows(n=400, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    margins = rng.normal(y * 1.5, 1.0)
    return (np.round(margins, 1) if ties else margins), y, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_points_equal_scikit_learn(ties, weighted):
    margins, y, weight = rows(ties=ties)
    weight = weight if weighted else None
    points = OperatingPoints.of(margins, y, weight)
    assert len(points.cuts) == len(np.unique(margins))
    for cut, flagged, precision, recall in zip(
        points.cuts, points.flagged, points.precision, points.recall, strict=True
    ):
        labels = margins > cut
        assert flagged == pytest.approx(np.average(labels, weights=weight))
        assert precision == pytest.approx(precision_score(y, labels, sample_weight=weight))
        assert recall == pytest.approx(recall_score(y, labels, sample_weight=weight))


def test_the_best_point_within_the_bounds():
    points = OperatingPoints.of(*rows()[:2])
    for recall in (0.5, 0.9, 1.0):
        index, met = points.find(recall, None, None)
        assert met and points.recall[index] >= recall
        assert points.precision[index] == points.precision[points.recall >= recall].max()
    for precision in (0.35, 0.6):
        index, met = points.find(None, precision, None)
        assert met and points.precision[index] >= precision
        assert points.recall[index] == points.recall[points.precision >= precision].max()
    index, met = points.find(None, None, 0.2)
    assert met and points.flagged[index] == 0.2
    index, met = points.find(0.99, 0.99, None)
    assert not met and points.recall[index] + points.precision[index] > 1.2


def test_no_positive_row():
    points = OperatingPoints.of(np.arange(5.0), np.zeros(5, dtype=bool))
    assert points.find(0.9, None, None)[1] is False
    assert (points.recall == 0).all()


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
