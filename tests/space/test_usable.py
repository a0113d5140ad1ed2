"""Components that can be used on a data set."""

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from skauto.data import DataFacts
from skauto.space import (
    Component,
    SearchSpace,
)


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
