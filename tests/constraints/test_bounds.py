"""Bounds at a confidence: they cover the truth as often as they say."""

import numpy as np
import pytest
from scipy.stats import beta, norm

from skauto.constraints import (
    CallableConstraint,
    EqualizedOdds,
    EqualOpportunity,
    Evidence,
    FalseNegativeRate,
    GroupDisparity,
    ScoreBound,
    StatisticalParity,
)
from skauto.constraints._checker import ConstraintChecker
from skauto.constraints._evidence import Margin
from skauto.data import TrainingData
from skauto.history import Trial
from skauto.space import Configuration

CLASSES = np.array([0, 1])
# Of two groups: share of rows, share of positives, true and false positive rates.
GROUPS = {"shares": (0.7, 0.3), "positives": (0.5, 0.4), "tpr": (0.8, 0.7), "fpr": (0.2, 0.15)}


def draw(rng, n_rows, *, groups=GROUPS):
    """Labels and predictions of rows of two groups."""
    group = (rng.random(n_rows) < groups["shares"][1]).astype(int)
    y = (rng.random(n_rows) < np.take(groups["positives"], group)).astype(int)
    rate = np.where(y == 1, np.take(groups["tpr"], group), np.take(groups["fpr"], group))
    label = rng.random(n_rows) < rate
    probabilities = np.where(label, 0.9, 0.1)
    return Evidence(
        np.column_stack([1 - probabilities, probabilities]), y, CLASSES, groups={"g": group}
    )


def covered(constraint, truth, n_rows, n_simulations, confidence=0.95, groups=GROUPS):
    rng = np.random.default_rng(0)
    bounds = [
        constraint.bound(draw(rng, n_rows, groups=groups), confidence)
        for _ in range(n_simulations)
    ]
    return np.mean(np.array(bounds) >= truth)


@pytest.mark.parametrize("n_rows", [150, 1000])
@pytest.mark.parametrize(
    "constraint, truth",
    [
        (StatisticalParity("g"), 0.5 * 0.8 + 0.5 * 0.2 - 0.4 * 0.7 - 0.6 * 0.15),
        (EqualOpportunity("g"), 0.8 - 0.7),
        (EqualizedOdds("g"), 0.8 - 0.7),
        (FalseNegativeRate(), (0.35 * 0.2 + 0.12 * 0.3) / (0.35 + 0.12)),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_rates_are_covered(constraint, truth, n_rows):
    share = covered(constraint, truth, n_rows, n_simulations=200)
    assert share >= 0.92  # 0.95 less two standard errors of 200 simulations


def test_a_rate_of_zero_is_bounded_by_more():
    """Where all rows of both groups are negative, resamples of rows would say 0."""
    rare = {**GROUPS, "tpr": (0.02, 0.0), "fpr": (0.02, 0.0)}
    assert covered(StatisticalParity("g"), 0.02, 200, 200, groups=rare) >= 0.92
    none = draw(np.random.default_rng(0), 100, groups={**GROUPS, "tpr": (1, 1), "fpr": (0, 0)})
    n_positive = int(none.y.sum())
    expected = beta.ppf(0.95, 1, n_positive)
    assert FalseNegativeRate().bound(none, 0.95) == pytest.approx(expected)


def error_rate(estimator, X, y):
    return (estimator.predict(X) != y).mean()


def test_the_bootstrap_covers():
    truth = 1 - 0.7 * 0.8 - 0.3 * (0.4 * 0.7 + 0.6 * 0.85)
    share = covered(CallableConstraint(error_rate), truth, 300, n_simulations=100, confidence=0.9)
    assert share >= 0.84  # 0.9 less two standard errors of 100 simulations


def test_a_lower_bound_on_a_score_is_bounded_from_below():
    evidence = draw(np.random.default_rng(0), 500)
    recall = ScoreBound("recall", lower=0.5)
    value, bound = recall.measure(evidence), recall.bound(evidence, 0.95)
    assert recall.reported(bound) < recall.reported(value)
    n_positive = evidence.y.sum()
    error = np.sqrt(value * (1 - value) / n_positive)
    assert bound - value == pytest.approx(1.645 * error, rel=0.25)


def test_resamples_on_which_nothing_is_defined_do_not_count():
    evidence = draw(np.random.default_rng(0), 12)
    assert np.isnan(GroupDisparity("g", "roc_auc").bound(evidence, 0.9))


def test_the_gate_holds_the_bound_of_all_rows_against_the_limit():
    evidence = draw(np.random.default_rng(0), 400)
    rows = np.arange(400)
    data = TrainingData(
        Z=np.zeros((400, 1)),
        y=evidence.y,
        classes=CLASSES,
        splits=[(rows[200:], rows[:200]), (rows[:200], rows[200:])],
        sensitive=evidence.groups,
    )
    constraint = StatisticalParity("g", 0.1)
    folds = {
        constraint.key: tuple(constraint.measure(evidence.take(test)) for _, test in data.splits)
    }
    plain = ConstraintChecker([constraint], data).estimates(folds, evidence.probabilities)
    assert plain == {constraint.key: constraint.measure(evidence)}
    sure = ConstraintChecker([constraint], data, margin=Margin.of("95%"))
    expected = constraint.bound(evidence, 0.95)
    assert sure.estimates(folds, evidence.probabilities) == {constraint.key: expected}


@pytest.mark.parametrize("n_validated", [9, 10])
def test_decisions_and_the_gate_compare_the_same_groups(n_validated):
    """With a single split, a group may be large in all rows and small in the validation rows."""
    rows = np.arange(300)
    codes = np.where(rows < 30, 2, rows % 2)
    test = rows[30 - n_validated : 150]
    labels = np.where(codes == 2, 1, rows // 2 % 2)
    data = TrainingData(
        Z=np.zeros((300, 1)),
        y=rows % 2,
        classes=CLASSES,
        splits=[(np.setdiff1d(rows, test), test)],
        sensitive={"g": codes},
    )
    parity = StatisticalParity("g", 0.1)
    (limit,) = parity.rate_limits(Evidence.of(data, np.empty((300, 0)), rows))
    np.testing.assert_array_equal(limit.sets, [codes == g for g in range(n_validated - 7)])
    predictions = np.full((300, 2), np.nan)
    predictions[test] = np.eye(2)[labels[test]]
    trial = Trial(
        number=0, configuration=Configuration({}), losses=(0.0,), predictions=predictions
    )
    (found,) = ConstraintChecker([parity], data).judge([trial], [1.0]).measurements
    rates = np.array([[labels[test][members[test]].mean() for members in limit.sets]])
    assert found.value == pytest.approx(limit.measure(rates)[0])


def test_differences_between_groups_are_measured_on_all_rows_together():
    rng = np.random.default_rng(0)
    n_rows, n_folds = 400, 10
    groups = np.arange(n_rows) % 2
    positive = np.tile([0, 0, 1, 1], n_rows // 4)  # half of each group: no difference
    order = rng.permutation(n_rows)
    data = TrainingData(
        Z=np.zeros((n_rows, 1)),
        y=positive,
        classes=CLASSES,
        splits=[(np.setdiff1d(order, test), test) for test in np.split(order, n_folds)],
        sensitive={"g": groups},
    )
    trial = Trial(
        number=0, configuration=Configuration({}), losses=(0.0,), predictions=np.eye(2)[positive]
    )
    (found,) = (
        ConstraintChecker([StatisticalParity("g", 0.05)], data).judge([trial], [1.0]).measurements
    )
    assert found.value == found.estimate == 0.0
    assert np.mean(found.folds) > 0.05  # by chance: 20 rows of a group in each fold
    cautious = ConstraintChecker([StatisticalParity("g", 0.05)], data, margin=Margin(n_errors=1.0))
    (measured,) = cautious.judge([trial], [1.0]).measurements
    assert measured.value == pytest.approx(measured.error)


@pytest.mark.parametrize(
    ("constraint", "n_errors"),
    [(FalseNegativeRate(0.3), 3.0), (ScoreBound("roc_auc", lower=0.5), 1)],
)
@pytest.mark.parametrize("n_folds", [1, 2])
def test_a_number_of_errors_is_a_confidence_without_two_folds(constraint, n_errors, n_folds):
    """With a single split, and where a second fold has no row of the positive class."""
    evidence = draw(np.random.default_rng(0), 300)
    rows = np.arange(300)
    data = TrainingData(
        Z=np.zeros((300, 1)),
        y=evidence.y,
        classes=CLASSES,
        splits=[(rows, rows), (rows, np.flatnonzero(evidence.y == 0))][:n_folds],
    )
    checker = ConstraintChecker([constraint], data, margin=Margin(n_errors=n_errors))
    trial = Trial(
        number=0,
        configuration=Configuration({}),
        losses=(0.0,),
        predictions=evidence.probabilities,
    )
    expected = constraint.bound(evidence, norm.cdf(n_errors))
    assert expected > constraint.measure(evidence)
    (found,) = checker.judge([trial], [1.0]).measurements
    assert found.value == pytest.approx(expected)
    folds = {constraint.key: (constraint.measure(evidence), np.nan)[:n_folds]}
    estimates = checker.estimates(folds, evidence.probabilities)
    assert estimates[constraint.key] == pytest.approx(expected)


@pytest.mark.parametrize("text", ["95", "30%", "100%", "a lot", "%"])
def test_a_confidence_is_a_percentage(text):
    with pytest.raises(ValueError, match="at least 50% and less than 100%"):
        Margin.of(text)
