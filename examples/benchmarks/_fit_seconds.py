"""The coefficients of the model of the seconds of a fit."""

import numpy as np
from sklearn.linear_model import Ridge

from skauto.metalearning._fit_times import PRIOR, USUAL, inputs_of

PRIOR_STRENGTH = 4.0
WEIGHT_EXPONENT = 0.75  # of the seconds: short fits are mostly overhead


def fit_coefficients(timings):
    """Fit a `FitTimeModel` to (configuration, facts, seconds), shrunk to typical exponents."""
    rows = {}
    for configuration, facts, seconds in timings:
        name, inputs = inputs_of(configuration, facts)
        rows.setdefault(name, []).append((inputs, np.log(max(seconds, 1e-4))))
    found = {}
    for name, known in rows.items():
        inputs, targets = map(np.array, zip(*known, strict=True))
        prior = np.zeros(inputs.shape[1])
        prior[:3] = PRIOR.get(name, USUAL)
        weight = np.exp(WEIGHT_EXPONENT * targets)
        weight *= len(weight) / weight.sum()
        ridge = Ridge(alpha=PRIOR_STRENGTH).fit(inputs, targets - inputs @ prior, weight)
        found[name] = [float(ridge.intercept_), *(prior + ridge.coef_).tolist()]
    return found
