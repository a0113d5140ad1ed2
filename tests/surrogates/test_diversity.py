"""The diversity surrogates: what they are fitted to, their updates and their ranking."""

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.base import clone

from skauto.surrogates import DiversityForest, DiversitySurrogate
from skauto.surrogates._diversity import _draw_pairs
from tests.surrogates.diversities import make_problem

MODELS = {
    "pairs": DiversitySurrogate(n_models=3, n_trees=20, learning_rate=0.2),
    "forest": DiversityForest(n_trees=20),
}


def quick(**settings):
    return DiversitySurrogate(**{"n_models": 3, "n_trees": 20, "learning_rate": 0.2} | settings)


def test_all_ordered_pairs_where_they_are_few():
    first, second = _draw_pairs(4, 16, np.random.default_rng(0))
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    assert pairs == {(i, j) for i in range(4) for j in range(4)}


def test_both_orders_of_random_pairs_where_they_are_many():
    first, second = _draw_pairs(50, 400, np.random.default_rng(0))
    assert len(first) == 400
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    assert set(pairs) == {(j, i) for i, j in pairs}
    assert len({(min(pair), max(pair)) for pair in pairs}) == 200


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def test_unseen_pairs_are_ranked(model):
    X, diversity = make_problem(120)
    surrogate = model.fit(X[:80], diversity[:80, :80], np.random.default_rng(0))
    i, j = np.triu_indices(40, 1)
    mean, std = surrogate.predict(X[80:][i], X[80:][j])
    assert kendalltau(mean, diversity[80:, 80:][i, j]).statistic > 0.7
    assert (std > 0).mean() > 0.9


def test_samples_are_the_models_predictions():
    X, diversity = make_problem(30)
    surrogate = quick().fit(X, diversity, np.random.default_rng(0))
    values = surrogate.sample(np.arange(3), X[5:12])
    assert values.shape == (3, 3, 7)
    assert 0 <= values.min() <= values.max() <= 1
    i, j = np.repeat(np.arange(3), 7), np.tile(np.arange(5, 12), 3)
    mean, std = surrogate.predict(X[i], X[j])
    np.testing.assert_allclose(values.mean(axis=0).ravel(), mean)
    np.testing.assert_allclose(values.std(axis=0).ravel(), std)


def test_predictions_do_not_depend_on_the_order_of_a_pair(model):
    X, diversity = make_problem(40)
    surrogate = model.fit(X[:30], diversity[:30, :30], np.random.default_rng(0))
    there, back = surrogate.predict(X[25:35], X[30:]), surrogate.predict(X[30:], X[25:35])
    np.testing.assert_allclose(there, back)


def test_the_generator_decides(model):
    X, diversity = make_problem(40)

    def predictions(seed):
        surrogate = model.fit(X[:30], diversity[:30, :30], np.random.default_rng(seed))
        return surrogate.sample(np.arange(2), X)

    np.testing.assert_array_equal(predictions(1), predictions(1))
    assert (predictions(1) != predictions(2)).any()


@pytest.mark.parametrize(("n", "n_fits"), [(5, 4), (9, 4), (10, 4), (15, 1), (40, 1)])
def test_an_update_fits_what_its_pairs_allow(n, n_fits):
    X, diversity = make_problem(40)
    rng = np.random.default_rng(0)
    surrogate = quick(n_models=4, max_pairs=400).fit(X[:4], diversity[:4, :4], rng)
    surrogate.update(X[:n], diversity[:n, :n], rng)
    assert surrogate.n_seen_ == [n] * n_fits + [4] * (4 - n_fits)


def test_without_a_limit_every_update_fits_all_models_to_all_pairs():
    first, second = _draw_pairs(120, None, np.random.default_rng(0))
    assert len({*zip(first.tolist(), second.tolist(), strict=True)}) == 120**2
    X, diversity = make_problem(120)
    rng = np.random.default_rng(0)
    surrogate = quick(max_pairs=None).fit(X[:119], diversity[:119, :119], rng)
    assert surrogate.update(X, diversity, rng).n_seen_ == [120] * 3


def test_updates_take_turns_and_stop_when_nothing_is_new():
    X, diversity = make_problem(40)
    rng = np.random.default_rng(0)
    surrogate = quick(max_pairs=100).update(X[:30], diversity[:30, :30], rng)
    for n in (31, 32, 33):
        surrogate.update(X[:n], diversity[:n, :n], rng)
    assert surrogate.n_seen_ == [31, 32, 33]
    surrogate.update(X[:33], diversity[:33, :33], rng).update(X[:33], diversity[:33, :33], rng)
    models = list(surrogate.models_)
    assert surrogate.n_seen_ == [33, 33, 33]
    assert surrogate.update(X[:33], diversity[:33, :33], rng).models_ == models


def test_updated_models_rank_about_as_well_as_new_ones():
    X, diversity = make_problem(150)
    rng = np.random.default_rng(0)
    updated = quick(max_pairs=2000)
    for n in range(60, 111):
        updated.update(X[:n], diversity[:n, :n], rng)
    full = quick(max_pairs=10**6).fit(X[:110], diversity[:110, :110], rng)
    i, j = np.triu_indices(40, 1)
    scores = [
        kendalltau(s.predict(X[110:][i], X[110:][j])[0], diversity[110:, 110:][i, j]).statistic
        for s in (updated, full)
    ]
    assert scores[0] > scores[1] - 0.05


def test_two_configurations_are_enough(model):
    X, diversity = make_problem(2)
    values = model.fit(X, diversity, np.random.default_rng(0)).sample(np.arange(2), X)
    assert np.isfinite(values).all()
