"""The forest of diversities, against the definition of its trees."""

import numpy as np
from scipy.spatial.distance import cdist

from skauto.selection import pairwise_diversity
from skauto.surrogates import DiversityForest
from skauto.surrogates._diversity_forest import classical_scaling
from tests.surrogates.diversities import make_problem


def test_classical_scaling_gives_points_with_the_diversities_as_squared_distances():
    predictions = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], (20, 50))
    diversity = pairwise_diversity(predictions)
    points = classical_scaling(diversity, 19)
    np.testing.assert_allclose(cdist(points, points, "sqeuclidean"), diversity, atol=1e-12)
    # Fewer coordinates are the first ones, those of the largest variance.
    few = classical_scaling(diversity, 3)
    np.testing.assert_allclose(abs(few), abs(points[:, -3:]), atol=1e-12)
    assert points.var(axis=0)[-3:].min() >= points.var(axis=0)[:-3].max()


def test_a_tree_predicts_the_mean_diversity_of_the_configurations_in_its_leaves():
    X, diversity = make_problem(40)
    forest = DiversityForest(n_trees=4).fit(X[:30], diversity[:30, :30], np.random.default_rng(0))
    values = forest.sample(np.array([3, 7]), X[30:])
    pairs = []
    for tree, sample in zip(forest.forest_.trees_, values, strict=True):
        leaves, known = tree.apply(X[30:]), tree.apply(X[:30])
        for new, leaf in enumerate(leaves):
            within = diversity[:30, :30][known == leaf]
            np.testing.assert_allclose(sample[:, new], within[:, [3, 7]].mean(axis=0))
        both = diversity[:30, :30][known == leaves[0]][:, known == leaves[1]]
        pairs.append(both.mean())
    mean, std = forest.predict(X[30:31], X[31:32])
    np.testing.assert_allclose([mean[0], std[0]], [np.mean(pairs), np.std(pairs)])


def test_the_forest_is_fitted_again_for_new_configurations_only():
    X, diversity = make_problem(40)
    rng = np.random.default_rng(0)
    forest = DiversityForest(n_trees=3).update(X[:30], diversity[:30, :30], rng)
    trees = forest.forest_.trees_
    assert forest.update(X[:30], diversity[:30, :30], rng).forest_.trees_ is trees
    assert forest.update(X[:31], diversity[:31, :31], rng).forest_.trees_ is not trees
    assert forest.sample(np.array([30]), X).shape == (3, 1, 40)
