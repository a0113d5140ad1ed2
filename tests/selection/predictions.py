"""Random predictions, and their labels."""

import numpy as np


def labels(p):
    return p.argmax(axis=1)


def make_predictions(rng, n_predictions, n_samples, n_classes, steps=None):
    """Random probabilities; on a coarse grid if `steps` is given, so that many values tie."""
    if steps is None:
        return rng.dirichlet(np.ones(n_classes), size=(n_predictions, n_samples))
    counts = rng.multinomial(
        steps, np.full(n_classes, 1 / n_classes), size=(n_predictions, n_samples)
    )
    return counts / steps
