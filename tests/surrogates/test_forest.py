"""The forest surrogate against scikit-learn's trees, tree by tree."""

import pickle

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor

from skauto.surrogates import RandomForest


def problem(n=120, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)).round(3)
    return X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)


def test_moments_are_those_over_the_trees():
    X, y = problem()
    forest = RandomForest().fit(X, y, np.random.default_rng(0))
    query = np.random.default_rng(1).random((500, X.shape[1]))
    mean, std = forest.predict(query)
    by_tree = np.array([tree.predict(query) for tree in forest.trees_])
    np.testing.assert_allclose(mean, by_tree.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(std, by_tree.std(axis=0), rtol=1e-9, atol=1e-12)


def test_settings_reach_the_trees():
    X, y = problem()
    forest = RandomForest(n_trees=4, min_samples_leaf=7).fit(X, y, np.random.default_rng(0))
    assert len(forest.trees_) == 4
    for tree in forest.trees_:
        assert tree.tree_.weighted_n_node_samples[tree.tree_.children_left < 0].min() >= 7
        assert tree.tree_.n_node_samples[tree.tree_.children_left < 0].min() >= 7


def test_bootstrap_trees_see_about_two_thirds_of_the_observations():
    X, y = problem(n=1000)
    forest = RandomForest(n_trees=20).fit(X, y, np.random.default_rng(0))
    shares = [tree.tree_.n_node_samples[0] / len(X) for tree in forest.trees_]
    np.testing.assert_allclose(np.mean(shares), 1 - np.exp(-1), atol=0.01)


def test_as_accurate_as_scikit_learn():
    X, y = problem(n=300)
    X_test, y_test = problem(n=1000, seed=1)
    errors, reference = [], []
    for seed in range(10):
        forest = RandomForest().fit(X, y, np.random.default_rng(seed))
        errors.append(np.mean((forest.predict(X_test)[0] - y_test) ** 2))
        other = RandomForestRegressor(
            10, max_features=5 / 6, min_samples_split=3, min_samples_leaf=3, random_state=seed
        )
        reference.append(np.mean((other.fit(X, y).predict(X_test) - y_test) ** 2))
    spread = np.std(errors) + np.std(reference)
    assert abs(np.mean(errors) - np.mean(reference)) < 2 * spread


def test_less_certain_where_trees_disagree():
    X = np.linspace(0, 1, 100)[:, None]
    y = np.where(X[:, 0] < 0.5, 0.0, 1.0)
    forest = RandomForest(n_trees=50).fit(X, y, np.random.default_rng(0))
    _, std = forest.predict(np.array([[0.1], [0.5], [0.9]]))
    assert std[1] > 0.2 > 1e-6 > max(std[0], std[2])


def test_same_seed_same_forest():
    X, y = problem()
    first, second = (
        RandomForest().fit(X, y, np.random.default_rng(3)).predict(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    other = RandomForest().fit(X, y, np.random.default_rng(4)).predict(X)
    assert not np.array_equal(first, other)


def test_one_observation_is_predicted_everywhere():
    mean, std = (
        RandomForest().fit(np.zeros((1, 2)), np.array([0.7]), np.random.default_rng(0))
    ).predict(np.ones((3, 2)))
    np.testing.assert_allclose(mean, 0.7)
    np.testing.assert_allclose(std, 0.0, atol=1e-12)


def test_clone_and_pickle():
    X, y = problem()
    forest = RandomForest(n_trees=3).fit(X, y, np.random.default_rng(0))
    assert clone(forest).get_params() == forest.get_params()
    copy = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(copy.predict(X), forest.predict(X))
