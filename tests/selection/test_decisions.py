"""Offsets and calibrations against closed forms, brute force and test rows."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax
from sklearn.metrics import f1_score, fbeta_score, get_scorer, log_loss, make_scorer

from skauto.model import Decision
from skauto.model._decision import logarithms
from skauto.selection import (
    BalancedErrorLoss,
    BrierLoss,
    ErrorLoss,
    LogLoss,
    MatthewsLoss,
    RocAucLoss,
    choose_decision,
    get_loss,
)
from skauto.selection._decisions import (
    CalibrationFit,
    _line_search,
    _losses_after,
    choose_offsets,
    gains_by_offsets,
)

FREQUENCIES = np.array([0.7, 0.3])


def binary(n, rate, seed, separation=2.0):
    """Calibrated probabilities of two normal classes, and the classes."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rate).astype(int)
    signal = rng.normal(separation * y)
    positive = expit(logit(rate) + separation * signal - separation**2 / 2)
    return np.column_stack([1 - positive, positive]), y


def several(n, n_classes, seed):
    """Return the same for several classes, each half as frequent as the previous one."""
    rng = np.random.default_rng(seed)
    shares = 0.5 ** np.arange(n_classes)
    shares /= shares.sum()
    y = rng.choice(n_classes, size=n, p=shares)
    logits = rng.normal(size=(n, n_classes)) + np.log(shares)
    logits[np.arange(n), y] += 1.0
    return softmax(logits, axis=1), y


def of_labels(loss, labels, y, n_classes):
    return loss(y, np.eye(n_classes)[labels][None])[0]


LABEL_SCORES = ["f1", "balanced_accuracy", "matthews_corrcoef", "jaccard", "recall_macro"]


@pytest.mark.parametrize("scoring", LABEL_SCORES)
def test_a_line_search_finds_what_trying_every_threshold_finds(scoring):
    probabilities, y = binary(30, 0.3, seed=1)
    loss = get_loss(scoring, [0, 1])
    rows = np.sort(probabilities[:, 1])
    thresholds = np.concatenate([[0.0], (rows[1:] + rows[:-1]) / 2, [1.0]])
    expected = min(
        of_labels(loss, (probabilities[:, 1] > t).astype(int), y, 2) for t in thresholds
    )
    start = np.zeros(2)
    offset, value = _line_search(logarithms(probabilities), start, 1, y, loss, np.ones(30))
    labels = Decision(np.array([0.0, offset])).labels(probabilities)
    assert value == pytest.approx(expected)
    assert of_labels(loss, labels, y, 2) == pytest.approx(expected)


def test_a_line_search_of_one_class_of_four_keeps_the_other_offsets():
    probabilities, y = several(25, 4, seed=0)
    loss, offsets = MatthewsLoss(), np.array([0.3, 0.0, -0.2, 0.5])
    offset, value = _line_search(logarithms(probabilities), offsets, 2, y, loss, np.ones(25))
    grid = np.linspace(-8, 8, 1001)
    tried = [
        of_labels(loss, Decision(np.array([0.3, 0.0, o, 0.5])).labels(probabilities), y, 4)
        for o in grid
    ]
    moved = Decision(np.array([0.3, 0.0, offset, 0.5])).labels(probabilities)
    assert value == pytest.approx(min(tried))
    assert of_labels(loss, moved, y, 4) == pytest.approx(value)


@pytest.mark.parametrize("scoring", ["f1_macro", "f1_weighted", "balanced_accuracy"])
def test_losses_of_moved_rows_are_those_of_their_labels(scoring):
    rng = np.random.default_rng(0)
    y, labels, c = rng.integers(6, size=80), rng.integers(6, size=80), 4
    weight, cuts = rng.exponential(size=80), np.array([0, 1, 7, 30, 80])
    loss = get_loss(scoring, range(6))
    found = _losses_after(loss, cuts, c, y, labels, weight, 6)
    one_hot = np.eye(6)[[np.where(np.arange(80) < cut, c, labels) for cut in cuts]]
    np.testing.assert_allclose(found, loss(y, one_hot, weight), rtol=1e-12)


def test_a_line_search_of_many_classes_needs_no_confusion_matrices():
    probabilities, y = np.random.default_rng(0).dirichlet(np.ones(200), size=600), np.arange(600)
    sizes = []

    class Counting(MatthewsLoss):
        def from_counts(self, hits, predicted, true):
            sizes.append(hits.size + predicted.size + true.size)
            return super().from_counts(hits, predicted, true)

    tracemalloc.start()
    logs, start, weight = logarithms(probabilities), np.zeros(200), np.ones(600)
    _line_search(logs, start, 3, y % 200, Counting(), weight)
    n_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(sizes) == 1 and sizes[0] <= (2 * 256 + 1) * 200
    assert (
        n_bytes < 100 * 200**2 * 8 / 4
    )  # a confusion matrix for each cut needs over 4 times as many


def test_offsets_end_with_the_best_so_far_when_the_time_is_over():
    probabilities, y = several(500, 4, seed=0)
    rng = np.random.default_rng(0)
    found = choose_offsets(probabilities, y, BalancedErrorLoss(), rng=rng, seconds=-1.0)
    assert not found.any()
    whole = choose_offsets(probabilities, y, BalancedErrorLoss(), rng=rng)
    assert whole.any()


def test_balanced_accuracy_of_calibrated_probabilities_asks_for_the_share_of_positives():
    probabilities, y = binary(20_000, 0.05, seed=0)
    rng = np.random.default_rng(0)
    decision = choose_decision(probabilities, y, BalancedErrorLoss(), rng=rng)
    assert decision.threshold == pytest.approx(0.05, abs=0.02)


def test_balanced_accuracy_of_several_classes_asks_for_inverse_shares():
    probabilities, y = several(20_000, 4, seed=0)
    shares = np.bincount(y) / len(y)
    rng = np.random.default_rng(0)
    found = choose_offsets(probabilities, y, BalancedErrorLoss(), rng=rng)
    expected = -np.log(shares) + np.log(shares).mean()
    np.testing.assert_allclose(found, expected, atol=0.35)


@pytest.mark.parametrize("scoring", LABEL_SCORES[:2])
@pytest.mark.parametrize("rate", [0.05, 0.1])
def test_fresh_rows_gain_most_of_what_is_possible(scoring, rate):
    gained, possible = 0.0, 0.0
    for seed in range(5):
        probabilities, y = binary(8000, rate, seed)
        fresh, truth = binary(20_000, rate, seed + 100)
        loss = get_loss(scoring, [0, 1])
        decision = choose_decision(probabilities, y, loss, rng=np.random.default_rng(0))
        plain = of_labels(loss, fresh.argmax(axis=1), truth, 2)
        best = _line_search(logarithms(fresh), np.zeros(2), 1, truth, loss, np.ones(20_000))[1]
        gained += plain - of_labels(loss, decision.labels(fresh), truth, 2)
        possible += plain - best
    assert gained > 0.85 * possible > 0


def test_a_rare_class_of_several_is_found_on_fresh_rows():
    probabilities, y = several(3000, 4, seed=2)
    fresh, truth = several(10_000, 4, seed=3)
    loss = get_loss("f1_macro", range(4))
    decision = choose_decision(probabilities, y, loss, rng=np.random.default_rng(0))
    labels = decision.labels(fresh)
    before = f1_score(truth, fresh.argmax(axis=1), average="macro")
    assert f1_score(truth, labels, average="macro") > before + 0.03


def cost(y, labels):
    """Cost 5 for each false negative, and 1 for each false positive."""
    return np.mean(5 * ((y == 1) & (labels == 0)) + ((y == 0) & (labels == 1)))


def by_predict(estimator, X, y):
    return -cost(y, estimator.predict(X)) - 0 * len(X)


SCORERS = [make_scorer(cost, greater_is_better=False), by_predict]


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_cost_function_of_labels_gets_its_threshold(scorer):
    probabilities, y = binary(3000, 0.2, seed=4)
    rng = np.random.default_rng(0)
    decision = choose_decision(probabilities, y, get_loss(scorer, [0, 1]), rng=rng)
    assert decision.threshold == pytest.approx(1 / 6, abs=0.06)  # cost ratio


def test_a_scorer_with_weights_is_asked_about_confusion_matrices():
    probabilities, y = binary(400, 0.2, seed=5)
    loss = get_loss(make_scorer(fbeta_score, beta=2), [0, 1])
    labels = (probabilities[:, 1] > 0.2).astype(int)
    confusion = np.zeros((2, 2))
    np.add.at(confusion, (y, labels), 1.0)
    assert loss.from_confusion(confusion[None])[0] == -fbeta_score(y, labels, beta=2)


@pytest.mark.parametrize(
    "scoring",
    ["accuracy", "roc_auc", "average_precision", "recall", "precision", "neg_log_loss"],
)
def test_scores_that_labels_cannot_raise_keep_the_most_probable_class(scoring):
    probabilities, y = binary(500, 0.1, seed=6)
    loss = get_loss(scoring, [0, 1])
    decision = choose_decision(probabilities, y, loss, rng=np.random.default_rng(0))
    assert decision.offsets.tolist() == [0.0, 0.0]
    assert decision.threshold == 0.5
    np.testing.assert_array_equal(decision.labels(probabilities), probabilities.argmax(axis=1))


def test_nothing_moves_where_the_labels_are_right_already():
    y = np.array([0, 1] * 20)
    probabilities = np.eye(2)[y] * 0.8 + 0.1
    offsets = choose_offsets(probabilities, y, MatthewsLoss(), rng=np.random.default_rng(0))
    assert offsets.tolist() == [0.0, 0.0]


def test_weights_stand_for_repeated_rows():
    probabilities, y = binary(300, 0.2, seed=7)
    weight = np.random.default_rng(0).integers(1, 4, size=300)
    logs, loss = logarithms(probabilities), get_loss("f1", [0, 1])
    weighted = _line_search(logs, np.zeros(2), 1, y, loss, weight.astype(float))
    rows = np.repeat(np.arange(300), weight)
    repeated = _line_search(logs[rows], np.zeros(2), 1, y[rows], loss, np.ones(weight.sum()))
    assert weighted == pytest.approx(repeated)


@pytest.mark.parametrize("loss", [LogLoss(), BrierLoss()])
@pytest.mark.parametrize("true", [0.5, 2.0])
def test_a_temperature_and_the_shifts_are_recovered(loss, true):
    probabilities, y = several(40_000, 3, seed=8)
    shift = np.array([0.4, -0.5, 0.1])
    distorted = Decision(np.zeros(3), 1 / true, shift).scale(probabilities)
    fit = CalibrationFit(distorted, y, loss)
    decision = fit.decision(fit.parameters)
    calibrated = several_calibrated(probabilities, y)
    assert decision.temperature == pytest.approx(true * calibrated, rel=0.1)
    assert fit.kept == 1.0
    scaled = decision.scale(distorted)
    np.testing.assert_allclose(scaled.mean(axis=0), np.bincount(y) / len(y), atol=0.005)
    assert log_loss(y, scaled) < log_loss(y, distorted)
    np.testing.assert_allclose(scaled.sum(axis=1), 1.0)


def several_calibrated(probabilities, y):
    """Return the temperature of undistorted probabilities, by an independent optimizer."""

    def loss(parameters):
        logits = np.log(probabilities) / np.exp(parameters[0]) + [0.0, *parameters[1:]]
        return log_loss(y, softmax(logits, axis=1))

    return np.exp(minimize(loss, np.zeros(3), method="Nelder-Mead").x[0])


@pytest.mark.parametrize("loss", [LogLoss(), BrierLoss()])
@pytest.mark.parametrize("true", [0.4, 2.5])
def test_a_calibration_is_the_smallest_that_half_a_standard_error_does_not_refute(loss, true):
    probabilities, y = binary(400, 0.3, seed=8)
    weight = np.random.default_rng(0).integers(1, 4, 400).astype(float)
    distorted = Decision(np.zeros(2), 1 / true, np.array([0.2, -0.2])).scale(probabilities)
    odds = logit(distorted[:, 1])
    middle = logit(np.average(y, weights=weight))
    n = np.bincount(y)[y]
    target = np.where(y == 1, n + 1, 1) / (n + 2)  # Platt's targets

    def row_losses(parameters):
        positive = expit((odds - middle) / np.exp(parameters[0]) + middle + parameters[1])
        if isinstance(loss, BrierLoss):
            return 2 * (positive - target) ** 2
        return -(target * np.log(positive) + (1 - target) * np.log(1 - positive))

    def mean(parameters):
        return np.average(row_losses(parameters), weights=weight)

    least = minimize(mean, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-6}).x

    def is_refuted(share):
        excess = row_losses(share * least) - row_losses(least)
        center = np.average(excess, weights=weight)
        error = np.sqrt(np.sum((weight * (excess - center)) ** 2)) / weight.sum()
        return center > 0.5 * error

    share = next(s for s in np.linspace(0.0, 1.0, 2001) if not is_refuted(s))
    assert 0.0 < share < 1.0
    temperature, low, high = CalibrationFit(distorted, y, loss, sample_weight=weight).parameters
    np.testing.assert_allclose([temperature, high - low], share * least, rtol=0.02)


@pytest.mark.parametrize("loss", [LogLoss(), BrierLoss()])
def test_classes_that_the_probabilities_separate_keep_a_doubt(loss):
    """One more wrong row in 400 must not cost more than the confidence gains."""
    y = np.arange(400) % 2
    positive = np.where(y == 1, 0.95, 0.05)
    probabilities = np.column_stack([1 - positive, positive])
    fit = CalibrationFit(probabilities, y, loss)
    scaled = fit.decision(fit.parameters).scale(probabilities)
    assert 1 / 402 <= 1 - scaled.max() < 0.05


def test_few_rows_keep_the_probabilities_and_calibrated_ones_mostly():
    assert not CalibrationFit(*binary(80, 0.3, seed=0), LogLoss()).parameters.any()
    fits = [CalibrationFit(*binary(500, 0.3, seed=s), LogLoss()) for s in range(20)]
    found = np.array([fit.parameters for fit in fits])
    assert np.mean(~found.any(axis=1)) > 0.3
    assert np.abs(found).mean() < 0.05


@pytest.mark.parametrize("loss", [ErrorLoss(), RocAucLoss()])
def test_ranks_and_labels_keep_their_loss_and_get_calibrated_probabilities(loss):
    probabilities, y = binary(20_000, 0.3, seed=8)
    distorted = Decision(np.zeros(2), 2.0, 0.5 * np.log(FREQUENCIES)).scale(probabilities)
    decision = choose_decision(distorted, y, loss, rng=np.random.default_rng(0))
    fit = CalibrationFit(distorted, y, LogLoss())
    assert decision.temperature == pytest.approx(np.exp(fit.parameters[0]))
    assert decision.temperature == pytest.approx(0.5, rel=0.1)
    before, after = loss(y, np.stack([distorted, decision.scale(distorted)]), None)
    assert after <= before


def test_members_that_weigh_the_classes_do_not_raise_the_probability_of_the_rare_one():
    """A mean of probabilities at equal and at true class frequencies is too high on average."""
    probabilities, y = binary(4_000, 0.08, seed=8)
    weighed = Decision(np.zeros(2), 1.0, np.array([0.0, logit(0.92)])).scale(probabilities)
    mean = 0.5 * (probabilities + weighed)
    assert mean[:, 1].mean() > 0.15
    decision = choose_decision(mean, y, RocAucLoss(), rng=np.random.default_rng(0))
    rows, truth = binary(20_000, 0.08, seed=9)
    both = Decision(np.zeros(2), 1.0, np.array([0.0, logit(0.92)])).scale(rows)
    calibrated = decision.scale(0.5 * (rows + both))
    assert calibrated[:, 1].mean() == pytest.approx(truth.mean(), abs=0.01)
    assert log_loss(truth, calibrated) < 1.03 * log_loss(truth, rows)


def test_many_probabilities_are_calibrated_on_a_sample_of_the_rows(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(20, size=12_000)
    logits = rng.normal(size=(12_000, 20)) + 2.0 * np.eye(20)[y]
    probabilities = softmax(0.5 * logits, axis=1)
    on_all = CalibrationFit(probabilities, y, LogLoss()).parameters[0]
    monkeypatch.setattr("skauto.selection._decisions._MAX_PROBABILITIES", 160_000)
    few = CalibrationFit(probabilities, y, LogLoss()).parameters[0]
    assert few != on_all
    assert few == pytest.approx(on_all, rel=0.1) and few < np.log(0.7)


def test_a_calibration_that_lowers_the_auc_of_three_classes_is_refused():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1_500)
    logits = rng.normal(size=(1_500, 3)) + 1.2 * np.eye(3)[y]
    logits[:, 1] *= rng.choice([0.3, 2.0], 1_500)
    probabilities = softmax(0.5 * logits, axis=1)
    fit = CalibrationFit(probabilities, y, LogLoss())
    assert fit.parameters[0] < 0.0
    both = [probabilities, fit.decision(fit.parameters).scale(probabilities)]
    before, after = RocAucLoss()(y, np.stack(both))
    assert after > before + 1e-4
    decision = choose_decision(probabilities, y, RocAucLoss(), rng=rng)
    assert decision.temperature == 1.0 and not decision.calibrates


@pytest.mark.parametrize("n_rows, separation", [(90, 0.9), (300, 0.5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gain_over_the_class_frequencies_is_shrunk_by_its_error(n_rows, separation, weighted):
    probabilities, y = binary(n_rows, 0.3, seed=8, separation=separation)
    weight = np.random.default_rng(0).integers(1, 4, n_rows) if weighted else np.ones(n_rows)
    fit = CalibrationFit(probabilities, y, BrierLoss(), sample_weight=weight.astype(float))
    frequency = np.average(y, weights=weight)
    np.testing.assert_allclose(fit.frequencies, [1 - frequency, frequency])
    n = np.bincount(y)[y]
    target = np.where(y == 1, n + 1, 1) / (n + 2)

    def gains_of(parameters):
        parameters = np.array([parameters[0], -parameters[1] / 2, parameters[1] / 2])
        positive = fit.decision(parameters).scale(probabilities)[:, 1]
        return 2 * ((frequency - target) ** 2 - (positive - target) ** 2)

    def loss(parameters):
        return -np.average(gains_of(parameters), weights=weight)

    bounds = [(-np.log(5.0), np.log(5.0)), (None, None)]
    gains = gains_of(minimize(loss, np.zeros(2), method="Nelder-Mead", bounds=bounds).x)
    gain = np.average(gains, weights=weight)
    error = np.sqrt(np.sum((weight * (gains - gain)) ** 2)) / weight.sum()
    assert 0.1 < fit.kept < 0.97
    assert fit.kept == pytest.approx(1 - (error / gain) ** 2, rel=1e-2)
    decision = choose_decision(
        probabilities, y, BrierLoss(), rng=np.random.default_rng(0), sample_weight=weight
    )
    assert decision.temperature == pytest.approx(np.exp(fit.parameters[0]) / fit.kept)


def test_without_a_gain_probabilities_are_near_the_class_frequencies_and_keep_their_order():
    probabilities, y = binary(300, 0.2, seed=9)
    y = np.random.default_rng(0).permutation(y)
    decision = choose_decision(probabilities, y, RocAucLoss(), rng=np.random.default_rng(0))
    scaled = decision.scale(probabilities)
    frequencies = np.bincount(y) / 300
    constant = log_loss(y, np.tile(frequencies, (300, 1)))
    assert log_loss(y, probabilities) > constant + 0.1
    assert log_loss(y, scaled) < constant + 0.01
    np.testing.assert_array_equal(scaled[:, 1].argsort(), probabilities[:, 1].argsort())


def test_overconfident_probabilities_of_few_rows_keep_their_labels():
    """Two wrong rows with probabilities of 0 cost more than 38 right ones gain."""
    y = np.repeat([0, 1, 1], [20, 18, 2])
    positive = np.repeat([1e-7, 1 - 1e-7, 1e-7], [20, 18, 2])
    probabilities = np.column_stack([1 - positive, positive])
    assert log_loss(y, probabilities) > log_loss(y, np.full((40, 2), 0.5))
    decision = choose_decision(probabilities, y, ErrorLoss(), rng=np.random.default_rng(0))
    labels = decision.labels(decision.scale(probabilities))
    np.testing.assert_array_equal(labels, positive > 0.5)


def test_scorers_of_probabilities_keep_them():
    probabilities, y = binary(500, 0.3, seed=8)
    loss = get_loss("average_precision", [0, 1])
    decision = choose_decision(probabilities**2, y, loss, rng=np.random.default_rng(0))
    assert decision.temperature == 1.0


def test_three_classes_have_no_threshold():
    with pytest.raises(AttributeError, match="two classes"):
        _ = Decision(np.zeros(3)).threshold


def test_the_scorer_of_a_name_and_one_made_by_hand_agree():
    assert get_loss(get_scorer("matthews_corrcoef"), [0, 1]) == MatthewsLoss()


def test_offsets_can_only_lower_losses_of_labels():
    y = np.array([0, 1, 1])
    losses = [get_loss(name, [0, 1]) for name in ("f1", "accuracy", "roc_auc")]
    assert [gains_by_offsets(loss, y, 2) for loss in losses] == [True, False, False]
