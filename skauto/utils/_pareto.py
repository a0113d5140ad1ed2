"""Pareto dominance and hypervolume of a set of losses; every objective is minimized."""

import numpy as np
from numpy.typing import ArrayLike

from skauto.utils._types import BoolArray, FloatArray


def non_dominated(losses: ArrayLike) -> BoolArray:
    """Return the mask (n,) of the non-dominated rows of losses (n, m): the Pareto front.

    A row dominates another row if no loss is larger and at least one loss is smaller. Equal rows
    do not dominate each other, so duplicates of a non-dominated row are all non-dominated. A row
    with an infinite or missing loss (a failed trial) is never on the front and dominates nothing.
    """
    points = np.asarray(losses, dtype=np.float64)
    mask = np.zeros(len(points), dtype=bool)
    remaining = np.flatnonzero(np.isfinite(points).all(axis=1))
    # In lexicographic order no row is dominated by a later row. The first remaining row is
    # therefore non-dominated: keep it and its duplicates, and drop the rows that it dominates.
    remaining = remaining[np.lexsort(points[remaining].T[::-1])]
    while remaining.size:
        first = points[remaining[0]]
        rest = points[remaining]
        mask[remaining[(rest == first).all(axis=1)]] = True
        remaining = remaining[(rest < first).any(axis=1)]
    return mask


def hypervolume(losses: ArrayLike, reference: ArrayLike) -> float:
    """Compute the volume that points (n, m) dominate, bounded by a reference point (m,).

    It is exact: a sweep for two objectives, the WFG recursion for more (L. While, L. Bradstreet
    and L. Barone, "A fast way of calculating exact hypervolumes", IEEE Transactions on
    Evolutionary Computation 16(1), 2011, Fig. 2). Points that are not below the reference in every
    objective, and points with infinite or missing losses, contribute nothing.
    """
    points = np.asarray(losses, dtype=np.float64)
    corner = np.asarray(reference, dtype=np.float64)
    if corner.shape != points.shape[1:]:
        raise ValueError(
            f"reference must have one value for each of the {points.shape[1]} objectives. Got an "
            f"array of shape {corner.shape} instead."
        )
    improves = np.isfinite(points).all(axis=1) & (points < corner).all(axis=1)
    return _volume(_front(points[improves]), corner)


def running_hypervolume(losses: ArrayLike, reference: ArrayLike) -> FloatArray:
    """Compute ``hypervolume(losses[: k + 1], reference)`` for each k, shape (n,)."""
    points = np.asarray(losses, dtype=np.float64)
    volumes = np.empty(len(points))
    front, volume = points[:0], 0.0
    for k, point in enumerate(points):
        if np.isfinite(point).all() and not (front <= point).all(axis=1).any():
            front = np.vstack([front[(front < point).any(axis=1)], point])
            volume = hypervolume(front, reference)
        volumes[k] = volume
    return volumes


def _front(points: FloatArray) -> FloatArray:
    """The distinct non-dominated points in lexicographic order."""
    return np.unique(points[non_dominated(points)], axis=0)


def _volume(front: FloatArray, corner: FloatArray) -> float:
    """Hypervolume of distinct non-dominated points, sorted by their first objective."""
    if len(front) == 0:
        return 0.0
    if len(front) == 1:
        return float(np.prod(corner - front[0]))
    if front.shape[1] == 2:
        # One rectangle per point: it ends at the reference in the first objective and at the
        # previous point in the second objective.
        heights = np.concatenate([[corner[1]], front[:-1, 1]]) - front[:, 1]
        return float((corner[0] - front[:, 0]) @ heights)
    # WFG (While et al., Fig. 2): the exclusive hypervolume of a point is its inclusive hypervolume
    # minus the hypervolume of the limit set (the later points, clipped to the point's box).
    total = 0.0
    for position, point in enumerate(front):
        inside = np.maximum(front[position + 1 :], point)
        total += float(np.prod(corner - point)) - _volume(_front(inside), corner)
    return total
