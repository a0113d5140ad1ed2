"""Inputs of distance-based models, and the dimension of a space."""

import numpy as np
from numpy.testing import assert_array_equal

from skauto.space import SearchSpace
from skauto.strategies._dimensions import model_inputs, n_free_dimensions, structure_inputs
from tests.strategies.search_loop import rich_space, single_space


def test_dimension_counts_choices_of_steps_and_of_the_largest_algorithms():
    assert n_free_dimensions(rich_space()) == 3 + (1 + 1 + 4)
    assert n_free_dimensions(single_space()) == 1


def test_steps_with_one_algorithm_are_left_out(rng):
    space = SearchSpace(["scaler", "classifier"]).add("scaler", "none")
    space.add("classifier", "bayes").add("classifier", "knn", parameters={"k": [1, 3]})
    vectors = space.sample(20, rng)
    assert_array_equal(model_inputs(space, vectors), space.one_hot(vectors)[:, 1:])
    assert_array_equal(structure_inputs(space, vectors), space.one_hot_structures(vectors)[:, 1:])


def test_a_single_configuration_has_one_column_of_zeros(rng):
    vectors = single_space().sample(3, rng)
    assert_array_equal(model_inputs(single_space(), vectors), np.zeros((3, 1)))
