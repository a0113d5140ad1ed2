"""The columns of the vectors of a space, and the conditions between them."""

import numpy as np
from numpy.testing import assert_array_equal

from skauto.space import (
    Integer,
    Real,
    SearchSpace,
)
from tests.space.small import make_space


def test_layout_follows_changes_of_the_space(rng):
    space = SearchSpace().add("classifier", "a", None, {"x": Real(0, 1)})
    assert space.n_dimensions == 2
    space.add("classifier", "b", None, {"y": Real(0, 1), "z": [1, 2]})
    assert space.n_dimensions == 4
    assert set(space.sample(50, rng)[:, 0]) == {0.0, 1.0}
    space.add("classifier", "a")
    assert space.n_dimensions == 3


def test_conditions_decide_what_is_active(rng):
    space = make_space()
    columns = {(c.component, c.parameter): i for i, c in enumerate(space.columns)}
    vectors = space.sample(2000, rng)
    for vector in vectors:
        values = space.decode(vector).parameters("b")
        assert ("p_only" in values) == (values.get("kind") == "p")
        assert ("deep" in values) == (values.get("p_only") == 20)
    deep = ~np.isnan(vectors[:, columns["b1", "deep"]])
    assert 0 < deep.sum() < (vectors[:, 1] == 1).sum()


def test_columns_name_what_they_hold():
    space = make_space()
    assert space.n_dimensions == len(space.columns) == 10
    assert [c.step for c in space.columns[:3]] == ["a", "b", "c"]
    assert all(c.component is None and c.definition is None for c in space.columns[:3])
    assert [(c.step, c.component, c.parameter) for c in space.columns[3:5]] == [
        ("a", "a1", "x"),
        ("b", "b1", "kind"),
    ]
    assert isinstance(space.columns[3].definition, Integer)


def test_fill_inactive_takes_defaults(rng):
    space = make_space()
    vectors = space.sample(100, rng)
    before = vectors.copy()
    filled = space.fill_inactive(vectors)
    assert_array_equal(vectors, before)
    for i, column in enumerate(space.columns[3:], start=3):
        inactive = np.isnan(vectors[:, i])
        assert (filled[inactive, i] == column.definition.default_unit).all()
        assert_array_equal(filled[~inactive, i], vectors[~inactive, i])


def test_conditions_on_lists(rng):
    space = SearchSpace().add(
        "classifier",
        "network",
        None,
        {"shape": [[10], [10, 10]], "alpha": Real(0.0, 1.0)},
        conditions={"alpha": ("shape", [[10, 10]])},
    )
    deep = space.complete({"classifier": ("network", {"shape": [10, 10]})})
    assert deep.parameters("classifier") == {"shape": (10, 10), "alpha": 0.5}
    assert "alpha" not in space.default().parameters("classifier")
    for vector in space.sample(20, rng):
        space.validate(space.decode(vector))
