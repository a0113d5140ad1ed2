"""Predicted values for running evaluations."""

import numpy as np

from skauto.surrogates import GaussianProcess
from skauto.surrogates._kriging_believer import condition_on_pending
from tests.surrogates.observed import make_data


def test_believed_values_keep_the_mean_and_lower_the_deviation():
    X, y, rng = make_data()
    running = X[:2] + 0.05
    gp = GaussianProcess().fit(X, y, rng)
    mean, std = gp.predict(running)
    believed_mean, believed_std = condition_on_pending(gp, X, y, running, rng).predict(running)
    np.testing.assert_allclose(believed_mean, mean, rtol=0.01, atol=0.01)
    assert (believed_std < std).all()
