"""cross_fitted: rows are predicted by ensembles that were selected on other rows."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, make_scorer

from skauto.constraints._checker import ConstraintChecker
from skauto.data import TrainingData
from skauto.ensemble import _cross_fit
from skauto.ensemble._cross_fit import cross_fitted, shown_predictions
from skauto.ensemble._select import MemberSelector
from skauto.history import History, OutOfFold, Trial
from skauto.space import Configuration

N_ROWS, N_TRIALS = 200, 60


def selector(y, scoring="accuracy", n_folds=4):
    folds = np.arange(len(y)) % n_folds
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(n_folds)]
    data = TrainingData(Z=np.empty((len(y), 1)), y=y, classes=np.array([0, 1]), splits=splits)
    return MemberSelector(
        data, ConstraintChecker(), n_members=25, scoring=scoring, tunes_labels=False
    )


def history_of(y, positive):
    """Trials with these probabilities of the second class."""
    history = History()
    for number, p in enumerate(positive):
        trial = Trial(
            number=number,
            configuration=Configuration({"classifier": (f"c{number % 5}", {"i": number})}),
            losses=(float(np.mean((p > 0.5) != y)),),
            predictions=np.column_stack([1 - p, p]).astype(np.float32),
        )
        history.append(trial)
    return history


@pytest.fixture
def noise(rng):
    y = rng.integers(0, 2, N_ROWS)
    return y, rng.uniform(size=(N_TRIALS, N_ROWS))


@pytest.mark.parametrize("n_members", [1, 25])
def test_the_best_of_many_random_predictions_is_no_better_than_chance(noise, n_members):
    y, positive = noise
    history, select = history_of(y, positive), selector(y)
    weights = select.select(history, lambda trial: 0.0)
    trials = [history[number] for number in weights]
    plain = OutOfFold.mean(trials, weights.values()).predictions.argmax(axis=1)
    honest = cross_fitted(select, history, n_members).predictions.argmax(axis=1)
    assert np.mean(plain == y) > 0.6
    assert abs(np.mean(honest == y) - 0.5) < 3 * 0.5 / np.sqrt(N_ROWS)


def test_the_order_is_cross_fitted_and_the_values_are_those_of_the_ensemble(noise):
    y, positive = noise
    history, select = history_of(y, positive), selector(y)
    crossed = cross_fitted(select, history, 25).predictions
    shown = shown_predictions(select, history, {0: 1.0}, 25).predictions
    assert crossed[:, 1].std() < 0.8 * positive[0].std()
    np.testing.assert_allclose(np.sort(shown[:, 1]), np.sort(positive[0]), rtol=1e-5)
    np.testing.assert_array_equal(np.argsort(shown[:, 1]), np.argsort(crossed[:, 1]))


def test_equal_probabilities_stay_equal(rng):
    y = np.repeat([0, 1], N_ROWS // 2)  # the order of the rows is that of the classes
    positive = np.stack([np.full(N_ROWS, 0.5), rng.uniform(size=N_ROWS)])
    history, select = history_of(y, positive), selector(y)
    found = shown_predictions(select, history, {1: 1.0}, 1).predictions
    crossed = cross_fitted(select, history, 1).predictions
    for value in np.unique(crossed[:, 1]):
        assert len(np.unique(found[crossed[:, 1] == value, 1])) == 1
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_rows_without_a_value_keep_the_cross_fitted_ones(rng):
    certain, unsure = np.eye(3)[rng.integers(3, size=50)], rng.dirichlet(np.ones(3), size=50)
    found = _cross_fit._with_values_of(OutOfFold(certain), OutOfFold(unsure)).predictions
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    kept = (found == unsure).all(axis=1)
    assert 0 < np.count_nonzero(kept) < 25


def test_rows_are_predicted_without_their_classes(noise):
    y, positive = noise
    changed = y.copy()
    part = np.arange(N_ROWS) % 4 == 2
    changed[part] = 1 - changed[part]
    before, after = (
        cross_fitted(selector(classes), history_of(y, positive), 25) for classes in (y, changed)
    )
    np.testing.assert_array_equal(after.predictions[part], before.predictions[part])
    assert (after.predictions[~part] != before.predictions[~part]).any()


def test_one_good_trial_predicts_alone(noise):
    y, positive = noise
    positive[7] = 0.1 + 0.8 * y
    found = cross_fitted(selector(y), history_of(y, positive), 1)
    np.testing.assert_allclose(found.predictions[:, 1], positive[7], atol=1e-6)


def test_a_hold_out_set_is_cut_into_parts(noise):
    y, positive = noise
    select = selector(y, n_folds=5)
    select.data.splits[:] = select.data.splits[:1]
    positive[:, np.arange(N_ROWS) % 5 != 0] = np.nan
    found = cross_fitted(select, history_of(y, positive), 25)
    np.testing.assert_array_equal(found.rows, np.arange(0, N_ROWS, 5))


def test_many_rows_single_rows_slow_scorers_and_single_trials_are_left_out(noise, monkeypatch):
    y, positive = noise
    alone = np.where(np.arange(N_ROWS) == 3, positive, np.nan)
    assert cross_fitted(selector(y), history_of(y, alone), 25) is None
    history = history_of(y, positive)
    slow = make_scorer(lambda y, labels: accuracy_score(y, labels))
    assert cross_fitted(selector(y, scoring=slow), history, 25) is None
    assert cross_fitted(selector(y), history_of(y, positive[:1]), 25) is None
    for limit, too_few in (("_MAX_ROWS", N_ROWS - 1), ("_MAX_PROBABILITIES", 2 * N_ROWS - 1)):
        with monkeypatch.context() as context:
            context.setattr(_cross_fit, limit, too_few)
            assert cross_fitted(selector(y), history, 25) is None
