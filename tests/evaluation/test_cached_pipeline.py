"""Searches with a cache of the first steps."""

import time

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, SearchOptions
from skauto.evaluation import _cache
from skauto.space import SearchSpace
from skauto.strategies import RandomSearch


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
