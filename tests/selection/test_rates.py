"""Thresholds under limits against brute force and the known optimum."""

import numpy as np
import pytest
from scipy.special import expit, logit

from skauto.selection import BalancedErrorLoss, ErrorLoss, RateLimit
from skauto.selection._rates import SignalThreshold, choose_signal_thresholds, expected_labels


def people(n, seed, told=2.0):
    """Draw groups, classes and their probabilities; group 1 has more positives."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    clue = rng.normal(told * (group - 0.5))
    positive = expit(rng.normal(size=n) + 1.2 * clue)
    y = (rng.random(n) < positive).astype(int)
    signal = 2 * expit(told * clue) - 1
    return group, y, positive, signal[:, None]


def parity(group, upper):
    return RateLimit(np.array([group == 0, group == 1]), upper)


def labels(rule, positive, signals):
    return positive > rule.base + signals @ rule.strengths


@pytest.mark.parametrize("n_rows", [200, 2500])  # with more than 1,000 rows in two passes
def test_one_threshold_equals_brute_force(n_rows):
    group, y, positive, _ = people(n_rows, 0)
    limit = parity(group, 0.1)
    (rule,) = choose_signal_thresholds(positive, y, ErrorLoss(), [limit], np.empty((n_rows, 0)))
    rows = np.sort(positive)
    tried = [-1.0, *(rows[1:] + rows[:-1]) / 2, 2.0]
    errors = []
    for threshold in tried:
        chosen = positive > threshold
        if abs(chosen[group == 1].mean() - chosen[group == 0].mean()) <= 0.1:
            errors.append(np.mean(chosen != y))
    assert np.mean((positive > rule.base) != y) == pytest.approx(min(errors))


def test_a_signal_of_the_group_costs_less_than_one_threshold():
    group, y, positive, signals = people(4000, 1)
    limit = parity(group, 0.05)
    found = {}
    for name, columns in {"signal": signals, "none": signals[:, :0]}.items():
        (rule,) = choose_signal_thresholds(positive, y, ErrorLoss(), [limit], columns)
        fresh_group, fresh_y, fresh, told = people(20_000, 2)
        chosen = labels(rule, fresh, told[:, : columns.shape[1]])
        gap = chosen[fresh_group == 1].mean() - chosen[fresh_group == 0].mean()
        assert abs(gap) < 0.1
        found[name] = np.mean(chosen == fresh_y)
    assert found["signal"] > found["none"] + 0.02


def test_a_group_that_is_known_gets_the_best_pair_of_thresholds():
    group, y, positive, _ = people(600, 3)
    limit = parity(group, 0.02)
    signals = (2.0 * group - 1)[:, None]
    (rule,) = choose_signal_thresholds(positive, y, ErrorLoss(), [limit], signals)
    best = 1.0
    for low in np.linspace(0, 1, 101):
        for high in np.linspace(0, 1, 101):
            chosen = positive > np.where(group == 1, high, low)
            if abs(chosen[group == 1].mean() - chosen[group == 0].mean()) <= 0.02:
                best = min(best, np.mean(chosen != y))
    found = np.mean(labels(rule, positive, signals) != y)
    assert found <= best + 0.01


@pytest.mark.parametrize("kind", ["rate", "rest"])
def test_a_limit_on_a_rate_is_kept_with_one_threshold(kind):
    _, y, positive, signals = people(1000, 4)
    kind_of_row = y == (0 if kind == "rate" else 1)
    limit = RateLimit(kind_of_row[None], 0.1, kind)
    (rule,) = choose_signal_thresholds(positive, y, ErrorLoss(), [limit], signals[:, :0])
    share = (positive > rule.base)[kind_of_row].mean()
    assert 0.08 < (share if kind == "rate" else 1 - share) <= 0.1


def test_limits_that_need_no_move_keep_the_best_threshold():
    group, y, positive, signals = people(2000, 5)
    loss = BalancedErrorLoss()
    (rule,) = choose_signal_thresholds(positive, y, loss, [parity(group, 1.0)], signals[:, :0])
    found = loss(y, np.eye(2)[labels(rule, positive, signals[:, :0]).astype(int)][None])[0]
    tried = [
        loss(y, np.eye(2)[(positive > t).astype(int)][None])[0] for t in np.linspace(0, 1, 201)
    ]
    assert found <= min(tried)


def shifted_groups(shifts, n, seed):
    """Draw groups, classes and probabilities, whose logits are shifted by group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(len(shifts), size=n)
    positive = expit(rng.normal(size=n) + np.array(shifts)[group])
    return group, (rng.random(n) < positive).astype(int), positive


@pytest.mark.parametrize("reference", [0.0, 1.0])  # with a threshold each; against group 0
@pytest.mark.parametrize("shifts", [(1.0, 1.0, -1.5), (0.7, -0.4, 0.2, -1.0)])
def test_several_known_groups_get_nearly_the_best_thresholds(shifts, reference):
    group, y, positive = shifted_groups(shifts, 1200, 8)
    groups = np.array([group == g for g in range(len(shifts))])
    signals = 1.0 * groups[1:].T - reference * groups[:1].T
    limit = RateLimit(groups, 0.02)
    (rule,) = choose_signal_thresholds(positive, y, ErrorLoss(), [limit], signals)
    best = 1.0
    for share in np.linspace(0, 1, 201):  # equal shares of positive labels
        thresholds = [np.quantile(positive[own], 1 - share) for own in groups]
        best = min(best, np.mean((positive > np.array(thresholds)[group]) != y))
    chosen = labels(rule, positive, signals)
    assert np.ptp([chosen[own].mean() for own in groups]) <= 0.02
    assert np.mean(chosen != y) <= best + 0.005


def test_both_rates_of_known_groups_can_be_limited():
    group, y, positive = shifted_groups((1.0, -1.0), 2000, 9)
    sets = [np.array([(group == g) & (y == kind) for g in range(2)]) for kind in (0, 1)]
    limits = [RateLimit(own, 0.05) for own in sets]
    sides = (2.0 * group - 1)[:, None] * np.column_stack([1 - positive, positive])
    (rule,) = choose_signal_thresholds(positive, y, ErrorLoss(), limits, sides)
    chosen = labels(rule, positive, sides)
    for own in sets:
        assert np.ptp([chosen[rows].mean() for rows in own]) <= 0.05
    assert np.mean(chosen == y) > 0.6


def test_tighter_limits_lose_more_and_each_is_kept():
    group, y, positive, signals = people(3000, 6)
    limit = parity(group, 0.1)
    rules = choose_signal_thresholds(
        positive, y, ErrorLoss(), [limit], signals, tightness=(1.0, 0.5, 0.2)
    )
    gaps, errors = [], []
    for rule in rules:
        chosen = labels(rule, positive, signals)
        gaps.append(abs(chosen[group == 1].mean() - chosen[group == 0].mean()))
        errors.append(np.mean(chosen != y))
    assert np.all(np.array(gaps) <= [0.1, 0.05, 0.02])
    assert errors == sorted(errors)


def test_offsets_label_as_the_threshold_does():
    _, _, positive, signals = people(500, 7)
    rule = SignalThreshold(0.4, np.array([0.3]))
    offsets = rule.offsets(signals)
    assert np.array_equal(logit(positive) + offsets[:, 1] > 0, labels(rule, positive, signals))


def test_expected_labels_are_probabilities_only_where_they_are_calibrated():
    n_calibrated = 0
    for seed in range(20):
        _, y, positive, _ = people(2000, seed)
        n_calibrated += np.array_equal(expected_labels(positive, y), positive)
        for shift in (-1.5, 1.5):
            np.testing.assert_array_equal(expected_labels(expit(logit(positive) + shift), y), y)
    assert n_calibrated >= 16  # about nine tenths, by two standard errors


def test_weights_decide_whether_probabilities_are_calibrated():
    _, y, positive, _ = people(2000, 0)
    weight = np.where(y == 1, 6.0, 1.0)  # odds are six times as high
    np.testing.assert_array_equal(expected_labels(positive, y, weight), y)
    odds = expit(logit(positive) + np.log(6.0))
    np.testing.assert_array_equal(expected_labels(odds, y, weight), odds)


def test_expected_labels_overfit_less():
    """Mean excess error on the probabilities of other rows, where one tenth of them train."""
    excess = []
    for seed in range(12):
        group, y, positive, signals = people(400, seed)
        _, _, fresh, told = people(4000, 100 + seed)
        errors = []
        for target in (expected_labels(positive, y), y):
            (rule,) = choose_signal_thresholds(
                positive, target, ErrorLoss(), [parity(group, 0.1)], signals
            )
            chosen = labels(rule, fresh, told)
            errors.append(np.where(chosen, 1 - fresh, fresh).mean())
        excess.append(errors[1] - errors[0])
    assert np.mean(excess) > 0.002
    assert np.sum(np.array(excess) > 0) >= 8
