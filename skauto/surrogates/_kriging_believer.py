"""Kriging believer: predicted values for running evaluations."""

from typing import TypeVar

import numpy as np

from skauto.surrogates._base import Surrogate
from skauto.surrogates._gaussian_process import GaussianProcess
from skauto.utils import FloatArray

Model = TypeVar("Model", bound=Surrogate)


def condition_on_pending(
    model: Model, X: FloatArray, y: FloatArray, running: FloatArray, rng: np.random.Generator
) -> Model:
    """Condition a model, fitted to X and y, on running evaluations with its predictions as values.

    This *kriging believer* (D. Ginsbourger, R. Le Riche, L. Carraro, "Kriging Is Well-Suited to
    Parallelize Optimization", in: Computational Intelligence in Expensive Optimization Problems,
    2010) makes parallel proposals differ, because it reduces the predicted standard deviation near
    running evaluations (n_running, n_features). A Gaussian process keeps its hyper-parameters;
    other models are fitted again. The same object is returned.
    """
    if not len(running):
        return model
    believed, _ = model.predict(running)
    X, y = np.vstack([X, running]), np.concatenate([y, believed])
    if isinstance(model, GaussianProcess):
        model.condition(X, y)
    else:
        model.fit(X, y, rng)
    return model
