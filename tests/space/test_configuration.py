"""Configurations: immutability, equality and serialization."""

import json
import pickle

import numpy as np
import pytest

from skauto.space import Configuration

STEPS = {
    "scaler": "none",
    "classifier": ("svc", {"C": np.float64(10.0), "kernel": "rbf", "layers": [8, 4]}),
}


def test_reads_like_its_parts():
    configuration = Configuration(STEPS)
    assert configuration.steps == ("scaler", "classifier")
    assert configuration.structure == ("none", "svc")
    assert configuration.components == (("scaler", "none"), ("classifier", "svc"))
    assert configuration["classifier"] == "svc"
    assert configuration.parameters("classifier") == {
        "C": 10.0,
        "kernel": "rbf",
        "layers": (8, 4),
    }
    assert type(configuration.parameters("classifier")["C"]) is float
    assert repr(configuration) == (
        "<Configuration scaler=none, classifier=svc(C=10, kernel='rbf', layers=(8, 4))>"
    )


def test_json_round_trip():
    configuration = Configuration(STEPS)
    text = json.dumps(configuration.to_dict())
    assert Configuration.from_dict(json.loads(text)) == configuration


def test_equality_and_hash_ignore_the_order_of_hyper_parameters():
    configuration = Configuration(STEPS)
    other = Configuration(
        {
            "scaler": ("none", {}),
            "classifier": ("svc", {"layers": (8, 4), "kernel": "rbf", "C": 10}),
        }
    )
    assert configuration == other
    assert hash(configuration) == hash(other)
    assert len({configuration, other}) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"classifier": "svc"},
        {"scaler": "none", "classifier": ("svc", {"C": 10.0})},
        {"scaler": "none", "classifier": ("knn", {"C": 10.0, "kernel": "rbf", "layers": (8, 4)})},
        {"scaler": "none", "classifier": ("svc", {"C": 9.0, "kernel": "rbf", "layers": (8, 4)})},
    ],
)
def test_differences_are_seen(other):
    assert Configuration(STEPS) != Configuration(other)
    assert Configuration(STEPS) != "svc"


def test_pickles():
    configuration = Configuration(STEPS)
    copy = pickle.loads(pickle.dumps(configuration))
    assert copy == configuration
    assert hash(copy) == hash(configuration)


def test_cannot_be_changed():
    configuration = Configuration(STEPS)
    with pytest.raises(AttributeError, match="cannot be changed"):
        configuration.name = "x"
    configuration.parameters("classifier")["C"] = 3.0
    configuration.to_dict()["classifier"]["C"] = 3.0
    assert configuration.parameters("classifier")["C"] == 10.0


def test_errors():
    with pytest.raises(KeyError, match=r"no step 'x'; the steps are \['scaler', 'classifier'\]"):
        Configuration(STEPS)["x"]
    with pytest.raises(ValueError, match="step 'classifier' has no entry 'name'"):
        Configuration.from_dict({"classifier": {"C": 1.0}})
