"""The coefficients of the model of the seconds of a fit."""

from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import Ridge

from skauto.data import DataFacts
from skauto.metalearning._fit_times import PRIOR, USUAL, inputs_of
from skauto.space import Configuration

PRIOR_STRENGTH = 4.0
# Timings are weighted by this power of their seconds: short fits are mostly overhead.
WEIGHT_EXPONENT = 0.75


def fit_coefficients(
    timings: Sequence[tuple[Configuration, DataFacts, float]],
) -> dict[str, list[float]]:
    """Fit the coefficients of a `FitTimeModel` to seconds, shrunk to typical exponents."""
    rows: dict[str, list[tuple[np.ndarray, float]]] = {}
    for configuration, facts, seconds in timings:
        name, inputs = inputs_of(configuration, facts)
        rows.setdefault(name, []).append((inputs, np.log(max(seconds, 1e-4))))
    found = {}
    for name, known in rows.items():
        inputs = np.array([row for row, _ in known])
        prior = np.zeros(inputs.shape[1])
        prior[:3] = PRIOR.get(name, USUAL)
        targets = np.array([target for _, target in known])
        weight = np.exp(WEIGHT_EXPONENT * targets)
        weight *= len(weight) / weight.sum()
        ridge = Ridge(alpha=PRIOR_STRENGTH).fit(inputs, targets - inputs @ prior, weight)
        found[name] = [float(ridge.intercept_), *(prior + ridge.coef_).tolist()]
    return found
