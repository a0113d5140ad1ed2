"""Expected hypervolume improvement (EHVI)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from skauto.utils import FloatArray, non_dominated

# With at most this many objectives m, the non-dominated region is partitioned into boxes, about
# k^(m - 1) for k points. With more objectives it is sampled.
_MAX_EXACT_OBJECTIVES = 3
_SMALLEST_STD = 1e-15
# Entries of the largest temporary array.
_CHUNK = 2_000_000


def expected_hypervolume_improvement(
    mean: ArrayLike,
    std: ArrayLike,
    front: ArrayLike,
    reference: ArrayLike,
    *,
    ideal: ArrayLike = -np.inf,
    rng: np.random.Generator | None = None,
    n_draws: int = 1024,
) -> FloatArray:
    r"""Expected increase of the hypervolume that the Pareto front dominates.

    The losses are independent normal variables, :math:`Y_m \sim N(\mu_m, \sigma_m^2)`. For one
    objective this is the expected improvement. It is exact up to three objectives, and a Monte
    Carlo estimate for more.

    Parameters
    ----------
    mean, std : array-like of shape (n, m)
        Predicted losses of n candidates and their standard deviations, which may be 0.
    front : array-like of shape (k, m)
        Observed losses. Dominated, infinite and NaN rows are ignored; k may be 0.
    reference : array-like of shape (m,)
        Reference point: losses above it do not count.
    ideal : float or array-like of shape (m,), default=-inf
        Lower bound of the losses: the volume below it does not count.
    rng : numpy.random.Generator, default=None
        Required for more than three objectives. All candidates share the same samples.
    n_draws : int, default=1024
        Number of Monte Carlo samples for more than three objectives.

    Returns
    -------
    improvement : ndarray of shape (n,)
        Never negative.

    Notes
    -----
    With :math:`\psi(t) = E[\max(t - Y, 0)] = (t - \mu) \Phi(z) + \sigma \varphi(z)`,
    :math:`z = (t - \mu) / \sigma`, a box :math:`\prod_m (l_m, u_m]` that no point of the front
    dominates contributes :math:`\prod_m [\psi_m(u_m) - \psi_m(l_m)]`. In two objectives these
    boxes are the vertical strips between consecutive points of the front.

    References
    ----------
    .. [1] P. Feliot, J. Bect and E. Vazquez, "A Bayesian approach to constrained single- and
       multi-objective optimization", Journal of Global Optimization 67, 2017.
    .. [2] K. Yang, M. Emmerich, A. Deutz and T. Bäck, "Multi-objective Bayesian global
       optimization using expected hypervolume improvement gradient", Swarm and Evolutionary
       Computation 44, 2019.

    Examples
    --------
    >>> from skauto.acquisition._hypervolume import expected_hypervolume_improvement
    >>> expected_hypervolume_improvement(
    ...     mean=[[0.25, 0.25], [0.75, 0.75]], std=[[0.0, 0.0], [0.0, 0.0]],
    ...     front=[[0.5, 0.5]], reference=[1.0, 1.0],
    ... ).round(4)
    array([0.3125, 0.    ])
    """
    means = np.asarray(mean, dtype=np.float64)
    stds = np.maximum(np.asarray(std, dtype=np.float64), _SMALLEST_STD)
    corner = np.asarray(reference, dtype=np.float64)
    best = np.minimum(np.asarray(ideal, dtype=np.float64), corner)
    n_objectives = means.shape[1]
    points = np.asarray(front, dtype=np.float64).reshape(-1, n_objectives)
    points = points[non_dominated(points) & (points < corner).all(axis=1)]
    if n_objectives <= _MAX_EXACT_OBJECTIVES:
        lower, upper = _free_boxes(np.unique(points, axis=0), corner)
        return _sum_over_boxes(means, stds, np.maximum(lower, best), np.maximum(upper, best))
    if rng is None:
        raise ValueError(
            f"rng must be a numpy.random.Generator for {n_objectives} objectives: the exact "
            f"formula supports at most {_MAX_EXACT_OBJECTIVES}. Got None instead."
        )
    return _mean_over_draws(means, stds, points, best, corner, rng, n_draws)


def _free_boxes(front: FloatArray, corner: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Partition the non-dominated region below the reference point into disjoint boxes.

    The recursion is over objectives: between two consecutive values of the last objective, the
    region is that of the points below these values in the other objectives.
    """
    if len(corner) == 1:
        best = np.append(front[:, 0], corner).min()
        return np.full((1, 1), -np.inf), np.full((1, 1), best)
    edges = np.concatenate([[-np.inf], np.unique(front[:, -1]), corner[-1:]])
    slabs = []
    for floor, ceiling in zip(edges[:-1], edges[1:], strict=True):
        below = front[front[:, -1] <= floor, :-1]
        lower, upper = _free_boxes(below[non_dominated(below)], corner[:-1])
        slabs.append((_append_column(lower, floor), _append_column(upper, ceiling)))
    return np.concatenate([s[0] for s in slabs]), np.concatenate([s[1] for s in slabs])


def _append_column(sides: FloatArray, value: float) -> FloatArray:
    return np.column_stack([sides, np.full(len(sides), value)])


def _sum_over_boxes(
    means: FloatArray, stds: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Sum the expected improvements over the boxes, for each candidate."""
    n_boxes, n_objectives = lower.shape
    improvement = np.empty(len(means))
    step = max(1, _CHUNK // n_boxes)
    for start in range(0, len(means), step):
        rows = slice(start, start + step)
        product = np.ones((n_boxes, len(means[rows])))
        for m in range(n_objectives):
            edges, index = np.unique(
                np.concatenate([lower[:, m], upper[:, m]]), return_inverse=True
            )
            excess = _expected_excess(edges, means[rows, m], stds[rows, m])
            product *= excess[index[n_boxes:]] - excess[index[:n_boxes]]
        improvement[rows] = product.sum(axis=0)
    return np.maximum(improvement, 0.0)


def _expected_excess(edges: FloatArray, mean: FloatArray, std: FloatArray) -> FloatArray:
    """psi(t) = E[max(t - Y, 0)] for Y ~ N(mean, std^2), one row per edge t; 0 for -inf."""
    excess = np.zeros((len(edges), len(mean)))
    finite = np.isfinite(edges)
    z = (edges[finite, None] - mean) / std
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    excess[finite] = std * (z * ndtr(z) + density)
    return excess


def _mean_over_draws(
    means: FloatArray,
    stds: FloatArray,
    front: FloatArray,
    best: FloatArray,
    corner: FloatArray,
    rng: np.random.Generator,
    n_draws: int,
) -> FloatArray:
    """Integrate P(Y <= r) over the non-dominated points r by Monte Carlo.

    The improvement is the volume of the non-dominated points that Y dominates, so its expectation
    is the integral of the probability that Y dominates such a point.
    """
    floor = np.clip((means - 4.0 * stds).min(axis=0), best, corner)
    draws = rng.uniform(floor, corner, size=(n_draws, len(corner)))
    free = draws[~(front[:, None, :] <= draws).all(axis=2).any(axis=0)]
    improvement = np.empty(len(means))
    step = max(1, _CHUNK // max(1, len(free)))
    for start in range(0, len(means), step):
        rows = slice(start, start + step)
        dominates = np.ones((len(free), len(means[rows])))
        for m in range(len(corner)):
            dominates *= ndtr((free[:, m, None] - means[rows, m]) / stds[rows, m])
        improvement[rows] = dominates.sum(axis=0)
    return improvement * np.prod(corner - floor) / n_draws
