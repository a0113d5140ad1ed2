"""Which trials are promoted."""

import numpy as np
import pytest

from skauto.evaluation import RungPromotion
from skauto.selection import LogLoss, RocAucLoss, SmoothedLoss
from tests.evaluation.evaluators import history_of

ROWS = np.arange(200)
TRUTH = np.random.default_rng(0).integers(0, 2, 200)


def probabilities(certainty, seed, share_right=0.8):
    """Predictions that are right in a share of the rows, independent between seeds."""
    right = np.random.default_rng(seed).random(200) < share_right
    of_truth = np.where(right, certainty, 1 - certainty)
    p = np.where(TRUTH == 1, of_truth, 1 - of_truth)
    return np.column_stack([1 - p, p]).astype(np.float32)


@pytest.fixture
def promotion():
    return RungPromotion(TRUTH, ROWS, lambda rows: LogLoss())


def test_the_first_trials_are_promoted(promotion):
    history = history_of(probabilities(0.9, 1), probabilities(0.9, 2))
    assert promotion.promotes(history, 2, "algorithm", 1.0, probabilities(0.5, 3))


def test_a_trial_that_improves_the_ensemble_is_promoted(promotion):
    history = history_of(*(probabilities(0.95, seed) for seed in (1, 2, 3)))
    # No better than the others by itself, but its errors are others.
    assert promotion.promotes(history, 3, "algorithm", 1.0, probabilities(0.95, 4))


def test_a_trial_that_adds_nothing_is_not_promoted(promotion):
    history = history_of(*(probabilities(0.7, seed) for seed in (1, 2, 3)))
    assert not promotion.promotes(history, 3, "algorithm", 1.0, np.full((200, 2), 0.5, np.float32))
    assert not promotion.promotes(history, 3, "algorithm", 1.0, history[0].predictions)


def test_every_trial_is_promoted_if_the_loss_is_undefined():
    negative = np.zeros_like(TRUTH)
    promotion = RungPromotion(negative, ROWS, lambda rows: SmoothedLoss(RocAucLoss()))
    history = history_of(*(probabilities(0.7, seed) for seed in (1, 2, 3)))
    assert promotion.promotes(history, 3, "algorithm", 1.0, probabilities(0.5, 4))


def test_the_leader_of_a_algorithm_is_promoted(promotion):
    weak = probabilities(0.51, 5, share_right=0.5)
    weaker = probabilities(0.9, 6, share_right=0.5)
    strong = [probabilities(0.99, seed, share_right=0.99) for seed in (1, 2)]
    history = history_of(*strong, weaker, algorithms=["a", "b", "weak"])
    assert promotion.promotes(history, 3, "weak", 1.0, weak)
    assert not promotion.promotes(history, 3, "other", 1.0, weak)


def test_only_known_trials_count(promotion):
    history = history_of(*(probabilities(0.7, seed) for seed in (1, 2, 3)))
    useless = np.full((200, 2), 0.5, np.float32)
    assert promotion.promotes(history, 2, "algorithm", 1.0, useless)
    assert not promotion.promotes(history, 3, "algorithm", 1.0, useless)


@pytest.mark.parametrize("loss", [LogLoss(), SmoothedLoss(RocAucLoss())])
def test_weights_stand_for_repeated_rows(loss):
    rng = np.random.default_rng(0)
    weight = np.where(rng.random(200) < 0.1, 30, 1)
    rows = np.repeat(ROWS, weight)
    known = [probabilities(0.8, seed) for seed in (1, 2, 3)]
    plain = RungPromotion(TRUTH, ROWS, lambda rows: loss)
    weighted = RungPromotion(TRUTH, ROWS, lambda rows: loss, weight.astype(float))
    repeated = RungPromotion(TRUTH[rows], np.arange(len(rows)), lambda rows: loss)
    history, longer = history_of(*known), history_of(*(p[rows] for p in known))
    decisions = []
    for seed in range(10, 30):
        new = probabilities(0.7, seed, share_right=0.75)
        decisions.append(
            (
                weighted.promotes(history, 3, "algorithm_0", 1.0, new),
                repeated.promotes(longer, 3, "algorithm_0", 1.0, new[rows]),
                plain.promotes(history, 3, "algorithm_0", 1.0, new),
            )
        )
    by_weight, by_rows, unweighted = zip(*decisions, strict=True)
    assert by_weight == by_rows
    assert by_weight != unweighted
