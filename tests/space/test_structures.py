"""Structures: all of them, and random ones."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from skauto.data import DataFacts
from skauto.space import (
    SearchSpace,
    get_space,
)
from tests.space.small import make_space


def test_structures_equal_brute_force():
    space = make_space()
    expected = [
        row
        for row in itertools.product(range(2), range(3), range(2))
        if not (row[0] == 1 and row[2] == 1) and row[1] != 2 and not (row[0] == 1 and row[1] == 1)
    ]
    assert_array_equal(space.structures, expected)


def test_many_structures_are_not_listed_in_a_loop(rng):
    space = SearchSpace([f"step {i}" for i in range(8)])
    for step in space.steps:
        for j in range(12):
            space.add(step, f"{step}, {j}")
    with pytest.raises(ValueError, match="too many to list"):
        _ = space.structures
    assert space.sample(10, rng).shape == (10, 8)
    assert len(space.default_configurations()) == 12
    space.forbid({"step 0": "step 0, 0"}, {"step 7": "step 7, 0"})
    assert space.for_data(DataFacts(n_samples=10, n_features=2)).sample(10, rng).shape == (10, 8)


def test_no_legal_structure_is_an_error(rng):
    space = SearchSpace(("a", "b")).add("a", "a0").add("b", "b0")
    space.forbid({"a": "a0"}, {"b": "b0"})
    with pytest.raises(ValueError, match=r"no legal structure.* 'a0' \(a\) and 'b0' \(b\)"):
        _ = space.structures
    with pytest.raises(ValueError, match="no legal structure"):
        space.sample(1, rng)


def test_pairs_that_exclude_all_structures_together_are_named():
    space = SearchSpace(("a", "b", "c"))
    for name in ("a0", "b0", "b1", "b2", "c0"):
        space.add(name[0], name)
    space.forbid({"a": "a0"}, {"b": ["b0", "b1"]}).forbid({"b": "b2"}, {"c": "c0"})
    with pytest.raises(ValueError, match=r"exclude all: 'b2' \(b\) and 'c0' \(c\)\. Add"):
        _ = space.structures
    with pytest.raises(ValueError, match=r"'a0' \(a\) and 'b0' \(b\), 'a0' .* and 'b1' \(b\)"):
        _ = space.subspace({"b": ["b0", "b1"]}).structures


def test_sampled_structures_are_uniform_and_legal(rng):
    space = make_space()
    vectors = space.sample(6000, rng)
    rows, counts = np.unique(vectors[:, :3].astype(int), axis=0, return_counts=True)
    assert_array_equal(rows, space.structures)
    assert stats.chisquare(counts).pvalue > 0.01


def test_forbidden_pairs_are_never_sampled(rng):
    space = get_space("mosaic")
    vectors = space.sample(3000, rng)
    legal = {tuple(row) for row in space.structures.tolist()}
    assert {tuple(row) for row in vectors[:, :7].astype(int).tolist()} <= legal


def test_weights_and_anchor(rng):
    space = SearchSpace(("a", "b"), anchor="b")
    space.add("a", "a0", weight=3.0).add("a", "a1").add("a", "a2")
    space.add("b", "b0").add("b", "b1").forbid({"a": ["a1", "a2"]}, {"b": "b0"})
    vectors = space.sample(8000, rng).astype(int)
    # each algorithm of the anchor is equally likely, though b0 has one legal partner only
    assert stats.chisquare(np.bincount(vectors[:, 1])).pvalue > 0.01
    partners = np.bincount(vectors[vectors[:, 1] == 1, 0])
    assert stats.chisquare(partners, partners.sum() * np.array([0.6, 0.2, 0.2])).pvalue > 0.01
    assert set(vectors[vectors[:, 1] == 0, 0]) == {0}


def test_rare_legal_structures_are_found(rng):
    space = SearchSpace(("a", "b"))
    for j in range(400):
        space.add("a", f"a{j}").add("b", f"b{j}")
    for j in range(400):
        space.forbid({"a": f"a{j}"}, {"b": [f"b{k}" for k in range(400) if k != j]})
    vectors = space.sample(50, rng)
    assert_array_equal(vectors[:, 0], vectors[:, 1])


def test_structures_can_be_restricted(rng):
    space = make_space()
    vectors = space.sample(3000, rng, structures=space.structures[1:3])
    rows, counts = np.unique(vectors[:, :3], axis=0, return_counts=True)
    assert_array_equal(rows, space.structures[1:3])
    assert stats.chisquare(counts).pvalue > 0.01
