"""Greedy D-optimal design against eigenvalues, as the paper writes it."""

from itertools import product

import numpy as np
import pytest

from skauto.strategies._d_optimal import d_optimal_design


def one_hot(*sizes):
    """All paths of a graph with so many algorithms a step."""
    return np.array(
        [
            np.concatenate([np.eye(n)[i] for n, i in zip(sizes, path, strict=True)])
            for path in product(*map(range, sizes))
        ]
    )


def eigenvalue_products(H, candidates, n_largest):
    """Product of the largest eigenvalues of H + p p^T for every candidate p."""
    gram = H + candidates[:, :, None] * candidates[:, None, :]
    return np.prod(np.linalg.eigvalsh(gram)[:, ::-1][:, :n_largest], axis=1)


@pytest.mark.parametrize("sizes", [(2, 3), (4,), (3, 2, 4), (2, 2, 2, 2)])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_choice_is_the_best_by_brute_force(sizes, seed):
    paths = one_hot(*sizes)
    rank = sum(sizes) - len(sizes) + 1
    chosen = d_optimal_design(paths, 2 * rank, np.random.default_rng(seed))
    H = np.outer(paths[chosen[0]], paths[chosen[0]])
    for size, row in enumerate(chosen[1:], start=2):
        values = eigenvalue_products(H, paths, min(size, rank))
        np.testing.assert_allclose(values[row], values.max(), rtol=1e-8)
        H += np.outer(paths[row], paths[row])


def test_known_points_are_built_upon():
    paths = one_hot(3, 4)
    known = paths[[0, 0, 5]]  # with a repetition: the rank is 2
    chosen = d_optimal_design(paths, 8, np.random.default_rng(0), known=known)
    H = known.T @ known
    for size, row in enumerate(chosen, start=3):
        values = eigenvalue_products(H, paths, min(size, 6))
        np.testing.assert_allclose(values[row], values.max(), rtol=1e-8)
        H += np.outer(paths[row], paths[row])


def test_a_linear_model_is_determined_as_soon_as_it_can_be():
    paths = one_hot(4, 2, 13, 14)  # the graph of the paper
    assert len(paths) == 1456
    chosen = d_optimal_design(paths, 30, np.random.default_rng(0))
    assert np.linalg.matrix_rank(paths[chosen]) == 30


def test_ties_are_broken_by_the_generator():
    paths = one_hot(5, 5)
    designs = {tuple(d_optimal_design(paths, 3, np.random.default_rng(i))) for i in range(10)}
    assert len(designs) > 1
    again = [d_optimal_design(paths, 9, np.random.default_rng(3)) for _ in range(2)]
    np.testing.assert_array_equal(*again)


def test_nothing_to_choose():
    paths = one_hot(2, 2)
    assert len(d_optimal_design(paths, 0, np.random.default_rng(0))) == 0
    constant = np.zeros((1, 1))  # a space without a choice
    assert d_optimal_design(constant, 2, np.random.default_rng(0)).tolist() == [0, 0]
