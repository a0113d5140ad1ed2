"""Steps, algorithms, rules and parts of a space."""

import itertools
from copy import deepcopy

import joblib
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

from skauto.space import (
    SearchSpace,
    get_space,
)
from tests.space.small import make_space


def test_default_prefers_what_goes_together():
    space = SearchSpace(("scaler", "selector", "classifier"), default={"classifier": "svm"})
    space.add("scaler", "none").add("scaler", "standard").add("scaler", "robust")
    space.add("selector", "none").add("selector", "l1", prefers={"scaler": "robust"})
    space.add("classifier", "tree", cost=2.0)
    space.add("classifier", "svm", prefers={"scaler": "standard"}, cost=3.0)
    space.add("classifier", "lda", cost=1.0)
    assert space.default_structure() == ("standard", "none", "svm")
    assert space.default_structure({"classifier": "tree"}) == ("none", "none", "tree")
    assert space.default_structure({"selector": "l1"}) == ("robust", "l1", "svm")
    found = [configuration["classifier"] for configuration in space.default_configurations()]
    assert found == ["lda", "tree", "svm"]
    assert len(space.default_configurations("selector")) == 2
    # the preferred scaler was removed
    assert space.subspace({"scaler": ["none"]}).default_structure() == ("none", "none", "svm")
    # the preferred scaler is forbidden: the nearest legal structure
    space.forbid({"classifier": "svm"}, {"scaler": "standard"})
    assert space.default_structure() == ("none", "none", "svm")
    with pytest.raises(ValueError, match="no legal structure .* has"):
        space.default_structure({"classifier": "svm", "scaler": "standard"})


def test_subspace_shares_components_and_keeps_rules(rng):
    space = make_space()
    part = space.subspace({"a": "a1", "b": ["b0", "b1"]})
    assert [c.name for c in part.components("a")] == ["a1"]
    assert part.component("b", "b1") is space.component("b", "b1")
    assert [tuple(part.decode(v).structure) for v in part.sample(5, rng)] == [
        ("a1", "b0", "c0")
    ] * 5
    assert len(space.structures) == 5
    with pytest.raises(ValueError, match="no algorithm 'a7'"):
        space.subspace({"a": "a7"})


def test_vectors_of_a_subspace_mean_the_same(rng):
    space = get_space("mosaic")
    part = space.subspace({"classifier": ["sgd", "lda"], "scaler": "standard"})
    configurations = [part.decode(vector) for vector in part.sample(100, rng)]
    assert [space.decode(v) for v in space.encode(configurations)] == configurations


def names_whose_set_changes_its_order_when_copied():
    """Find two names that collide in the hash table of a set, which depends on PYTHONHASHSEED."""
    pairs = itertools.combinations((f"name{i}" for i in range(100)), 2)
    return next(list(p) for p in pairs if [*frozenset(p)] != [*frozenset([*frozenset(p)])])


def test_a_copy_has_the_same_hash_also_after_use(rng):
    """scikit-learn compares the hashes of parameters before and after `fit`."""
    names = names_whose_set_changes_its_order_when_copied()
    space = SearchSpace(["scaler", "classifier"]).add("scaler", "none").add("scaler", "other")
    for name in [*names, "third"]:
        space.add("classifier", name)
    space.forbid({"scaler": "other"}, {"classifier": frozenset(names)})
    before = joblib.hash(space)
    assert joblib.hash(deepcopy(space)) == before
    space.decode(space.sample(10, rng)[0])
    assert joblib.hash(space) == before


def test_users_extend_a_space_in_three_lines(rng):
    space = get_space("default")
    space.add("classifier", "forest", RandomForestClassifier(), {"max_depth": stats.randint(2, 9)})
    configuration = space.default(space.default_structure({"classifier": "forest"}))
    component = space.component("classifier", configuration["classifier"])
    estimator = component.make(configuration.parameters("classifier"))
    assert estimator.get_params()["max_depth"] == 5
    drawn = [space.decode(v)["classifier"] for v in space.sample(500, rng)]
    assert drawn.count("forest") > 10
