"""The classifiers of optional packages, CatBoost and XGBoost."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from skauto import AutoClassifier
from skauto.space import FitContext, get_space

PACKAGES = {"catboost": "CatBoostClassifier", "xgboost": "XGBoostClassifier"}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_missing_package_is_named_before_the_search(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    X, y = make_classification(60, random_state=0)
    with pytest.raises(ImportError, match=rf"{package}.*pip install skauto\[extended\]"):
        AutoClassifier(space="extended", max_evals=1).fit(X, y)


@pytest.fixture
def space():
    for package in PACKAGES:
        pytest.importorskip(package)
    return get_space("extended")


def make(space, name, **context):
    component = space.component("classifier", name)
    estimator = component.make({**component.default_values(), "learning_rate": 0.2})
    facts = {"n_samples": 300, "n_features": 4, "n_classes": 3, **context}
    component.adapt(estimator, FitContext(**facts))
    return estimator.set_params(random_state=0)


@pytest.mark.parametrize("name", PACKAGES)
def test_rounds(space, name):
    X, y = make_classification(
        450,
        4,
        n_informative=3,
        n_redundant=0,
        n_classes=3,
        n_clusters_per_class=1,
        flip_y=0.3,
        random_state=0,
    )
    y = np.array(["a", "b", "c"])[y]
    train, test = (X[:300], y[:300]), (X[300:], y[300:])
    stopped = make(space, name).fit(*train, eval_set=test)
    assert 1 < stopped.n_rounds_ < stopped.max_rounds
    fixed = clone(stopped).set_rounds(stopped.n_rounds_).fit(*train)
    assert fixed.n_rounds_ == stopped.n_rounds_
    assert_allclose(fixed.predict_proba(X), stopped.predict_proba(X), atol=1e-6)
    longer = clone(stopped).set_rounds(4 * stopped.n_rounds_).fit(*train)
    best, worse = (log_loss(test[1], m.predict_proba(test[0])) for m in (stopped, longer))
    assert best < worse
    unknown = np.where(y[300:] == "c", "d", y[300:])
    partly = clone(stopped).fit(*train, eval_set=(X[300:], unknown))
    known = unknown != "d"
    only = clone(stopped).fit(*train, eval_set=(X[300:][known], unknown[known]))
    assert_array_equal(partly.predict_proba(X), only.predict_proba(X))
    assert clone(stopped).fit(*train, eval_set=(X[300:], ["d"] * 150)).n_rounds_ == 50


@pytest.mark.parametrize("name", PACKAGES)
def test_categories_and_missing_values(space, name, rng):
    codes = rng.integers(0, 30, 600).astype(float)
    codes[::20] = np.nan
    y = np.where(np.isnan(codes), 0, (rng.random(30) < 0.5)[np.nan_to_num(codes).astype(int)])
    X = np.column_stack([rng.normal(size=600), codes])
    X[::7, 0] = np.nan
    model = make(space, name, n_features=2, n_classes=2, categorical=(1,)).fit(X, y)
    assert model.score(X, y) > 0.95
    X[0, 1] = 40.0  # not seen before
    assert np.isfinite(model.predict_proba(X)).all()


def test_the_search_tries_both(space):
    X, y = make_classification(200, random_state=0)
    part = space.subspace({"classifier": list(PACKAGES)})
    clf = AutoClassifier(space=part, max_evals=2, cv=0.3, random_state=0).fit(X, y)
    assert {t.configuration["classifier"] for t in clf.history_} == set(PACKAGES)
    assert {t.status for t in clf.history_} == {"ok"}


@pytest.mark.parametrize("name", PACKAGES)
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_columns(space, name, container, rng):
    X = np.where(rng.random((300, 8)) < 0.7, 0.0, rng.normal(size=(300, 8)))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = make(space, name, n_features=8, n_classes=2, sparse=True)
    model.fit(container(X), y, eval_set=(container(X), y))
    assert model.score(container(X), y) > 0.9
