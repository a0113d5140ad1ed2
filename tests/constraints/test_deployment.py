"""Constraints on seconds and bytes."""

import pickle
import time

import numpy as np
import pytest

from skauto.constraints import Evidence, ModelSize, PredictionLatency

CLASSES = np.array(["no", "yes"])


class Sleeper:
    def __init__(self, seconds):
        self.seconds = seconds
        self.n_rows = []

    def predict(self, X):
        self.n_rows.append(len(X))
        time.sleep(self.seconds)


@pytest.mark.parametrize("seconds, n_calls", [(0.0, 26), (0.03, 6)])
def test_latency_is_seconds_per_row_of_a_batch(evidence, seconds, n_calls):
    model = Sleeper(seconds)
    value = PredictionLatency(1.0, batch_size=50).measure(
        Evidence(evidence.probabilities, evidence.y, CLASSES, X=evidence.X, model=model)
    )
    assert model.n_rows == [50] * n_calls
    assert value >= seconds / 50


def test_latency_ignores_the_first_calls(evidence):
    class Cold(Sleeper):
        def predict(self, X):
            self.n_rows.append(len(X))
            time.sleep(0.01 if len(self.n_rows) <= 5 else 0.0)

    value = PredictionLatency(1.0, batch_size=10).measure(
        Evidence(evidence.probabilities, evidence.y, CLASSES, X=evidence.X, model=Cold(0))
    )
    assert value < 0.001


def test_latency_ignores_a_single_slow_call(evidence):
    class Hiccup(Sleeper):
        def predict(self, X):
            self.n_rows.append(len(X))
            time.sleep(0.05 if len(self.n_rows) == 8 else 0.0)

    value = PredictionLatency(1.0, batch_size=10).measure(
        Evidence(evidence.probabilities, evidence.y, CLASSES, X=evidence.X, model=Hiccup(0))
    )
    assert value < 0.005


def test_small_batches_repeat_the_rows(evidence):
    model = Sleeper(0)
    few = Evidence(
        evidence.probabilities[:3], evidence.y[:3], CLASSES, X=evidence.X[:3], model=model
    )
    PredictionLatency(1.0, batch_size=100).measure(few)
    assert set(model.n_rows) == {100}


def test_model_size_is_that_of_the_pickle():
    model = {"weights": np.zeros(1000)}
    value = ModelSize(1).measure(Evidence(None, None, CLASSES, model=model))
    assert value == len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))
