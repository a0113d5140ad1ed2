"""Prediction of the seconds that fitting a configuration on a table takes."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from skauto.data import DataFacts
from skauto.space import Configuration
from skauto.utils import FloatArray

# Usual exponents of rows, columns and classes; prior means for the regression that fits them.
PRIOR: dict[str, tuple[float, float, float]] = {
    "svm": (1.8, 0.6, 0.8),
    "k_nearest_neighbors": (1.5, 0.8, 0.0),
    "lda": (1.0, 1.6, 0.2),
    "qda": (1.0, 1.6, 0.8),
}
USUAL = (1.0, 0.7, 0.6)
# Logarithm of the largest recorded number of rows in thousands. For extrapolation beyond it, the
# exponent of the rows is at least its prior mean.
_LOG_ROWS_RECORDED = float(np.log(10.0))
# Seconds of an unknown component on 1,000 rows and 10 columns.
_UNKNOWN = 0.3
# The first timing of a component changes its correction by this fraction of the error.
_FIRST_STEP = 0.7
# Hyper-parameters that the seconds of a component depend on, with their reference values.
_SIZES: dict[str, dict[str, float]] = {
    "lightgbm": {"num_leaves": 31.0, "learning_rate": 0.1, "colsample_bytree": 0.7},
    "extra_trees": {"max_features": 0.8, "min_samples_leaf": 2.0},
    "random_forest": {"max_features": 0.5, "min_samples_leaf": 2.0},
    "mlp": {"width": 64.0, "depth": 2.0, "n_members": 2.0},
    "svm": {"C": 10.0},
}
# Training rows above which a table counts as large.
_LARGE = 1_500
# Number of columns that the transformer "pairs" adds to a table of 7 or more numeric columns.
_N_PAIRS = 63


class FitTimeModel:
    """Predict the seconds of a fit from the size of the training set, and learn online.

    The seconds of a classifier follow a power law of rows, columns, classes and size-related
    hyper-parameters. The coefficients were fitted to recorded timings
    (``examples/benchmarks/build_portfolio.py``). Each finished fit corrects the prediction of its
    classifier, and of all classifiers, because machines differ.

    Parameters
    ----------
    coefficients : mapping of str to sequence of float
        For each classifier: intercept of the log seconds, exponents of rows, columns and classes,
        then of its hyper-parameters.

    Examples
    --------
    >>> from skauto.data import DataFacts
    >>> from skauto.metalearning import FitTimeModel
    >>> from skauto.space import Configuration
    >>> time_model = FitTimeModel({"tree": [0.0, 1.0, 0.5, 0.0]})
    >>> tree = Configuration({"classifier": "tree"})
    >>> round(time_model.seconds(tree, DataFacts(4_000, 10)), 6)
    4.0
    """

    def __init__(self, coefficients: Mapping[str, Sequence[float]]) -> None:
        self.coefficients = {name: np.asarray(c, float) for name, c in coefficients.items()}
        self._errors: dict[str, list[float]] = {}

    def seconds(self, configuration: Configuration, facts: DataFacts) -> float:
        """Predict the processor seconds of fitting a configuration on a training set."""
        name, inputs = inputs_of(configuration, facts)
        log_seconds = self._prior_mean(name, inputs) + self._correction(name)
        return float(np.exp(log_seconds))

    def observe(self, configuration: Configuration, facts: DataFacts, seconds: float) -> None:
        """Learn from the processor seconds of a finished fit."""
        name, inputs = inputs_of(configuration, facts)
        error = np.log(max(seconds, 1e-4)) - self._prior_mean(name, inputs)
        self._errors.setdefault(name, []).append(float(error))

    def _prior_mean(self, name: str, inputs: FloatArray) -> float:
        """Log seconds by the coefficients alone."""
        coefficients = self.coefficients.get(name)
        if coefficients is None:
            return float(np.log(_UNKNOWN) + np.dot(USUAL, inputs[:3]))
        usual = PRIOR.get(name, USUAL)[0]
        beyond = max(0.0, inputs[0] - _LOG_ROWS_RECORDED) * max(0.0, usual - coefficients[1])
        fitted = coefficients[0] + np.dot(coefficients[1:], inputs[: len(coefficients) - 1])
        return float(fitted + beyond)

    def _correction(self, name: str) -> float:
        """Mean error of the classifier, shrunk toward that of all classifiers."""
        means = [float(np.mean(errors)) for errors in self._errors.values()]
        common = _FIRST_STEP * float(np.median(means)) if means else 0.0
        if not (own := self._errors.get(name, [])):
            return common
        weight = len(own) / (len(own) + 1.0 / _FIRST_STEP - 1.0)
        return common + weight * (float(np.mean(own)) - common)


def inputs_of(configuration: Configuration, facts: DataFacts) -> tuple[str, FloatArray]:
    """Name of the classifier and the inputs of the linear model of its log seconds."""
    step, name = configuration.components[-1]
    values = configuration.parameters(step)
    one_hot = "encoder" in configuration.steps and configuration["encoder"] == "one_hot"
    n_columns = facts.n_features + (facts.n_one_hot if one_hot else 0)
    if "transformer" in configuration.steps and configuration["transformer"] == "pairs":
        n_columns += _N_PAIRS
    sizes = [
        np.log(max(float(values.get(key, usual)), 1e-6) / usual)
        for key, usual in _SIZES.get(name, {}).items()
    ]
    table = [
        np.log(facts.n_samples / 1_000.0),
        np.log(max(n_columns, 1) / 10.0),
        np.log(max(facts.n_classes, 2) / 2.0),
    ]
    return name, np.array([*table, *sizes])


@cache
def _shipped() -> dict[str, Any]:
    text = resources.files("skauto.metalearning").joinpath("portfolio.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def load_fit_time_model() -> FitTimeModel:
    """Load the fit-time model of the classifiers of the default space, without observations."""
    return FitTimeModel(_shipped()["fit_times"])


def table_kind(n_samples: int, n_classes: int, has_categories: bool) -> str:
    """Return the kind of a table with this number of training rows."""
    size = "large" if n_samples > _LARGE else "small"
    classes = "multiclass" if n_classes > 2 else "binary"
    return f"{size}_{classes}" + "_categories" * has_categories


def load_order(kind: str) -> list[tuple[Configuration, float]]:
    """Load initial configurations and their gains on the development sets, by gain per second."""
    configurations = _shipped()["configurations"]
    return [
        (Configuration.from_dict(configurations[index]), gain)
        for index, gain in _shipped()["orders"][kind]
    ]
