"""Gradient-based maximization of the expected improvement under a Gaussian process."""

from collections.abc import Callable

import numpy as np
from scipy import optimize
from scipy.special import log_ndtr

from skauto.acquisition._improvement import log_expected_improvement
from skauto.surrogates import GaussianProcess
from skauto.utils import BoolArray, FloatArray

#: Values (n,) and gradients (n, d) of a known function at points (n, d).
KnownTerm = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def maximize_log_improvement(
    surrogate: GaussianProcess,
    best: float,
    candidates: FloatArray,
    *,
    free: BoolArray | None = None,
    known: KnownTerm | None = None,
    n_starts: int = 2,
) -> tuple[FloatArray, int]:
    """Maximize the log expected improvement over the unit cube by multi-start L-BFGS-B.

    The starts are the best `n_starts` of the candidates (n_candidates, n_features). The logarithm
    has the same maximizer as the expected improvement (Eq. (A37) of the paper of `ADMM`), and its
    gradient does not vanish where the improvement is practically zero.

    The mask `free`, of the shape of the candidates, is true at the coordinates that may change;
    None means all. The function `known` is added to the mean of the surrogate, and `best` is the
    smallest observed value of the sum. The result is the best point (n_features,), and the row of
    the candidate that its ascent started from.
    """
    mean, std = surrogate.predict(candidates)
    if known is not None:
        mean = mean + known(candidates)[0]
    scores = log_expected_improvement(mean, std, best)
    order = np.argsort(-scores, kind="stable")[:n_starts]
    if free is None:
        free = np.ones(candidates.shape, dtype=bool)
    ascents = [_ascend(surrogate, best, candidates[row], free[row], known) for row in order]
    highest = max(range(len(order)), key=lambda k: ascents[k][0])
    return ascents[highest][1], int(order[highest])


def log_improvement_with_gradient(
    surrogate: GaussianProcess, best: float, x: FloatArray, known: KnownTerm | None = None
) -> tuple[float, FloatArray]:
    r"""Log expected improvement at one point x (n_features,) and its gradient (n_features,).

    With :math:`u = (y^+ - \mu) / \sigma` and :math:`h(u) = \phi(u) + u \Phi(u)`, the logarithm of
    Eq. (A37) is :math:`\log\sigma + \log h(u)`, and :math:`h' = \Phi`. The arguments are those of
    `maximize_log_improvement`.
    """
    mean, std, mean_gradient, std_gradient = surrogate.predict_with_gradient(x)
    if known is not None:
        shift, shift_gradient = known(x[None])
        mean, mean_gradient = mean + float(shift[0]), mean_gradient + shift_gradient[0]
    u = (best - mean) / std
    value = float(log_expected_improvement(np.array([mean]), np.array([std]), best)[0])
    hazard = np.exp(log_ndtr(u) - (value - np.log(std)))  # Phi(u) / h(u)
    return value, std_gradient / std - hazard * (mean_gradient + u * std_gradient) / std


def _ascend(
    surrogate: GaussianProcess,
    best: float,
    start: FloatArray,
    free: BoolArray,
    known: KnownTerm | None,
) -> tuple[float, FloatArray]:
    """Maximize from one start over its free coordinates in the unit cube."""

    def negative(coordinates: FloatArray) -> tuple[float, FloatArray]:
        point = start.copy()
        point[free] = coordinates
        value, gradient = log_improvement_with_gradient(surrogate, best, point, known)
        return -value, -gradient[free]

    if not free.any():
        return -negative(start[free])[0], start
    solution = optimize.minimize(
        negative,
        start[free],
        method="L-BFGS-B",
        jac=True,
        bounds=optimize.Bounds(np.zeros(free.sum()), np.ones(free.sum())),
        options={"maxiter": 25, "ftol": 1e-3},  # a higher precision does not change the choice
    )
    point = start.copy()
    point[free] = solution.x
    return -float(solution.fun), point
