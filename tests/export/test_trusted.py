"""Fitted estimators go into a skops file and come back, without pickle."""

import copy
import importlib
import io
import os
import pickle
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pytest
import skops.io

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import ModelSize
from skauto.evaluation import PipelineBuilder
from skauto.export import trusted_types
from skauto.model._pipeline import predict_probabilities
from skauto.strategies import STRATEGIES
from tests.export.pipelines import default_space
from tests.strategy_settings import make_strategy


def reloaded(model):
    return skops.io.loads(skops.io.dumps(model), trusted=trusted_types())


@pytest.fixture(scope="module")
def file(automl):
    """The search as a skops file."""
    return skops.io.dumps(automl)


@pytest.fixture(scope="module")
def again(file):
    """The search that is loaded from it."""
    return skops.io.loads(file, trusted=trusted_types())


def test_the_model_that_is_loaded_predicts_the_same(automl, again, ensemble, table):
    X, _ = table
    np.testing.assert_array_equal(again.predict_proba(X), automl.predict_proba(X))
    np.testing.assert_array_equal(reloaded(ensemble).predict_proba(X), ensemble.predict_proba(X))


def test_the_readers_of_columns_of_every_kind_are_loaded(every_kind):
    X = every_kind.assign(reason=every_kind["text"].str.replace(" ", "-"))
    y = X["text"].fillna("red").str.contains("red") ^ X["name"].fillna("").str.startswith("dark")
    automl = AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, y)
    again = reloaded(automl)
    np.testing.assert_array_equal(again.predict_proba(X), automl.predict_proba(X))


def test_what_the_search_found_is_loaded_too(automl, again):
    assert again.get_params()["max_evals"] == automl.max_evals
    assert again.best_params_ == automl.best_params_
    boards = [model.leaderboard().drop(columns="size") for model in (again, automl)]
    assert boards[0].equals(boards[1])


def test_the_file_holds_no_pickle(file):
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".npy"):
                np.load(io.BytesIO(content), allow_pickle=False)
            elif name.endswith(".npz"):
                with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                    assert [arrays[key] for key in arrays]
            else:
                assert name == "schema.json"


def test_types_of_the_user_must_be_trusted_by_the_user():
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException, match="Other"):
        reloaded(Other())


class Other:
    """A type that skauto does not know."""


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies_are_loaded_as_they_were(name):
    strategy = make_strategy(name)
    assert repr(reloaded(strategy)) == repr(strategy)


def test_a_constrained_estimator_is_loaded_with_its_constraints(table):
    X, y = table
    automl = ConstrainedAutoClassifier([ModelSize(1e7)], max_evals=2, cv=2, random_state=0)
    automl.fit(X, y)
    again = reloaded(automl)
    np.testing.assert_array_equal(again.predict_proba(X), automl.predict_proba(X))
    assert again.constraint_values_.equals(automl.constraint_values_)


def test_every_classifier_of_the_default_space_is_loaded(rng):
    Z = rng.normal(size=(60, 4))
    y = (Z[:, 0] > 0).astype(int)
    space = default_space()
    builder = PipelineBuilder(space)
    for configuration in space.default_configurations():
        steps = builder.fit(configuration, Z, y)
        np.testing.assert_array_equal(
            predict_probabilities(reloaded(steps), Z, np.arange(2)),
            predict_probabilities(steps, Z, np.arange(2)),
        )


class Hostile:
    """Unpickled, it makes a folder."""

    def __reduce__(self):
        return os.mkdir, ("ran",)


def test_no_trusted_function_unpickles(automl, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _ = table
    loader = "skauto.engines._transport.loads"
    assert loader not in trusted_types() and "functools.partial" not in trusted_types()
    module, _, name = loader.rpartition(".")
    function = getattr(importlib.import_module(module), name)
    model = copy.copy(automl)
    model.__dict__["__sklearn_is_fitted__"] = partial(function, pickle.dumps(Hostile()))
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException):
        reloaded(model).predict(X)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "levels",
    [
        pd.interval_range(0, 100, 4),
        pd.date_range("2024", periods=4),
        pd.Index([(0, i) for i in range(4)], tupleize_cols=False),
    ],
    ids=["intervals", "timestamps", "tuples"],
)
def test_levels_of_any_type(levels):
    codes = np.arange(80) % 4
    X = pd.DataFrame({"amount": pd.Categorical.from_codes(codes, levels)})
    model = AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, codes > 1)
    assert (model.predict(X) == (codes > 1)).all()
    np.testing.assert_array_equal(reloaded(model).predict_proba(X), model.predict_proba(X))
