"""Greedy selection against a second implementation in plain Python, and its options."""

import numpy as np
import pytest
from sklearn import metrics

from skauto.selection import (
    ErrorLoss,
    LogLoss,
    RocAucLoss,
    ScorerLoss,
    Selection,
    SmoothedLoss,
    greedy_selection,
)

METRICS = {
    "log_loss": (LogLoss(), lambda y, p, w: metrics.log_loss(y, p, sample_weight=w)),
    "error": (
        ErrorLoss(),
        lambda y, p, w: 1 - metrics.accuracy_score(y, p.argmax(axis=1), sample_weight=w),
    ),
    "roc_auc": (
        RocAucLoss(),
        lambda y, p, w: (
            1
            - metrics.roc_auc_score(
                y, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr", sample_weight=w
            )
        ),
    ),
    "scorer": (
        ScorerLoss(metrics.make_scorer(metrics.matthews_corrcoef)),
        lambda y, p, w: -metrics.matthews_corrcoef(y, p.argmax(axis=1), sample_weight=w),
    ),
}


def brute_force(predictions, y, metric, n_members, weight=None):
    """Greedy selection with every ensemble's mean computed from scratch."""
    members, losses = [], []
    while len(members) < n_members:
        candidates = []
        for index in range(len(predictions)):
            mean = np.mean([predictions[i].astype(float) for i in [*members, index]], axis=0)
            candidates.append(metric(y, mean, weight))
        best = next(i for i, value in enumerate(candidates) if value <= min(candidates) + 1e-12)
        members.append(best)
        losses.append(candidates[best])
    return members, losses


def make_problem(seed, n_candidates=6, n_samples=40, n_classes=2, steps=None):
    """Labels and float32 probabilities correlated with them; `steps` rounds to a coarse grid."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_samples - n_classes)])
    lean = np.eye(n_classes)[y]
    if steps is None:
        noise = rng.dirichlet(np.ones(n_classes), size=(n_candidates, n_samples))
        predictions = 0.3 * lean + 0.7 * noise
    else:
        shares = 0.3 * lean + 0.7 / n_classes
        predictions = np.stack(
            [
                [rng.multinomial(steps, share) / steps for share in shares]
                for _ in range(n_candidates)
            ]
        )
        predictions = 0.9 * predictions + 0.1 / n_classes
    return predictions.astype(np.float32), y, rng


@pytest.mark.filterwarnings("ignore:The y_prob values do not sum to one")
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("steps", [None, 3], ids=["distinct", "ties"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", METRICS)
def test_equals_brute_force(name, n_classes, steps, weighted):
    loss, metric = METRICS[name]
    predictions, y, rng = make_problem(0, n_classes=n_classes, steps=steps)
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    members, losses = brute_force(predictions, y, metric, 4, weight)
    selection = greedy_selection(predictions, y, loss, n_members=4, sample_weight=weight)
    assert selection.indices.tolist() == members
    np.testing.assert_allclose(selection.losses, losses, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(selection.weights, np.bincount(members, minlength=6) / 4)


def test_blocks_of_candidates_change_nothing(monkeypatch):
    predictions, y, _ = make_problem(0, n_candidates=23)
    whole = greedy_selection(predictions, y, RocAucLoss())
    monkeypatch.setattr("skauto.selection._greedy._BLOCK_SIZE", 5 * len(y))
    in_blocks = greedy_selection(predictions, y, RocAucLoss())
    np.testing.assert_array_equal(in_blocks.indices, whole.indices)
    np.testing.assert_array_equal(in_blocks.losses, whole.losses)


@pytest.mark.parametrize("loss", [LogLoss(), ErrorLoss(), RocAucLoss()], ids=repr)
def test_one_member_is_the_best_single_candidate(loss):
    predictions, y, _ = make_problem(1, n_candidates=12)
    selection = greedy_selection(predictions, y, loss, n_members=1)
    singles = loss(y, predictions)
    assert selection.indices.tolist() == [int(np.argmin(singles))]
    assert selection.weights.sum() == selection.weights[selection.indices[0]] == 1.0
    np.testing.assert_allclose(selection.losses, singles.min())


@pytest.mark.parametrize("loss", [LogLoss(), ErrorLoss(), RocAucLoss()], ids=repr)
def test_a_lone_candidate_is_the_ensemble(loss):
    predictions, y, _ = make_problem(2, n_candidates=1)
    selection = greedy_selection(predictions, y, loss, n_members=5)
    assert selection.weights.tolist() == [1.0]
    np.testing.assert_allclose(selection.losses, np.full(5, loss(y, predictions)[0]))


@pytest.mark.parametrize("loss", [LogLoss(), ErrorLoss(), RocAucLoss()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_equal_candidates_tie_to_the_first(loss, weighted):
    predictions, y, rng = make_problem(3, n_candidates=1, n_samples=101)
    weight = rng.random(len(y)) if weighted else None
    repeated = np.repeat(predictions, 9, axis=0)
    selection = greedy_selection(repeated, y, loss, n_members=7, sample_weight=weight)
    assert selection.indices.tolist() == [0] * 7


def test_a_little_log_loss_decides_between_equal_errors():
    y = np.array([0, 1])
    predictions = np.array([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.2, 0.8]]])
    plain = greedy_selection(predictions, y, ErrorLoss(), n_members=3)
    smoothed = greedy_selection(predictions, y, SmoothedLoss(ErrorLoss()), n_members=3)
    assert plain.indices.tolist() == [0, 0, 0]
    assert smoothed.indices.tolist() == [1, 1, 1]


def test_selection_does_not_worsen_the_best_single_log_loss():
    predictions, y, _ = make_problem(4, n_candidates=20, n_samples=200)
    selection = greedy_selection(predictions, y, LogLoss())
    mean = np.tensordot(selection.weights, predictions.astype(float), axes=1)
    np.testing.assert_allclose(LogLoss()(y, mean[None])[0], selection.losses[-1])
    assert selection.losses[-1] < LogLoss()(y, predictions).min()


def test_feasible_restricts_the_whole_ensemble():
    predictions, y, _ = make_problem(8, n_candidates=10)
    cost = np.arange(1, 11)

    def within_budget(counts, candidate):
        chosen = counts > 0
        return chosen[candidate] or cost[chosen].sum() + cost[candidate] <= 9

    free = greedy_selection(predictions, y, LogLoss())
    bound = greedy_selection(predictions, y, LogLoss(), feasible=within_budget)
    assert cost[free.weights > 0].sum() > 9
    assert cost[bound.weights > 0].sum() <= 9
    assert len(bound.indices) == 25


def test_feasible_sees_the_counts_and_may_end_the_selection():
    predictions, y, _ = make_problem(9, n_candidates=4)
    seen = []

    def once_each(counts, candidate):
        seen.append((counts.sum(), candidate))
        return counts[candidate] == 0

    selection = greedy_selection(predictions, y, LogLoss(), feasible=once_each)
    assert sorted(selection.indices) == [0, 1, 2, 3]
    np.testing.assert_allclose(selection.weights, 0.25)
    assert {n_chosen for n_chosen, _ in seen} == {0, 1, 2, 3, 4}
    assert {candidate for n_chosen, candidate in seen if n_chosen == 4} == {0, 1, 2, 3}


def test_nothing_feasible_gives_no_member():
    predictions, y, _ = make_problem(10, n_candidates=4)
    selection = greedy_selection(
        predictions, y, LogLoss(), feasible=lambda counts, candidate: False
    )
    assert selection.weights.tolist() == [0.0] * 4
    assert len(selection.indices) == len(selection.losses) == 0


@pytest.mark.parametrize("loss", [LogLoss(), ErrorLoss(), RocAucLoss()], ids=repr)
def test_a_list_of_arrays_equals_one_array(loss):
    predictions, y, _ = make_problem(11)
    together = greedy_selection(predictions, y, loss)
    apart = greedy_selection(list(predictions), y, loss)
    np.testing.assert_array_equal(apart.indices, together.indices)


def test_gaps_in_predictions_are_refused():
    predictions, y, _ = make_problem(12)
    predictions[2, 5] = np.nan
    with pytest.raises(ValueError, match="'predictions' of greedy_selection must be finite"):
        greedy_selection(predictions, y, LogLoss())


def test_input_is_left_unchanged():
    predictions, y, rng = make_problem(13)
    before = predictions.copy(), y.copy()
    predictions.setflags(write=False)
    y.setflags(write=False)
    selection = greedy_selection(predictions, y, RocAucLoss())
    np.testing.assert_array_equal(predictions, before[0])
    np.testing.assert_array_equal(y, before[1])
    assert isinstance(selection, Selection)


def test_undefined_losses_are_never_preferred():
    predictions, y, _ = make_problem(14, n_candidates=3)

    def undefined_for_the_first(estimator, X, y_true):
        certain = np.allclose(estimator.predict_proba(X), predictions[0])
        return np.nan if certain else 0.5

    selection = greedy_selection(predictions, y, ScorerLoss(undefined_for_the_first), n_members=1)
    assert selection.indices.tolist() == [1]
