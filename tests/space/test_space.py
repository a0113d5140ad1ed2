"""Search spaces: structures, sampling, encoding, neighbors, subspaces."""

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
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from skauto.data import DataFacts
from skauto.space import (
    Categorical,
    Component,
    Configuration,
    Integer,
    Real,
    SearchSpace,
    get_space,
)


def make_space():
    """Three steps, conditions of two levels, two forbidden pairs."""
    space = SearchSpace(("a", "b", "c"), "small")
    space.add("a", "a0").add("a", "a1", None, {"x": Integer(1, 3)})
    space.add("b", "b0").add(
        "b",
        "b1",
        None,
        {
            "kind": ["p", "q", "r"],
            "p_only": [10, 20],
            "deep": Integer(0, 2),
            "width": Real(1e-3, 1e3, log=True),
        },
        conditions={"deep": ("p_only", [20]), "p_only": ("kind", ["p"])},
    )
    space.add("b", "b2", None, {"flag": [False, True]})
    space.add("c", "c0", None, {"z": Real(-1.0, 1.0)}).add("c", "c1")
    space.forbid({"a": "a1"}, {"c": "c1"})
    return space.forbid({"c": ["c0", "c1"]}, {"b": "b2"}).forbid({"b": "b1"}, {"a": "a1"})


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


# ------------------------------------------------------------------------------------- structures


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


def test_layout_follows_changes_of_the_space(rng):
    space = SearchSpace().add("classifier", "a", None, {"x": Real(0, 1)})
    assert space.n_dimensions == 2
    space.add("classifier", "b", None, {"y": Real(0, 1), "z": [1, 2]})
    assert space.n_dimensions == 4
    assert set(space.sample(50, rng)[:, 0]) == {0.0, 1.0}
    space.add("classifier", "a")
    assert space.n_dimensions == 3


# --------------------------------------------------------------------------------------- sampling


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


def test_hyper_parameters_follow_their_priors(rng):
    space = make_space()
    vectors = space.sample(8000, rng, structures=[[0, 1, 0]])
    columns = {(c.component, c.parameter): i for i, c in enumerate(space.columns)}
    for key in [("b1", "width"), ("c0", "z")]:
        assert stats.kstest(vectors[:, columns[key]], "uniform").pvalue > 0.01
    kinds = vectors[:, columns["b1", "kind"]]
    assert stats.chisquare(np.unique(kinds, return_counts=True)[1]).pvalue > 0.01
    assert np.isnan(vectors[:, columns["a1", "x"]]).all()


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


def test_structures_can_be_restricted(rng):
    space = make_space()
    vectors = space.sample(3000, rng, structures=space.structures[1:3])
    rows, counts = np.unique(vectors[:, :3], axis=0, return_counts=True)
    assert_array_equal(rows, space.structures[1:3])
    assert stats.chisquare(counts).pvalue > 0.01


def test_same_seed_same_vectors():
    first = get_space("default").sample(50, np.random.default_rng(3))
    assert_array_equal(first, get_space("default").sample(50, np.random.default_rng(3)))


# --------------------------------------------------------------------------- encoding and decoding


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


# --------------------------------------------------------------------------------------- defaults


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


def test_default_vector_decodes_to_defaults():
    space = make_space()
    configuration = space.default(("a0", "b1", "c0"))
    assert configuration.parameters("b") == {"kind": "p", "p_only": 10, "width": 1.0}
    assert_array_equal(space.encode([configuration])[0], space.default_vector([0, 1, 0]))
    assert space.default() == space.default(("a0", "b0", "c0"))
    with pytest.raises(ValueError, match="'a1' with 'c1' is forbidden"):
        space.default(("a1", "b0", "c1"))


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


# ------------------------------------------------------------------------------------- neighbors


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


# ------------------------------------------------------------------------------------------ parts


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


@pytest.fixture
def mixed_space():
    space = SearchSpace(("encoder", "imputer", "balancer", "scaler", "classifier"))
    space.add("encoder", "ordinal").add(
        "encoder", "one_hot", StandardScaler(with_mean=False), handles_categories=True
    )
    space.add("imputer", "none").add("imputer", "mean", StandardScaler(with_mean=False))
    space.add("balancer", "none").add("balancer", "smote", StandardScaler, balancing="sampler")
    space.add("scaler", "none").add("scaler", "dense", StandardScaler(), handles_missing=False)
    space.add(
        "classifier",
        "forest",
        RandomForestClassifier(),
        handles_missing=True,
        handles_categories=True,
    )
    space.add("classifier", "logistic", LogisticRegression(), max_samples=1000, max_features=9)
    return space.add("classifier", "neighbors", KNeighborsClassifier())


def names(space, step):
    return [component.name for component in space.components(step)]


def test_for_data_keeps_what_is_distinct(mixed_space):
    part = mixed_space.for_data(DataFacts(n_samples=100, n_features=5))
    assert names(part, "encoder") == ["ordinal"]
    assert names(part, "imputer") == ["none"]
    assert names(part, "classifier") == ["forest", "logistic", "neighbors"]
    assert len(part.structures) == 2 * 2 * 3
    assert len(mixed_space.structures) == 2 * 2 * 2 * 2 * 3


def test_for_data_forbids_what_cannot_take_missing_values(mixed_space):
    part = mixed_space.for_data(DataFacts(n_samples=100, n_features=5, has_missing=True))
    structures = {part.decode(part.default_vector(row)).structure for row in part.structures}
    without = {s[2:] for s in structures if s[1] == "none"}
    assert without == {("none", "none", "forest")}
    assert len({s[2:] for s in structures if s[1] == "mean"}) == 2 * 2 * 3


def test_for_data_forbids_what_cannot_take_categories(mixed_space):
    part = mixed_space.for_data(DataFacts(n_samples=100, n_features=5, has_categories=True))
    structures = {part.decode(part.default_vector(row)).structure for row in part.structures}
    native = {s[2:] for s in structures if s[0] == "ordinal"}
    assert native == {("none", "none", "forest")}
    assert len({s[2:] for s in structures if s[0] == "one_hot"}) == 2 * 2 * 3
    # every algorithm may follow an encoder whose codes are numbers
    plain = mixed_space.subspace({})
    plain.add("encoder", Component("ordinal", keeps_categories=False))
    free = plain.for_data(DataFacts(n_samples=100, n_features=5, has_categories=True))
    assert len(free.structures) == 2 * 2 * 2 * 3


def test_for_data_respects_sparsity_weights_and_size(mixed_space):
    facts = DataFacts(n_samples=100, n_features=5, sparse=True)
    assert names(mixed_space.for_data(facts), "scaler") == ["none"]
    facts = DataFacts(n_samples=100, n_features=5, weighted=True)
    part = mixed_space.for_data(facts)
    assert names(part, "balancer") == ["none"]
    assert names(part, "classifier") == ["forest", "logistic"]
    for facts in (DataFacts(n_samples=1001, n_features=5), DataFacts(100, 10)):
        assert names(mixed_space.for_data(facts), "classifier") == ["forest", "neighbors"]


def test_for_data_says_when_nothing_is_left():
    space = SearchSpace().add("classifier", "lda", LogisticRegression(), dense_only=True)
    with pytest.raises(ValueError, match="step 'classifier' has no algorithm .*sparse=True"):
        space.for_data(DataFacts(n_samples=10, n_features=2, sparse=True))


def test_space_pickles(rng):
    space = get_space("default")
    vectors = space.sample(20, rng)
    copy = pickle.loads(pickle.dumps(space))
    assert_array_equal(copy.structures, space.structures)
    assert [copy.decode(v) for v in vectors] == [space.decode(v) for v in vectors]


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
