"""Labels and predictions of rows of two groups with known rates."""

import numpy as np

from skauto.constraints import Evidence

CLASSES = np.array([0, 1])

# Of two groups: share of rows, share of positives, true and false positive rates.
GROUPS = {"shares": (0.7, 0.3), "positives": (0.5, 0.4), "tpr": (0.8, 0.7), "fpr": (0.2, 0.15)}


def draw(rng, n_rows, *, groups=GROUPS):
    """Labels and predictions of rows of two groups."""
    group = (rng.random(n_rows) < groups["shares"][1]).astype(int)
    y = (rng.random(n_rows) < np.take(groups["positives"], group)).astype(int)
    rate = np.where(y == 1, np.take(groups["tpr"], group), np.take(groups["fpr"], group))
    label = rng.random(n_rows) < rate
    probabilities = np.where(label, 0.9, 0.1)
    return Evidence(
        np.column_stack([1 - probabilities, probabilities]), y, CLASSES, groups={"g": group}
    )


def covered(constraint, truth, n_rows, n_simulations, confidence=0.95, groups=GROUPS):
    rng = np.random.default_rng(0)
    bounds = [
        constraint.bound(draw(rng, n_rows, groups=groups), confidence)
        for _ in range(n_simulations)
    ]
    return np.mean(np.array(bounds) >= truth)
