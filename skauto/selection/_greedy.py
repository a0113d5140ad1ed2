"""Greedy ensemble selection from stored predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skauto.selection._losses import Loss
from skauto.utils import FloatArray, IntArray

# Number of values in a block of candidates: 1 MB of float64, which fits into a core's cache.
_BLOCK_SIZE = 2**17

# Losses whose difference relative to max(1, loss) is smaller are ties, despite rounding.
_TIE_TOLERANCE = 1e-12

# Bagged selection: number of greedy selections, members and maximum number of rows of each,
# smallest weight of a member, and largest excess of the loss over that of a greedy selection.
_N_BAGS, _N_ADDED, _MAX_BAG_ROWS = 20, 10, 5_000
_MIN_WEIGHT, _MAX_EXCESS = 0.05, 0.1


@dataclass(frozen=True)
class Selection:
    """The result of ensemble selection.

    Attributes
    ----------
    weights : ndarray of shape (n_candidates,)
        Weight of each candidate in the ensemble. They sum to 1, or are all 0 if no candidate was
        feasible.
    indices : ndarray of shape (n_members,)
        Candidates in the order of addition, with repetitions.
    losses : ndarray of shape (n_members,)
        Loss of the mean prediction after each addition.
    """

    weights: FloatArray
    indices: IntArray
    losses: FloatArray


def greedy_selection(
    predictions: FloatArray | Sequence[FloatArray],
    y: ArrayLike,
    loss: Loss,
    n_members: int = 25,
    *,
    feasible: Callable[[IntArray, int], bool] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Selection:
    """Greedy ensemble selection with replacement (Caruana et al. [1]_, sections 2 and 2.1).

    The candidate that minimises the loss of the mean prediction is added to an initially empty
    ensemble, `n_members` times. Ties go to the first candidate.

    Parameters
    ----------
    predictions : ndarray of shape (n_candidates, n_samples, n_classes), or a sequence of arrays
        Out-of-fold probabilities of each candidate, or a sequence of arrays of shape (n_samples,
        n_classes). They must be finite: exclude rows that some candidate did not predict.
    y : array-like of shape (n_samples,)
        True classes as integer codes, 0 to ``n_classes - 1``.
    loss : Loss
        The loss to minimise.
    n_members : int, default=25
        Number of members, with repetitions; 1 selects the best candidate.
    feasible : callable, default=None
        ``feasible(counts, candidate)`` returns whether the ensemble is feasible after the addition
        of a candidate, given the number of times that each candidate is a member, shape
        (n_candidates,). It is called in increasing order of the loss until a candidate is
        feasible. Selection ends if no candidate is.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the loss.

    Returns
    -------
    selection : Selection
        Weights, order of addition and loss after each addition.

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew and A. Ksikes, "Ensemble selection from
       libraries of models", ICML 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import LogLoss, greedy_selection
    >>> y = [0, 1, 1]
    >>> predictions = np.array(
    ...     [
    ...         [[0.9, 0.1], [0.6, 0.4], [0.1, 0.9]],
    ...         [[0.6, 0.4], [0.1, 0.9], [0.4, 0.6]],
    ...         [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]],
    ...     ]
    ... )
    >>> greedy_selection(predictions, y, LogLoss(), n_members=4).weights
    array([0.5, 0.5, 0. ])
    """
    y = np.asarray(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return _select(_project(predictions, y, loss), y, loss, n_members, feasible, weight)


def bagged_selection(
    predictions: FloatArray | Sequence[FloatArray],
    y: ArrayLike,
    loss: Loss,
    n_members: int = 25,
    *,
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    """Bagged ensemble selection (Caruana et al. [1]_, section 2.3).

    The weights are the mean of 20 greedy selections of at most 10 members, each from a random half
    of the candidates and from at most 5,000 random rows. Weights below 0.05 are set to 0. A single
    greedy selection depends more on the rows it is made on: it overfits if candidates are many and
    rows few. It is used only if its loss is more than 10% smaller, as if one candidate is far
    better than the others.

    Parameters
    ----------
    predictions : ndarray of shape (n_candidates, n_samples, n_classes), or a sequence of arrays
        Out-of-fold probabilities of each candidate, see `greedy_selection`.
    y : array-like of shape (n_samples,)
        True classes as integer codes, 0 to ``n_classes - 1``.
    loss : Loss
        The loss to minimise.
    n_members : int, default=25
        Maximum number of different members.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the loss.

    Returns
    -------
    weights : ndarray of shape (n_candidates,)
        Weight of each candidate in the ensemble. They sum to 1.

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew and A. Ksikes, "Ensemble selection from
       libraries of models", ICML 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import LogLoss, bagged_selection
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> positive = np.clip(0.3 + 0.4 * y + 0.2 * rng.normal(size=(4, 200)), 0.01, 0.99)
    >>> predictions = np.stack([1 - positive, positive], axis=2)
    >>> weights = bagged_selection(predictions, y, LogLoss())
    >>> weights.shape, bool(weights.min() > 0.1)
    ((4,), True)
    """
    y = np.asarray(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    projections = _project(predictions, y, loss)
    n_candidates, rng = len(projections), np.random.default_rng(0)
    total = np.zeros(n_candidates)
    for _ in range(_N_BAGS):
        drawn = np.sort(rng.permutation(n_candidates)[: (n_candidates + 1) // 2])
        rows: slice | IntArray = slice(None)
        if len(y) > _MAX_BAG_ROWS:
            rows = np.sort(rng.choice(len(y), _MAX_BAG_ROWS, replace=False))
        some = None if weight is None else weight[rows]
        n_added = min(n_members, _N_ADDED)
        selection = _select(projections[drawn][:, rows], y[rows], loss, n_added, None, some)
        total[drawn] += selection.weights
    largest = np.argsort(-total, kind="stable")[:n_members]
    shares = np.zeros(n_candidates)
    shares[largest] = total[largest] / total.sum()
    shares[shares < min(_MIN_WEIGHT, shares.max() / 2)] = 0.0
    shares /= shares.sum()
    single = _select(projections, y, loss, min(n_members, _N_ADDED), None, weight)
    bagged = loss.evaluate(y, np.tensordot(shares, projections, axes=1)[None], weight)[0]
    return single.weights if single.losses[-1] < (1 - _MAX_EXCESS) * bagged else shares


def _select(
    projections: FloatArray,
    y: IntArray,
    loss: Loss,
    n_members: int,
    feasible: Callable[[IntArray, int], bool] | None,
    weight: FloatArray | None,
) -> Selection:
    """Select greedily from projections of the candidates."""
    counts = np.zeros(len(projections), dtype=np.intp)
    total = np.zeros(projections.shape[1:])  # float64, because sums of float32 are inexact
    indices: list[int] = []
    losses: list[float] = []

    while len(indices) < n_members:
        values = _losses_with(projections, total, len(indices), y, loss, weight)
        best = _best_feasible(values, counts, feasible)
        if best is None:
            break
        counts[best] += 1
        np.add(total, projections[best], out=total)
        indices.append(best)
        losses.append(float(values[best]))
    return Selection(
        counts / max(1, len(indices)), np.array(indices, dtype=np.intp), np.array(losses)
    )


def _project(
    predictions: FloatArray | Sequence[FloatArray], y: IntArray, loss: Loss
) -> FloatArray:
    """Return the projection of each candidate, shape (n_candidates, n_samples, ...)."""
    if isinstance(predictions, np.ndarray):
        projections = loss.project(predictions, y)
    else:
        projections = np.stack([loss.project(prediction, y) for prediction in predictions])
    if not np.isfinite(projections.sum(dtype=np.float64)):
        raise ValueError(
            "The 'predictions' of greedy_selection must be finite. Got NaN or infinite values; "
            "exclude failed candidates, and rows that some candidate did not predict."
        )
    return projections


def _losses_with(
    projections: FloatArray,
    total: FloatArray,
    n_chosen: int,
    y: IntArray,
    loss: Loss,
    weight: FloatArray | None,
) -> FloatArray:
    """Return the loss of the mean prediction after the addition of each candidate."""
    step = max(1, _BLOCK_SIZE // max(1, total.size))
    values = np.empty(len(projections))
    for start in range(0, len(projections), step):
        block = slice(start, start + step)
        means = total + projections[block]
        means /= n_chosen + 1
        values[block] = loss.evaluate(y, means, weight)
    return values


def _best_feasible(
    losses: FloatArray, counts: IntArray, feasible: Callable[[IntArray, int], bool] | None
) -> int | None:
    """Return the feasible candidate of smallest loss; None if no candidate is feasible."""
    refused = losses.copy()
    best = _first_smallest(refused)
    while feasible is not None and not feasible(counts, best):
        refused[best] = np.inf
        best = _first_smallest(refused)
        if not np.isfinite(refused[best]):
            return None
    return best


def _first_smallest(losses: FloatArray) -> int:
    """Return the first index of the smallest loss, up to rounding; NaN counts as infinite."""
    losses = np.where(np.isnan(losses), np.inf, losses)
    smallest = losses.min()
    tolerance = _TIE_TOLERANCE * max(1.0, abs(smallest)) if np.isfinite(smallest) else 0.0
    return int(np.flatnonzero(losses <= smallest + tolerance)[0])
