"""Predicted seconds of fits."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from skauto.data import DataFacts
from skauto.metalearning import FitTimeModel
from skauto.space import Configuration

BENCHMARKS = Path(__file__).parents[2] / "examples" / "benchmarks"
fit_coefficients = runpy.run_path(str(BENCHMARKS / "_fit_seconds.py"))["fit_coefficients"]
TREE = Configuration({"classifier": ("tree", {})})


def test_a_power_law_is_found_again(rng):
    rows = rng.integers(100, 100_000, 300)
    columns = rng.integers(2, 500, 300)
    classes = rng.integers(2, 20, 300)
    seconds = 0.02 * (rows / 1e3) ** 1.3 * (columns / 10) ** 0.5 * (classes / 2) ** 0.9
    timings = [
        (TREE, DataFacts(n, d, n_classes=k), s)
        for n, d, k, s in zip(rows, columns, classes, seconds, strict=True)
    ]
    (coefficients,) = fit_coefficients(timings).values()
    np.testing.assert_allclose(coefficients, [np.log(0.02), 1.3, 0.5, 0.9], atol=0.1)
    time_model = FitTimeModel({"tree": coefficients})
    predicted = [time_model.seconds(TREE, facts) for _, facts, _ in timings]
    np.testing.assert_allclose(predicted, seconds, rtol=0.2)


def test_few_timings_keep_the_usual_exponents():
    (coefficients,) = fit_coefficients([(TREE, DataFacts(1_000, 10), 0.5)]).values()
    np.testing.assert_allclose(coefficients, [np.log(0.5), 1.0, 0.7, 0.6])


def test_hyperparameters_change_the_predicted_seconds():
    timings = [
        (
            Configuration({"classifier": ("lightgbm", {"num_leaves": leaves})}),
            DataFacts(n, 10),
            0.1 * leaves / 31 * n / 1000,
        )
        for leaves in (4, 8, 16, 31, 64, 128) * 5
        for n in (500, 1_000, 4_000)
    ]
    time_model = FitTimeModel(fit_coefficients(timings))
    small, large = (
        time_model.seconds(
            Configuration({"classifier": ("lightgbm", {"num_leaves": n})}), timings[0][1]
        )
        for n in (8, 64)
    )
    assert large / small == pytest.approx(8.0, rel=0.15)


def test_one_hot_columns_count():
    time_model = FitTimeModel({"tree": [0.0, 0.0, 1.0, 0.0]})
    facts = DataFacts(1_000, 10, n_one_hot=90)
    encoded = Configuration({"encoder": ("one_hot", {}), "classifier": ("tree", {})})
    assert time_model.seconds(encoded, facts) == pytest.approx(
        10 * time_model.seconds(TREE, facts)
    )


def test_fits_that_end_correct_the_list():
    time_model = FitTimeModel({"tree": [0.0, 1.0, 0.0, 0.0], "other": [0.0, 1.0, 0.0, 0.0]})
    other = Configuration({"classifier": ("other", {})})
    facts = DataFacts(1_000, 10)
    for _ in range(20):
        time_model.observe(TREE, facts, 5.0)
    assert time_model.seconds(TREE, facts) == pytest.approx(5.0, rel=0.1)
    # A slow machine is slow for everything.
    assert 1.5 < time_model.seconds(other, facts) < 5.0
    for _ in range(20):
        time_model.observe(other, facts, 1.0)
    assert time_model.seconds(other, facts) == pytest.approx(1.0, rel=0.2)


def test_unknown_components_have_predicted_seconds():
    own = Configuration({"classifier": ("own", {})})
    time_model = FitTimeModel({})
    assert time_model.seconds(own, DataFacts(10_000, 10)) > time_model.seconds(
        own, DataFacts(1_000, 10)
    )
