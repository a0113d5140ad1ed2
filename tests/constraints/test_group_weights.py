"""Weights by sensitive group and class: they do what their formula says, and reach the fit."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from skauto import ConstrainedAutoClassifier
from skauto.constraints import GroupDisparity, StatisticalParity
from skauto.data import TrainingData
from skauto.evaluation import FoldTask, PipelineBuilder, PipelineWorker, RefitTask
from skauto.model._groups import group_weights
from skauto.space import Configuration, SearchSpace, get_space
from skauto.space.catalog._preprocessors import group_weights as component


@pytest.fixture
def table(rng):
    """Groups that tell of the classes; the third one is rare."""
    groups = rng.choice(3, size=500, p=[0.5, 0.4, 0.1])
    y = (rng.random(500) < np.array([0.2, 0.5, 0.8])[groups]).astype(int)
    return groups, y


def weighted_shares(groups, y, weights):
    """Weighted share of the second class in each group."""
    return np.bincount(groups, weights * y) / np.bincount(groups, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_at_strength_1_groups_and_classes_are_independent(table, rng, weighted):
    groups, y = table
    known = rng.random(500) if weighted else None
    weights = group_weights(groups, y, 1.0, known)
    assert_allclose(weighted_shares(groups, y, weights), np.average(y, weights=known))
    before = np.ones(500) if known is None else known
    assert_allclose(np.bincount(groups, weights), np.bincount(groups, before))


def test_strength_goes_on_in_the_same_direction(table):
    groups, y = table
    gaps = [
        np.diff(weighted_shares(groups, y, group_weights(groups, y, strength))[[0, 2]])[0]
        for strength in (0.0, 0.5, 1.0, 2.0)
    ]
    assert gaps[0] == pytest.approx(np.diff(weighted_shares(groups, y, np.ones(500))[[0, 2]])[0])
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[1] > 0.05 > abs(gaps[2])
    assert gaps[3] < -0.05
    assert group_weights(groups, y, 2.0).mean() == pytest.approx(1.0)


def test_a_class_that_a_group_lacks_is_no_problem():
    weights = group_weights(np.array([0, 0, 1]), np.array([0, 1, 1]), 1.0)
    assert np.isfinite(weights).all()


@pytest.fixture
def worker(table, rng):
    groups, y = table
    space = SearchSpace(["balancer", "classifier"])
    space.add("balancer", "none").add("balancer", component(["first", "second"]))
    space.add("classifier", "logistic", LogisticRegression())
    data = TrainingData(
        Z=np.column_stack([groups == 1, groups == 2, rng.normal(size=500)]).astype(float),
        y=y,
        classes=np.array(["no", "yes"]),
        splits=[(np.arange(400), np.arange(400, 500))],
        sample_weight=rng.random(500),
        sensitive={"first": groups, "second": rng.choice(2, size=500)},
    )
    return PipelineWorker(PipelineBuilder(space), data, {})


def test_weights_of_all_features_reach_the_fit(worker):
    data = worker.data
    chosen = {"strength_first": 1.5, "strength_second": 0.5}
    weighed = Configuration(
        {"balancer": ("group_weights", chosen), "classifier": ("logistic", {})}
    )
    expected = data.sample_weight
    for feature, strength in (("first", 1.5), ("second", 0.5)):
        expected = group_weights(data.sensitive[feature], data.y, strength, expected)
    logistic = LogisticRegression().fit(data.Z, data.classes[data.y], expected)
    [(_, refitted)] = RefitTask(weighed).run(worker).steps
    assert_allclose(refitted.classifier_.coef_, logistic.coef_)
    train = data.splits[0][0]
    y, expected = data.y[train], data.sample_weight[train]
    for feature, strength in (("first", 1.5), ("second", 0.5)):
        expected = group_weights(data.sensitive[feature][train], y, strength, expected)
    logistic = LogisticRegression().fit(data.Z[train], y, expected)
    result = worker(FoldTask(weighed, 0))
    assert_allclose(result.probabilities, logistic.predict_proba(data.Z[400:]), rtol=1e-5)


def test_other_balancers_leave_the_weights_alone(worker):
    plain = Configuration({"balancer": ("none", {}), "classifier": ("logistic", {})})
    data = worker.data
    logistic = LogisticRegression().fit(data.Z, data.classes[data.y], data.sample_weight)
    [(_, refitted)] = RefitTask(plain).run(worker).steps
    assert_allclose(refitted.coef_, logistic.coef_)


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
