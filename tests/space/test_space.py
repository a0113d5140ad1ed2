"""Steps, rules and parts of a space; configurations as vectors."""

import itertools
import json
import pickle
from copy import deepcopy

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

from skauto.space import (
    Categorical,
    Configuration,
    Integer,
    Real,
    SearchSpace,
    get_space,
)
from tests.space.small import make_space


def finite_space():
    """Like `make_space`, with a finite number of configurations."""
    space = make_space()
    wide = space.component("b", "b1")
    space.add("b", wide.vary(drop=["width"]))
    return space.add("c", "c0", None, {"z": [1, 2]})


def enumerate_configurations(space):
    """All configurations of a finite space, by brute force over names and values."""
    found = []
    for names in itertools.product(*([c.name for c in space.components(s)] for s in space.steps)):
        settings = []
        for step, name in zip(space.steps, names, strict=True):
            component = space.component(step, name)
            options = set()
            for values in itertools.product(
                *(_all_values(parameter) for parameter in component.parameters.values())
            ):
                chosen = dict(zip(component.parameters, values, strict=True))
                active = component.active(chosen)
                options.add(tuple((key, chosen[key]) for key in active))
            settings.append(options)
        for values in itertools.product(*settings):
            configuration = Configuration(
                {
                    step: (name, dict(pairs))
                    for step, name, pairs in zip(space.steps, names, values, strict=True)
                }
            )
            try:
                space.validate(configuration)
            except ValueError as error:
                assert "forbidden" in str(error)
            else:
                found.append(configuration)
    return found


def _all_values(parameter):
    if isinstance(parameter, Categorical):
        return parameter.choices
    return range(parameter.low, parameter.high + 1)


def test_hyper_parameters_follow_their_priors(rng):
    space = make_space()
    vectors = space.sample(8000, rng, structures=[[0, 1, 0]])
    columns = {(c.component, c.parameter): i for i, c in enumerate(space.columns)}
    for key in [("b1", "width"), ("c0", "z")]:
        assert stats.kstest(vectors[:, columns[key]], "uniform").pvalue > 0.01
    kinds = vectors[:, columns["b1", "kind"]]
    assert stats.chisquare(np.unique(kinds, return_counts=True)[1]).pvalue > 0.01
    assert np.isnan(vectors[:, columns["a1", "x"]]).all()


def test_same_seed_same_vectors():
    first = get_space("default").sample(50, np.random.default_rng(3))
    assert_array_equal(first, get_space("default").sample(50, np.random.default_rng(3)))


@pytest.mark.parametrize("name", ["default", "mosaic", "flash", "divbo", "admm_large", "fang_mlp"])
def test_encode_inverts_decode(name, rng):
    space = get_space(name)
    vectors = space.sample(500, rng)
    configurations = [space.decode(vector) for vector in vectors]
    assert_array_equal(space.encode(configurations), vectors)
    for configuration in configurations[:50]:
        space.validate(configuration)
        copy = Configuration.from_dict(json.loads(json.dumps(configuration.to_dict())))
        assert copy == configuration
        assert hash(copy) == hash(configuration)
    assert_array_equal(space.encode([]), np.empty((0, space.n_dimensions)))


def test_finite_space_is_sampled_completely(rng):
    space = finite_space()
    everything = enumerate_configurations(space)
    assert len(everything) == len(set(everything))
    sampled = {space.decode(vector) for vector in space.sample(3000, rng)}
    assert sampled == set(everything)


def test_one_hot_columns(rng):
    space = make_space()
    encoded = space.one_hot(space.sample(200, rng))
    # 2 + 3 + 2 algorithms; x, kind (3), p_only (2), deep, width, flag (2), z
    assert encoded.shape == (200, 7 + 11)
    assert_array_equal(encoded[:, :2].sum(axis=1), 1.0)
    assert_array_equal(encoded[:, 2:5].sum(axis=1), 1.0)
    assert_array_equal(encoded[:, 8:11].sum(axis=1), 1.0)
    vector = space.default_vector(("a1", "b0", "c0"))
    expected = [0, 1, 1, 0, 0, 1, 0, 0.5, 1, 0, 0, 1, 0, 0.5, 0.5, 1, 0, 0.5]
    np.testing.assert_allclose(space.one_hot(vector[None])[0], expected)
    assert_array_equal(space.one_hot_structures([[1, 0, 0]]), [[0, 1, 1, 0, 0, 1, 0]])


def test_rank_of_all_one_hot_structures():
    """FLASH needs N - K + 1 paths to tell its N algorithms in K steps apart: 30 of 33."""
    space = get_space("flash")
    design = space.one_hot_structures(space.structures)
    choosing = [len(space.components(s)) for s in space.steps if len(space.components(s)) > 1]
    assert sum(choosing) == 33
    assert np.linalg.matrix_rank(design) == 33 - len(choosing) + 1 == 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"c": "cc0"}, "step 'c' has no algorithm 'cc0'; known are c0, c1. Did you mean 'c0'?"),
        ({"a": ("a1", {"x": 1})}, "'a1' with 'b1' is forbidden in space 'small'"),
        ({"c": ("c0", {"z": 2.0})}, "'z' must be a number in [-1, 1], got 2.0"),
        ({"c": ("c0", {"z": "0"})}, "'z' must be a number in [-1, 1], got '0'"),
        ({"c": ("c0", {})}, "lacks its hyper-parameter 'z'"),
        ({"c": ("c0", {"z": 0.0, "zz": 1})}, "has no hyper-parameter 'zz'; known are z."),
        ({"b": ("b1", {"kind": "q", "width": 1.0, "p_only": 10})}, "active only if 'kind' is one"),
        ({"b": ("b1", {"kind": "p", "width": 1.0, "p_only": 20})}, "its hyper-parameter 'deep'"),
        ({"b": ("b1", {"kind": "s", "width": 1.0})}, "'kind' must be one of 'p', 'q', 'r'"),
        ({"d": "d0"}, "has the steps ['a', 'b', 'c', 'd']"),
    ],
)
def test_illegal_configurations_are_refused(change, message):
    space = make_space()
    legal = {"a": "a0", "b": ("b1", {"kind": "q", "width": 1.0}), "c": ("c0", {"z": 0.5})}
    space.validate(Configuration(legal))
    wrong = Configuration({**legal, **change})
    for check in (space.validate, lambda c: space.encode([Configuration(legal), c])):
        with pytest.raises(ValueError) as error:
            check(wrong)
        assert message in str(error.value)


def test_other_errors(rng):
    space = make_space()
    with pytest.raises(TypeError, match="expected a Configuration, got"):
        space.encode([{"a": "a0"}])
    with pytest.raises(ValueError, match=r"has shape \(10,\), got \(9,\)"):
        space.decode(np.zeros(9))
    with pytest.raises(ValueError, match=r"have shape \(n, 10\), got \(10,\)"):
        space.fill_inactive(np.zeros(10))
    with pytest.raises(ValueError, match="unknown step 'clasifier'.* Did you mean 'classifier'"):
        SearchSpace().add("clasifier", "a")
    with pytest.raises(ValueError, match="step 'classifier' has no algorithm; add one with"):
        SearchSpace().sample(1, rng)
    with pytest.raises(ValueError, match="one step on each side"):
        space.forbid({"a": "a0", "b": "b0"}, {"c": "c0"})
    with pytest.raises(ValueError, match="two different steps"):
        space.forbid({"a": "a0"}, {"a": "a1"})
    with pytest.raises(ValueError, match="no algorithm 'a3'"):
        space.forbid({"a": "a3"}, {"b": "b0"})
    with pytest.raises(TypeError, match="got the string 'classifier'"):
        SearchSpace("classifier")
    with pytest.raises(ValueError, match="different names"):
        SearchSpace(("a", "a"))
    with pytest.raises(ValueError, match="has one algorithm for each of"):
        space.default_vector(("a0", "b0"))
    with pytest.raises(ValueError, match="has 2 algorithms, got the index 5"):
        space.default_vector([0, 0, 5])
    with pytest.raises(ValueError, match="unknown search space 'mosiac'.*Did you mean 'mosaic'"):
        get_space("mosiac")


def test_default_vector_decodes_to_defaults():
    space = make_space()
    configuration = space.default(("a0", "b1", "c0"))
    assert configuration.parameters("b") == {"kind": "p", "p_only": 10, "width": 1.0}
    assert_array_equal(space.encode([configuration])[0], space.default_vector([0, 1, 0]))
    assert space.default() == space.default(("a0", "b0", "c0"))
    with pytest.raises(ValueError, match="'a1' with 'c1' is forbidden"):
        space.default(("a1", "b0", "c1"))


def test_complete_fills_in_the_rest():
    space = make_space()
    configuration = space.complete({"b": ("b1", {"p_only": 20})})
    assert configuration.to_dict() == {
        "a": {"name": "a0"},
        "b": {"name": "b1", "kind": "p", "p_only": 20, "deep": 1, "width": 1.0},
        "c": {"name": "c0", "z": 0.0},
    }
    with pytest.raises(ValueError, match="'p_only' is active only if 'kind' is one of"):
        space.complete({"b": ("b1", {"kind": "q", "p_only": 20})})
    with pytest.raises(ValueError, match="has no hyper-parameter 'wdth'.* Did you mean 'width'"):
        space.complete({"b": ("b1", {"wdth": 1})})


def brute_force_neighbors(space, configuration):
    """All configurations that differ in one categorical value or one algorithm."""
    found = set()
    for step in space.steps:
        name, values = configuration[step], configuration.parameters(step)
        component = space.component(step, name)
        for key in values:
            if not isinstance(component.parameters[key], Categorical):
                continue
            for choice in component.parameters[key].choices:
                if choice != values[key]:
                    defaults = {k: p.default for k, p in component.parameters.items()}
                    changed = {**defaults, **values, key: choice}
                    kept = {k: changed[k] for k in component.active(changed)}
                    found.add(_replace(configuration, step, name, kept))
        for other in space.components(step):
            if other.name != name:
                found.add(_replace(configuration, step, other.name, other.default_values()))
    legal = set()
    for candidate in found:
        try:
            space.validate(candidate)
        except ValueError as error:
            assert "forbidden" in str(error)
        else:
            legal.add(candidate)
    return legal


def _replace(configuration, step, name, values):
    steps = {s: (n, configuration.parameters(s)) for s, n in configuration.components}
    steps[step] = (name, values)
    return Configuration(steps)


def test_discrete_neighbors_equal_brute_force(rng):
    space = make_space()
    for vector in space.sample(60, rng):
        neighbors = space.neighbors(vector, rng, n_numeric=0)
        found = [space.decode(neighbor) for neighbor in neighbors]
        assert len(found) == len(set(found))
        assert set(found) == brute_force_neighbors(space, space.decode(vector))
        assert_array_equal(space.encode(found), neighbors)


def test_numeric_neighbors_change_one_value(rng):
    space = make_space()
    origin = space.default_vector(("a0", "b1", "c0"))
    neighbors = space.neighbors(origin, rng, n_numeric=200, scale=0.1, fixed_steps=space.steps)
    columns = {c.parameter: i for i, c in enumerate(space.columns)}
    same = np.isclose(neighbors, origin, rtol=0, atol=0, equal_nan=True)
    assert (~same).any(axis=1).all()
    for key in ("width", "z"):
        moved = neighbors[~same[:, columns[key]]]
        assert len(moved) == 200
        others = np.delete(np.arange(len(origin)), columns[key])
        assert_array_equal(moved[:, others], np.tile(origin[others], (200, 1)))
        steps = moved[:, columns[key]] - origin[columns[key]]
        assert 0.08 < steps.std() < 0.12
    # every near value of an integer, without duplicates
    integer = space.neighbors(space.default_vector(("a1", "b0", "c0")), rng, 200, 0.5, space.steps)
    assert sorted(v for v in integer[:, columns["x"]] if v != 0.5) == [1 / 6, 5 / 6]


def test_neighbors_are_in_random_order(rng):
    space = make_space()
    origin = space.default_vector()
    n_neighbors = len(space.neighbors(origin, rng, n_numeric=0))
    first = {space.decode(space.neighbors(origin, rng, n_numeric=0)[0]) for _ in range(100)}
    assert len(first) > n_neighbors / 2


def test_neighbors_keep_fixed_steps(rng):
    space = get_space("mosaic")
    vector = space.default_vector()
    free = space.neighbors(vector, rng)
    assert len(np.unique(free[:, :7], axis=0)) > 20
    fixed = space.neighbors(vector, rng, fixed_steps=space.steps)
    assert_array_equal(fixed[:, :7], np.tile(vector[:7], (len(fixed), 1)))
    half = space.neighbors(vector, rng, fixed_steps=["classifier"])
    assert_array_equal(half[:, 6], vector[6])
    space.encode([space.decode(neighbor) for neighbor in free])


def test_neighbors_of_several_vectors_are_those_of_each(rng):
    """The near values of a numeric hyper-parameter are drawn; here there are none."""
    space = get_space("mosaic")
    vectors = space.sample(20, rng)
    together, of = space.neighborhoods(vectors, rng, 0, fixed_steps=["balancer"])
    for row, vector in enumerate(vectors):
        alone = space.neighbors(vector, rng, 0, fixed_steps=["balancer"])
        own = together[of == row]
        assert_array_equal(own[np.lexsort(own.T)], alone[np.lexsort(alone.T)])
    none, of = space.neighborhoods(vectors[:0], rng)
    assert none.shape == (0, space.n_dimensions) and of.shape == (0,)


def test_numeric_neighbors_are_near_to_their_own_vector(rng):
    space = SearchSpace().add("classifier", "a", None, {"x": Real(0, 1), "n": Integer(1, 1000)})
    vectors = space.encode(
        [
            Configuration({"classifier": ("a", {"x": x, "n": n})})
            for x, n in ((0.2, 300), (0.8, 700))
        ]
    )
    neighbors, of = space.neighborhoods(vectors, rng, 100, scale=0.02)
    assert np.bincount(of).min() > 150
    distance = np.abs(neighbors - vectors[of])
    assert (np.count_nonzero(distance, axis=1) == 1).all()
    assert distance.max() < 0.1


def test_single_configuration_has_no_neighbors(rng):
    space = SearchSpace().add("classifier", "a")
    assert space.neighbors(space.default_vector(), rng).shape == (0, 1)


def test_space_pickles(rng):
    space = get_space("default")
    vectors = space.sample(20, rng)
    copy = pickle.loads(pickle.dumps(space))
    assert_array_equal(copy.structures, space.structures)
    assert [copy.decode(v) for v in vectors] == [space.decode(v) for v in vectors]


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
