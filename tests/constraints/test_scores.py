"""Constraints on rates and scores: equal to fairlearn's and scikit-learn's definitions."""

from dataclasses import replace

import fairlearn.metrics
import numpy as np
import pytest
from sklearn.metrics import get_scorer, roc_auc_score

from skauto.constraints import (
    Constraint,
    Evidence,
    FalseNegativeRate,
    FalsePositiveRate,
    GroupDisparity,
    ScoreBound,
    StatisticalParity,
)
from tests.constraints.drawn import draw

CLASSES = np.array(["no", "yes"])


def binary(evidence):
    return evidence.y, (evidence.probabilities[:, 1] > 0.5).astype(int)


def test_rates_are_fairlearns(evidence):
    y, predicted = binary(evidence)
    for constraint, metric in (
        (FalsePositiveRate(0.1), fairlearn.metrics.false_positive_rate),
        (FalseNegativeRate(0.1), fairlearn.metrics.false_negative_rate),
    ):
        assert constraint.measure(evidence) == pytest.approx(metric(y, predicted))


def test_rates_of_no_rows_are_not_defined():
    ones = Evidence(np.array([[0.2, 0.8]]), np.array([1]), CLASSES)
    assert np.isnan(FalsePositiveRate(0.1).measure(ones))
    assert FalseNegativeRate(0.1).measure(ones) == 0.0


def test_score_bounds(evidence):
    auc = roc_auc_score(evidence.y, evidence.probabilities[:, 1])
    bound = ScoreBound("roc_auc", lower=0.9)
    assert bound.reported(bound.measure(evidence)) == pytest.approx(auc)
    assert (bound.measure(evidence) <= bound.limit) == (auc >= 0.9)
    assert bound.reported(bound.limit) == pytest.approx(0.9)
    loss = ScoreBound("neg_log_loss", lower=-0.5)
    assert loss.limit == 0.5
    assert ScoreBound("roc_auc", upper=0.99).measure(evidence) == pytest.approx(auc)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "balanced_accuracy"])
def test_scores_are_weighted_and_rates_are_not(evidence, rng, metric):
    y, predicted = binary(evidence)
    weight = rng.uniform(0.1, 10.0, len(y))
    weighted = replace(evidence, sample_weight=weight)
    function = get_scorer(metric)._score_func
    scores = evidence.probabilities[:, 1] if metric == "roc_auc" else predicted

    def score(rows):
        return function(y[rows], scores[rows], sample_weight=weight[rows])

    rows = rng.integers(len(y), size=300)
    bound = ScoreBound(metric, upper=0.9)
    assert bound.measure(weighted) == pytest.approx(score(np.arange(len(y))))
    assert bound.measure(weighted.take(rows)) == pytest.approx(score(rows))
    by_group = [score(evidence.groups["age"] == g) for g in range(4)]
    disparity = GroupDisparity("age", metric)
    assert disparity.measure(weighted) == pytest.approx(np.ptp(by_group))
    for rate in (FalseNegativeRate(), StatisticalParity("age")):
        assert rate.measure(weighted) == rate.measure(evidence)


def test_positive_label(evidence):
    swapped = FalsePositiveRate(0.1, positive_label="no").measure(evidence)
    assert swapped == pytest.approx(FalseNegativeRate(0.1).measure(evidence))


def test_a_lower_bound_on_a_score_is_bounded_from_below():
    evidence = draw(np.random.default_rng(0), 500)
    recall = ScoreBound("recall", lower=0.5)
    value, bound = recall.measure(evidence), recall.bound(evidence, 0.95)
    assert recall.reported(bound) < recall.reported(value)
    n_positive = evidence.y.sum()
    error = np.sqrt(value * (1 - value) / n_positive)
    assert bound - value == pytest.approx(1.645 * error, rel=0.25)


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "neg_log_loss"])
def test_the_bound_of_a_score_is_that_of_its_metric_on_resampled_rows(rng, scoring):
    evidence = replace(draw(rng, 400), sample_weight=rng.integers(1, 4, 400).astype(float))
    for limit in ({"lower": -1.0}, {"upper": 1.0}):
        bound = ScoreBound(scoring, **limit)
        values, slow = bound._resampled(evidence), Constraint._resampled(bound, evidence)
        np.testing.assert_allclose(np.mean(values), np.mean(slow), atol=0.01)
        np.testing.assert_allclose(np.std(values), np.std(slow), rtol=0.2)
