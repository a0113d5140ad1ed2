"""The ONNX graph gives the probabilities and labels of the vote."""

import numpy as np
import onnxruntime
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

from skauto import AutoClassifier
from skauto.data import TableReader
from skauto.ensemble import PipelineEnsemble
from skauto.evaluation import PipelineBuilder, assemble
from skauto.export import to_onnx
from skauto.selection import Decision
from skauto.space import SearchSpace, get_space
from tests.export.conftest import full, mixed_table

IMPUTED = {"imputer": "simple", "scaler": "standard"}
# What skl2onnx converts, and what is converted here.
CONVERTIBLE = [
    IMPUTED | {"classifier": "logistic_regression"},
    IMPUTED | {"classifier": "lda"},
    IMPUTED | {"classifier": "qda"},
    IMPUTED | {"classifier": "svm"},
    IMPUTED | {"classifier": "mlp"},
    {"imputer": "simple", "classifier": "gaussian_nb"},
    {"imputer": "simple", "classifier": "extra_trees"},
    {"imputer": "simple", "classifier": "random_forest"},
    {"classifier": "lightgbm"},
    {"imputer": "simple", "scaler": "robust_smooth", "transformer": "pca", "classifier": "lda"},
    IMPUTED | {"selector": "select_percentile", "classifier": "lda"},
]


def numbers(seed=0):
    """Wine with gaps, its classes called by name."""
    X, codes = load_wine(return_X_y=True)
    X[np.random.default_rng(seed).random(X.shape) < 0.02] = np.nan
    return X, np.array(["a", "b", "c"])[codes]


def vote_of_choices(choices, **settings):
    X, y = numbers()
    reader = TableReader().fit(X)
    space = get_space("default")
    builder = PipelineBuilder(space)
    pipelines = [
        assemble(reader, builder.fit(full(space, {"encoder": "ordinal"} | choice), X, y))
        for choice in choices
    ]
    weights = np.full(len(pipelines), 1 / len(pipelines))
    return PipelineEnsemble(pipelines, weights, np.unique(y), **settings)


def run(model, X):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(["label", "probabilities"], {"X": X})


@pytest.mark.parametrize("choice", CONVERTIBLE, ids=lambda choice: "-".join(choice.values()))
def test_a_member_gives_the_same(choice):
    vote = vote_of_choices([choice])
    X, _ = numbers(seed=1)
    labels, probabilities = run(to_onnx(vote), X)
    np.testing.assert_allclose(probabilities, vote.predict_proba(X), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(labels, vote.predict(X))


@pytest.mark.parametrize(
    "decision",
    [None, Decision(np.zeros(3), temperature=0.7), Decision(np.array([0.0, 2.0, -1.0]))],
)
def test_the_vote_is_read_the_same(decision):
    vote = vote_of_choices([CONVERTIBLE[0], CONVERTIBLE[6]], decision=decision)
    X, _ = numbers(seed=1)
    labels, probabilities = run(to_onnx(vote), X)
    np.testing.assert_allclose(probabilities, vote.predict_proba(X), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(labels, vote.predict(X))


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


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (IMPUTED | {"classifier": "k_nearest_neighbors"}, "'classifier' .* KNeighborsClassifier"),
        ({"classifier": "random_forest"}, "treats missing values in forests differently"),
        (IMPUTED | {"transformer": "nystroem", "classifier": "lda"}, "'transformer' of member 0"),
    ],
    ids=["neighbours", "forest", "nystroem"],
)
def test_a_step_that_cannot_be_converted_is_named(choice, reason):
    with pytest.raises(ValueError, match=reason):
        to_onnx(vote_of_choices([choice]))


def test_a_column_of_strings_is_refused():
    X, y = mixed_table(60)
    automl = AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="to_onnx needs"):
        to_onnx(automl)
