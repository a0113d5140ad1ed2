"""Encoders, balancers and transformers of the catalog."""

import numpy as np
import pandas as pd

from skauto import ConstrainedAutoClassifier
from skauto.constraints import GroupDisparity, StatisticalParity
from skauto.space import FitContext, get_space


def test_the_default_space_offers_it_to_classifiers_that_take_weights():
    space = get_space("default", ["sex", "race"])
    [offered] = [c for c in space.components("balancer") if c.balancing == "groups"]
    assert list(offered.parameters) == ["strength_sex", "strength_race"]
    j = [c.name for c in space.components("balancer")].index("group_weights")
    structures = space.structures[space.structures[:, space.steps.index("balancer")] == j]
    names = {space.components("classifier")[k].name for k in structures[:, -1]}
    assert {"lightgbm", "logistic_regression"} < names
    assert not names & {"k_nearest_neighbors", "lda", "qda"}
    assert space.default().components[2] == ("balancer", "group_weights")
    assert space.default_configurations()[0]["classifier"] == "gaussian_nb"
    assert {c["balancer"] for c in space.default_configurations()} == {"group_weights", "none"}
    for name in ("default", "mosaic"):
        features = [] if name == "default" else ["sex"]
        assert "group_weights" not in [
            c.name for c in get_space(name, features).components("balancer")
        ]


def test_a_search_uses_it_where_a_constraint_names_a_group(rng):
    group = rng.choice(["a", "b"], size=400)
    signal = rng.normal(size=400)
    y = (signal + 1.2 * (group == "a") + 0.3 * rng.normal(size=400) > 0.6).astype(int)
    X = pd.DataFrame({"signal": signal, "group": group, "other": group})
    clf = ConstrainedAutoClassifier(
        [StatisticalParity("group", 0.1), GroupDisparity("other", upper=1.0)],
        strategy="random",
        decision="argmax",
        cv=2,
        max_evals=5,
        ensemble_size=5,
        random_state=0,
    ).fit(X, y)
    assert clf.feasible_
    best = clf.history_.incumbent.configuration
    assert best["balancer"] == "group_weights"
    assert list(best.parameters("balancer")) == ["strength_group"]


def test_smote_respects_small_classes(rng):
    X, y = rng.normal(size=(30, 3)), np.repeat([0, 1], [27, 3])
    component = get_space("default").component("balancer", "smote")
    sampler = component.make({"k_neighbors": 10})
    component.adapt(sampler, FitContext(30, 3, 2, smallest_class=3))
    assert sampler.k_neighbors == 2
    assert np.bincount(sampler.fit_resample(X, y)[1]).tolist() == [27, 27]


def test_smote_leaves_the_rows_if_a_class_has_one(rng):
    X, y = rng.normal(size=(30, 3)), np.repeat([0, 1, 2], [20, 9, 1])
    component = get_space("default").component("balancer", "smote")
    sampler = component.make({"k_neighbors": 5})
    component.adapt(sampler, FitContext(30, 3, 3, smallest_class=1))
    np.testing.assert_array_equal(sampler.fit_resample(X, y)[0], X)
