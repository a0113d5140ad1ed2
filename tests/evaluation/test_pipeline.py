"""How pipelines are made and fitted."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, SearchOptions
from skauto.data import TrainingData
from skauto.evaluation import FoldTask, PipelineBuilder, PipelineWorker, RefitTask, _cache
from skauto.model._groups import group_weights
from skauto.space import Configuration, SearchSpace
from skauto.space.catalog._preprocessors import group_weights as component
from skauto.strategies import RandomSearch
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


@pytest.fixture
def keep_all(monkeypatch):
    """Prefixes of small data are made too fast to be kept."""
    monkeypatch.setattr(_cache, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(_cache, "_BYTES_PER_SECOND", np.inf)


class SlowScaler(StandardScaler):
    """Expensive enough for what reading back costs to be forgotten."""

    def fit(self, X, y=None, sample_weight=None):
        time.sleep(0.1)
        return super().fit(X, y, sample_weight)


def test_the_report_tells_what_was_saved(iris):
    space = SearchSpace(["scaler", "classifier"]).add("scaler", "slow", SlowScaler())
    space.add("classifier", "tree", DecisionTreeClassifier(), {"max_depth": [1, 2, 3]})
    model = AutoClassifier(
        "random",
        space=space,
        max_evals=3,
        cv=2,
        initial=None,
        options=SearchOptions(cache=10_000_000),
        random_state=0,
    ).fit(*iris)
    report = model.cache_
    assert report["n_steps"] == 3 * 2
    assert report["n_reused"] == 2 * 2
    assert report["hit_rate"] == pytest.approx(2 / 3)
    # At least the sleep each time; half of it covers a busy disk.
    assert report["seconds_saved"] > 4 * 0.05


def prefix_space():
    space = SearchSpace(["scaler", "selector", "classifier"])
    space.add("scaler", "none").add("scaler", "standard", StandardScaler())
    space.add("selector", "best", SelectKBest(), {"k": [1, 2, 3]})
    space.add("selector", "pca", PCA(), {"n_components": [1, 2]})
    space.add("classifier", "bayes", GaussianNB())
    return space.add("classifier", "tree", DecisionTreeClassifier(), {"max_depth": [1, 2, 3]})


@pytest.mark.usefixtures("keep_all")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_is_the_same_bit_for_bit(iris, tmp_path, n_jobs):
    X, y = iris
    settings = {
        "strategy": RandomSearch(),
        "space": prefix_space(),
        "max_evals": 10,
        "cv": 2,
        "n_jobs": n_jobs,
        "random_state": 0,
    }
    plain = AutoClassifier(**settings).fit(X, y)
    cached = AutoClassifier(**settings, options=SearchOptions(cache=tmp_path)).fit(X, y)
    for one, other in zip(plain.history_, cached.history_, strict=True):
        assert one.configuration == other.configuration
        assert one.losses == other.losses
        assert one.fold_scores == other.fold_scores
        assert one.tie_break == other.tie_break
    np.testing.assert_array_equal(plain.predict_proba(X), cached.predict_proba(X))
    assert cached.cache_["n_reused"] > 0
    assert cached.cache_["hit_rate"] == cached.cache_["n_reused"] / cached.cache_["n_steps"]
    assert not hasattr(plain, "cache_")
    assert not list(tmp_path.iterdir())
