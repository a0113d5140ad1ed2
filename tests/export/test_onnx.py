"""The ONNX graph gives the probabilities and labels of the ensemble."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.data import TableReader
from skauto.evaluation import PipelineBuilder
from skauto.export import to_onnx
from skauto.model import Decision, PipelineEnsemble
from skauto.model._pipeline import make_pipeline
from skauto.space import SearchSpace
from skauto.space.catalog import PairFeatures
from tests.export.graphs import run
from tests.export.pipelines import default_space, full, mixed_table

IMPUTED = {"imputer": "simple", "scaler": "standard"}
LINEAR = IMPUTED | {"classifier": "logistic_regression"}
CLASSIFIERS = [
    LINEAR,
    IMPUTED | {"classifier": "lda"},
    IMPUTED | {"classifier": "qda"},
    IMPUTED | {"classifier": "svm"},
    IMPUTED | {"classifier": "mlp"},
    {"imputer": "simple", "classifier": "gaussian_nb"},
    {"imputer": "simple", "classifier": "extra_trees"},
    {"classifier": "random_forest"},
    {"classifier": "lightgbm"},
]
# All steps of the default space but those of NOT_CONVERTED.
CONVERTIBLE = [
    *CLASSIFIERS,
    {"encoder": "one_hot", "classifier": "lightgbm"},
    {"encoder": "target", "classifier": "extra_trees"},
    {"transformer": "pairs", "classifier": "lightgbm"},
    {"imputer": "simple", "scaler": "robust_smooth", "transformer": "pca", "classifier": "lda"},
    LINEAR | {"scaler": "min_max"},
    LINEAR | {"transformer": "polynomial"},
    LINEAR | {"transformer": "nystroem"},
    LINEAR | {"transformer": "random_trees_embedding"},
    LINEAR | {"selector": "select_extra_trees"},
    LINEAR | {"selector": "select_l1"},
    IMPUTED | {"selector": "select_percentile", "classifier": "lda"},
]
NOT_CONVERTED = [
    (IMPUTED | {"classifier": "k_nearest_neighbors"}, "'classifier' .* KNeighborsClassifier"),
    (LINEAR | {"scaler": "quantile"}, "'scaler' of member 0, a QuantileTransformer"),
]


def numbers(n_classes=3, seed=0):
    """Wine or breast cancer with gaps, the classes called by name."""
    X, codes = (load_wine if n_classes == 3 else load_breast_cancer)(return_X_y=True)
    X[np.random.default_rng(seed).random(X.shape) < 0.02] = np.nan
    return X, np.array(["a", "b", "c"])[codes]


def ensemble_of_choices(choices, n_classes=3, **settings):
    X, y = numbers(n_classes)
    reader = TableReader().fit(X)
    space = default_space()
    builder = PipelineBuilder(space)
    chosen = [full(space, {"encoder": "ordinal"} | choice) for choice in choices]
    members = [builder.fit(configuration, X, y) for configuration in chosen]
    weights = np.full(len(members), 1 / len(members))
    return PipelineEnsemble(reader, members, weights, np.unique(y), **settings)


@pytest.mark.parametrize(
    ("choice", "n_classes"),
    [(choice, 2) for choice in CLASSIFIERS] + [(choice, 3) for choice in CONVERTIBLE],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else str(value),
)
def test_a_member_gives_the_same(choice, n_classes):
    ensemble = ensemble_of_choices([choice], n_classes)
    X, _ = numbers(n_classes, seed=1)
    labels, probabilities = run(to_onnx(ensemble), X)
    np.testing.assert_allclose(probabilities, ensemble.predict_proba(X), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(labels, ensemble.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_keys_of_columns_give_the_same(rng, n_classes):
    traits, who = rng.integers(0, 20, (150, 2)), rng.integers(0, 150, 900)
    X, y = np.column_stack([traits[who], rng.normal(size=900)]), who % n_classes
    X[who < 10, 1] = np.nan
    pairs = PairFeatures(random_state=0)
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(pairs.fit_transform(X, y), y)
    assert (0, 1) in pairs.crosses_
    pipeline = make_pipeline([("transformer", pairs), ("classifier", tree)])
    ensemble = PipelineEnsemble(TableReader().fit(X), [pipeline], [1.0], np.unique(y))
    X = np.vstack([X, rng.normal(size=(20, 3))])  # and rows of unknown persons
    labels, probabilities = run(to_onnx(ensemble), X)
    np.testing.assert_allclose(probabilities, ensemble.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(labels, ensemble.predict(X))


@pytest.mark.parametrize(
    "decision",
    [
        None,
        Decision(np.zeros(3), temperature=0.7),
        Decision(np.zeros(3), shift=np.array([0.3, -0.5, 0.2])),
        Decision(np.zeros(3), 3.0, np.array([0.1, 0.3, 0.6])),
        Decision(np.array([0.0, 2.0, -1.0])),
    ],
)
def test_the_ensemble_is_read_the_same(decision):
    ensemble = ensemble_of_choices([CONVERTIBLE[0], CONVERTIBLE[6]], decision=decision)
    X, _ = numbers(seed=1)
    labels, probabilities = run(to_onnx(ensemble), X)
    np.testing.assert_allclose(probabilities, ensemble.predict_proba(X), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(labels, ensemble.predict(X))


@pytest.mark.parametrize("classes", [[1.0, 2.0, 3.0], [False, True], [-3, 5]], ids=str)
def test_types_of_labels(classes):
    X, codes = load_wine(return_X_y=True)
    y = np.array(classes)[np.minimum(codes, len(classes) - 1)]
    steps = [("classifier", GaussianNB().fit(X, y))]
    ensemble = PipelineEnsemble(TableReader().fit(X), [make_pipeline(steps)], [1.0], np.unique(y))
    labels, _ = run(to_onnx(ensemble), X)
    np.testing.assert_array_equal(labels, ensemble.predict(X))


def test_columns_by_name_and_without_information(rng):
    import pandas as pd

    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    X["b"] = 1.0
    X["d"] = X["d"] > 0
    y = (X["a"] + X["c"] > 0).astype(int)
    space = SearchSpace(["classifier"]).add("classifier", "nb", GaussianNB())
    automl = AutoClassifier(space=space, max_evals=1, cv=2, random_state=0).fit(X, y)
    labels, probabilities = run(to_onnx(automl), X.to_numpy(dtype=np.float64))
    np.testing.assert_allclose(probabilities, automl.predict_proba(X), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(labels, automl.predict(X))


@pytest.mark.parametrize(("choice", "reason"), NOT_CONVERTED, ids=["neighbors", "quantile"])
def test_a_step_that_cannot_be_converted_is_named(choice, reason):
    with pytest.raises(ValueError, match=reason):
        to_onnx(ensemble_of_choices([choice]))


def test_every_algorithm_of_the_default_space_is_in_one_of_the_lists():
    tried = [*CONVERTIBLE, *(choice for choice, _ in NOT_CONVERTED)]
    space = default_space()
    for step in set(space.steps) - {"balancer"}:  # balancers do nothing in predict
        names = {component.name for component in space.components(step)} - {"none", "ordinal"}
        assert names <= {choice.get(step) for choice in tried}


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("kind", [LogisticRegression, DecisionTreeClassifier])
def test_large_numbers_are_clipped_as_by_the_reader(kind, gaps, rng):
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] - 2 * X[:, 1] > 0).astype(int)
    X[:10, 0] = np.nan if gaps else 0.0
    steps = [("imputer", SimpleImputer().fit(X)), ("classifier", kind().fit(np.nan_to_num(X), y))]
    ensemble = PipelineEnsemble(TableReader().fit(X), [make_pipeline(steps)], [1.0], np.unique(y))
    model = to_onnx(ensemble)
    rows = [[1e300, 1e39], [-1e300, -1e39], [3.5e38, -1.0], [1e38, 1e300], [np.nan, 1e50]]
    rows = np.array([*rows, [1e39, np.nan], [np.nan, np.nan]])
    labels, probabilities = run(model, rows)
    np.testing.assert_allclose(probabilities, ensemble.predict_proba(rows), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(labels, ensemble.predict(rows))
    largest = float(np.finfo(np.float32).max)
    infinite = np.array([[np.inf, 0.0], [0.0, -np.inf]])
    bounded = np.clip(infinite, -largest, largest)
    np.testing.assert_array_equal(run(model, infinite)[1], run(model, bounded)[1])


def test_codes_of_missing_numbers_are_missing(rng):
    X = rng.normal(size=(120, 3))
    X[:10, 0], X[:9, 2], X[9:19, 2] = -999, 99, 98
    steps = [("imputer", SimpleImputer()), ("classifier", LogisticRegression())]
    reader, y = TableReader(), X[:, 1] > 0
    members = [make_pipeline(steps).fit(reader.fit_transform(X), y)]
    ensemble = PipelineEnsemble(reader, members, [1.0], np.unique(y))
    _, probabilities = run(to_onnx(ensemble), X)
    np.testing.assert_allclose(probabilities, ensemble.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("package", ["onnx", "skl2onnx"])
def test_without_a_package_the_error_names_the_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package}, .* install 'skauto\[onnx\]'"):
        to_onnx(ensemble_of_choices([CONVERTIBLE[0]]))


def test_a_column_of_strings_is_refused():
    X, y = mixed_table(60)
    automl = AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="to_onnx needs"):
        to_onnx(automl)
