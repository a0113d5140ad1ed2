"""GroupScores of groups that nobody names at prediction."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from skauto.data import TrainingData
from skauto.ensemble._group_scores import PredictedGroups
from skauto.model import Decision
from skauto.selection import ErrorLoss, RateLimit
from skauto.selection._rates import choose_signal_thresholds

N = 1500


def people(n, seed):
    """Group, class, its probability, and a table of which one column tells of the group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    Z = np.column_stack([rng.normal(2.0 * group), rng.normal(size=n)])
    positive = expit(1.2 * Z[:, 0] - 1.2 + Z[:, 1])
    return group, (rng.random(n) < positive).astype(int), positive, Z


@pytest.fixture(scope="module")
def training():
    group, y, positive, Z = people(N, 0)
    rows = np.arange(N)
    splits = [(rows[rows % 2 != k], rows[rows % 2 == k]) for k in range(2)]
    data = TrainingData(Z=Z, y=y, classes=np.array([0, 1]), splits=splits)
    return group, positive, data


def sets_of(group, kind):
    return np.array([kind & (group == 0), kind & (group == 1)])


@pytest.fixture(scope="module")
def parity(training):
    group, _, data = training
    limit = RateLimit(sets_of(group, np.ones(N, dtype=bool)), 0.05)
    return limit, PredictedGroups([limit, limit], data)


def test_two_limits_on_the_same_groups_share_their_models(parity):
    assert len(parity[1].models) == 1


def test_signals_are_the_ratios_of_the_groups_probabilities(training, parity):
    _, positive, data = training
    signals = parity[1].out_of_fold(positive)[:, 0]
    told = expit(2.0 * data.Z[:, 0] - 2.0)  # probability of group 1
    shares = parity[1].models[0].shares
    expected = (told / shares[1] - (1 - told) / shares[0]) * (1 - 2 * np.argmax(shares))
    assert np.corrcoef(signals, expected)[0, 1] > 0.85


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_signals_are_against_the_largest_group_whatever_the_order(order):
    """A row of a small group has one signal that is not small: its own."""
    rng = np.random.default_rng(2)
    group = rng.choice(3, size=600, p=[0.1, 0.6, 0.3])  # 1 is the largest
    rows = np.arange(600)
    data = TrainingData(
        Z=np.eye(3)[group],
        y=rng.integers(2, size=600),
        classes=np.array([0, 1]),
        splits=[(rows[rows % 2 != k], rows[rows % 2 == k]) for k in range(2)],
    )
    limit = RateLimit(np.array([group == g for g in order]), 0.05)
    signals = PredictedGroups([limit], data).out_of_fold(np.full(600, 0.5))
    shares = np.bincount(group) / 600
    own = np.array([[0.0, -1 / 0.6, 0.0], [0.0, -1 / 0.6, 0.0]])
    for column, g in enumerate(g for g in order if g != 1):
        own[column, g] = 1 / shares[g]
    np.testing.assert_allclose(signals, own[:, group].T, rtol=0.2, atol=0.5)


def test_a_fold_may_train_on_one_group_alone(training):
    group, positive, data = training
    rows = np.arange(N)
    splits = [(rows[group == g], rows[group != g]) for g in range(2)]
    limit = RateLimit(sets_of(group, np.ones(N, dtype=bool)), 0.05)
    scores = PredictedGroups([limit], replace(data, splits=splits))
    largest = np.argmax(np.bincount(group))
    expected = N / np.bincount(group) * np.where(np.arange(2) == largest, -1, 1)
    np.testing.assert_allclose(scores.out_of_fold(positive)[:, 0], expected[1 - group])


def test_labels_of_new_rows_treat_groups_more_alike(training, parity):
    limit, signals = parity
    _, positive, data = training
    out_of_fold = signals.out_of_fold(positive)
    (rule,) = choose_signal_thresholds(positive, data.y, ErrorLoss(), [limit], out_of_fold)
    decision = signals.decision(rule, Decision(np.zeros(2)))
    group, y, fresh, Z = people(4000, 1)
    probabilities = np.column_stack([1 - fresh, fresh])
    labels = decision.at(None, Z, probabilities).labels(probabilities)
    gap = labels[group == 1].mean() - labels[group == 0].mean()
    assert abs(gap) < 0.12
    assert np.mean(labels == y) > 0.6
    plain = probabilities.argmax(axis=1)
    assert plain[group == 1].mean() - plain[group == 0].mean() > 0.5


def test_the_true_positive_rate_weighs_signals_by_the_probability(training):
    group, positive, data = training
    limit = RateLimit(sets_of(group, data.y == 1), 0.05)
    (model,) = PredictedGroups([limit], data).models
    assert model.weight == "positive"
    np.testing.assert_allclose(
        model.signals(None, data.Z, 0.5 * positive),
        0.5 * model.signals(None, data.Z, positive),
    )


def test_a_limit_on_one_rate_needs_no_signal(training):
    group, positive, data = training
    limit = RateLimit((data.y == 0)[None], 0.1, "rate")
    signals = PredictedGroups([limit], data)
    assert signals.models == ()
    assert signals.out_of_fold(positive).shape == (N, 0)


def test_a_plain_decision_is_the_same_for_all_rows():
    decision = Decision(np.array([0.0, 1.0]))
    assert decision.at(None, np.zeros((3, 1)), np.full((3, 2), 0.5)) is decision
