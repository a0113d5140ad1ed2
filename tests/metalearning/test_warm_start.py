"""Initial configurations from an archive."""

from itertools import product

import pytest
from sklearn.tree import DecisionTreeClassifier

from skauto.data import DataFacts
from skauto.metalearning import (
    META_FEATURES,
    adapt_configuration,
    nearest_configurations,
    portfolio_configurations,
)
from skauto.metalearning._warm_start import adapt_configurations
from skauto.space import Configuration, Integer
from skauto.space.catalog import get_space
from tests.metalearning.archives import make_archive, make_space


def test_start_from_the_nearest_sets_is_legal_and_leaves_the_set_itself_out():
    archive, space = make_archive(), make_space()
    query = archive.data_sets[6].features
    start = nearest_configurations(archive, query, space, 5)
    neighbors = archive.neighbors(query)
    assert "set_6" not in [d.name for d in neighbors]
    assert start == archive.advice(query)[:5]
    for configuration in start:
        space.validate(configuration)


def test_portfolio_serves_where_no_set_is_near():
    archive, space = make_archive(), make_space()
    far = {name: (-1.0) ** i * 50 for i, name in enumerate(META_FEATURES)}
    assert archive.neighbors(far) == []
    assert nearest_configurations(archive, far, space, 4) == archive.portfolio(4)


def test_configurations_are_made_to_fit_a_part_of_the_space():
    archive, space = make_archive(), make_space()
    part = space.subspace({"imputer": "none", "classifier": ["tree", "bayes"]})
    start = adapt_configurations(archive.portfolio(10), part)
    assert start
    assert len(set(start)) == len(start)
    for configuration in start:
        part.validate(configuration)
    kept = {repr(c.parameters("classifier")) for c in archive.configurations}
    assert {repr(c.parameters("classifier")) for c in start} <= kept
    strict = make_space().forbid({"scaler": "standard"}, {"classifier": ["tree", "linear"]})
    for configuration in adapt_configurations(archive.portfolio(10), strict):
        strict.validate(configuration)


def test_values_out_of_range_leave_a_configuration_out():
    archive = make_archive()
    portfolio = archive.portfolio(10)
    narrow = make_space().add("classifier", "tree", parameters={"depth": Integer(1, 5)})
    kept = [c for c in portfolio if c.parameters("classifier").get("depth", 1) <= 5]
    assert 0 < len(kept) < len(portfolio)
    assert adapt_configurations(portfolio, narrow) == kept


def test_encoder_and_imputer_give_way_to_the_data():
    space = make_space().forbid({"imputer": "none"}, {"classifier": "linear"})
    found = Configuration(
        {"imputer": "none", "scaler": "standard", "classifier": ("linear", {"C": 2.5})}
    )
    adapted = adapt_configuration(found, space)
    assert adapted["imputer"] == "mean"
    assert adapted["scaler"] == "standard"
    assert adapted.parameters("classifier") == {"C": 2.5}
    scaled = make_space().forbid({"scaler": "standard"}, {"classifier": "linear"})
    assert adapt_configuration(found, scaled) is None


def test_a_classifier_of_the_user_is_tried_early():
    space = get_space("default").add("classifier", "own", DecisionTreeClassifier())
    part = space.for_data(DataFacts(n_samples=569, n_features=30))
    start = portfolio_configurations(part, n=8)
    assert [c["classifier"] for c in start].index("own") == 2
    assert len(start) == 9


def test_the_portfolio_depends_on_the_shape_of_the_table():
    space = get_space("default")
    shapes = product((1_000, 10_000), (2, 5), (False, True))
    orders = {
        tuple(portfolio_configurations(space, n_samples=n, n_classes=k, has_categories=c))
        for n, k, c in shapes
    }
    assert len(orders) == 8


def test_expensive_networks_have_fewer_members():
    space = get_space("default")

    def members(max_seconds):
        start = portfolio_configurations(
            space, seconds=lambda c: 1.0 * size(c), max_seconds=max_seconds, n=50
        )
        return [size(c) for c in start if c["classifier"] == "mlp"]

    def size(configuration):
        return configuration.parameters("classifier").get("n_members", 1)

    assert max(members(8.0)) > 2
    assert max(members(2.0)) == 2
    assert set(members(0.5)) == {1}  # one network is the least
    fixed = space.subspace({"classifier": ["mlp"]})
    for configuration in portfolio_configurations(fixed, seconds=size, max_seconds=1.0):
        fixed.validate(configuration)


def test_the_extended_space_has_the_learned_order_and_its_own_classifiers_early():
    pytest.importorskip("catboost")
    pytest.importorskip("xgboost")
    facts = DataFacts(n_samples=569, n_features=30)
    plain, extended = (
        portfolio_configurations(get_space(name).for_data(facts), n=8)
        for name in ("default", "extended")
    )
    assert [c["classifier"] for c in extended[2:4]] == ["xgboost", "catboost"]
    assert [*extended[:2], *extended[4:]] == plain
