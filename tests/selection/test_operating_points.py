"""Operating points against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score

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
