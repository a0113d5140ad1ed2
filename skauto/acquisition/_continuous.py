"""Expected improvement under a Gaussian process, maximised with its gradient."""

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
    r"""Point of the unit cube with the largest log expected improvement.

    Bounded quasi-Newton ascents (L-BFGS-B) with the analytic gradient start from the best of the
    candidates. The logarithm has the maximiser of the improvement itself (ADMM paper, Eq. A37)
    and a useful gradient where the improvement is flat and practically zero.

    Parameters
    ----------
    surrogate : GaussianProcess
        Fitted model of the unknown function.
    best : float
        Value to improve upon: the smallest known one, the known term included.
    candidates : ndarray of shape (n_candidates, n_features)
        Points of the unit cube; the ascents start from the best of them.
    free : ndarray of shape (n_candidates, n_features), dtype bool, default=None
        Coordinates in which each candidate may be moved; None moves all.
    known : callable, default=None
        Known function that is added to the modelled one: gives the values (n,) and gradients
        (n, n_features) at points (n, n_features). It shifts the mean and needs no learning.
    n_starts : int, default=2
        Number of ascents.

    Returns
    -------
    point : ndarray of shape (n_features,)
        The maximiser found.
    start : int
        Row of the candidate that its ascent started from.

    References
    ----------
    .. [1] S. Liu, P. Ram et al., "An ADMM Based Framework for AutoML Pipeline Configuration",
       AAAI 2020, Appendix 3, Eqs. (A36), (A37).

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.acquisition import maximize_log_improvement
    >>> from skauto.surrogates import GaussianProcess
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((12, 1))
    >>> y = (X[:, 0] - 0.3) ** 2
    >>> gp = GaussianProcess().fit(X, y, rng)
    >>> point, _ = maximize_log_improvement(gp, y.min(), rng.random((50, 1)))
    >>> bool(abs(point[0] - 0.3) < 0.05)
    True
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
    r"""Log expected improvement at one point, and its gradient.

    With :math:`u = (y^+ - \mu) / \sigma` and :math:`h(u) = \phi(u) + u \Phi(u)`, the logarithm of
    Eq. (A37) is :math:`\log\sigma + \log h(u)`, and :math:`h' = \Phi`.

    Parameters
    ----------
    surrogate : GaussianProcess
        Fitted model of the unknown function.
    best : float
        Value to improve upon.
    x : ndarray of shape (n_features,)
        The point.
    known : callable, default=None
        Known function that is added to the modelled one, as in
        :func:`maximize_log_improvement`.

    Returns
    -------
    value : float
        Logarithm of the expected improvement.
    gradient : ndarray of shape (n_features,)
        Its gradient with respect to the point.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.acquisition import log_improvement_with_gradient
    >>> from skauto.surrogates import GaussianProcess
    >>> X = np.linspace(0, 1, 6)[:, None]
    >>> gp = GaussianProcess().fit(X, X[:, 0], np.random.default_rng(0))
    >>> _, gradient = log_improvement_with_gradient(gp, 0.0, np.array([0.5]))
    >>> bool(gradient[0] < 0)
    True
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
    """Climb from a start, moving its free coordinates inside the unit cube."""

    def descent(coordinates: FloatArray) -> tuple[float, FloatArray]:
        point = start.copy()
        point[free] = coordinates
        value, gradient = log_improvement_with_gradient(surrogate, best, point, known)
        return -value, -gradient[free]

    if not free.any():
        return -descent(start[free])[0], start
    solution = optimize.minimize(
        descent,
        start[free],
        method="L-BFGS-B",
        jac=True,
        bounds=optimize.Bounds(np.zeros(free.sum()), np.ones(free.sum())),
        # a thousandth of the logarithm decides nothing
        options={"maxiter": 25, "ftol": 1e-3},
    )
    point = start.copy()
    point[free] = solution.x
    return -float(solution.fun), point
