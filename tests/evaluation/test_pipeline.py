"""How pipelines are made and fitted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from skauto.data import TrainingData
from skauto.evaluation import FoldTask, PipelineBuilder, PipelineWorker, RefitTask
from skauto.model._groups import group_weights
from skauto.space import Configuration, SearchSpace
from skauto.space.catalog._preprocessors import group_weights as component
from tests.evaluation.evaluators import forest_space


def test_forests_are_validated_out_of_bag_where_that_is_unbiased():
    builder = PipelineBuilder(forest_space())
    cases = {("none", "forest"): True, ("target", "forest"): False, ("none", "logistic"): False}
    for (encoder, classifier), expected in cases.items():
        configuration = builder.space.default(
            builder.space.default_structure({"encoder": encoder, "classifier": classifier})
        )
        assert builder.validates_out_of_bag(configuration) is expected


@pytest.fixture
def table(rng):
    """Groups that tell of the classes; the third one is rare."""
    groups = rng.choice(3, size=500, p=[0.5, 0.4, 0.1])
    y = (rng.random(500) < np.array([0.2, 0.5, 0.8])[groups]).astype(int)
    return groups, y


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
