"""The default space."""

import numpy as np
from numpy.testing import assert_allclose

from skauto.data import DataFacts
from skauto.space import get_space


def test_default_configurations_are_sensible_for_each_classifier():
    facts = DataFacts(n_samples=500, n_features=10, has_missing=True, has_categories=True)
    found = get_space("default").for_data(facts).default_configurations()
    chosen = {c["classifier"]: c.structure for c in found}
    assert list(chosen)[0] == "gaussian_nb"
    assert list(chosen)[-1] == "mlp"
    for name in ("logistic_regression", "svm", "lda", "k_nearest_neighbors"):
        assert chosen[name][:4] == ("one_hot", "simple", "none", "standard")
    assert chosen["mlp"][:4] == ("one_hot", "simple", "none", "robust_smooth")
    for name in ("lightgbm", "extra_trees", "random_forest"):
        assert chosen[name][:4] == ("ordinal", "none", "none", "none")
    plain = get_space("default").for_data(DataFacts(n_samples=500, n_features=10))
    chosen = {c["classifier"]: c.structure for c in plain.default_configurations()}
    assert chosen["svm"] == ("ordinal", "none", "none", "standard", "none", "none", "svm")


def test_default_space_draws_classifiers_evenly(rng):
    space = get_space("default").for_data(DataFacts(n_samples=500, n_features=10))
    drawn = np.bincount(space.sample(6000, rng)[:, 6].astype(int))
    weights = np.array([c.weight for c in space.components("classifier")])
    assert_allclose(drawn / 6000, weights / weights.sum(), atol=0.02)


def test_large_data_drop_what_is_too_slow():
    part = get_space("default").for_data(DataFacts(n_samples=300_000, n_features=5000))
    names = {component.name for component in part.components("classifier")}
    assert names == {
        "lightgbm",
        "extra_trees",
        "random_forest",
        "logistic_regression",
        "mlp",
        "gaussian_nb",
    }
