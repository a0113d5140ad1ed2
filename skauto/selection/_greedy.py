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

    The candidate that minimizes the loss of the mean prediction is added to an initially empty
    ensemble, `n_members` times. Ties go to the first candidate.

    Parameters
    ----------
    predictions : ndarray of shape (n_candidates, n_samples, n_classes), or a sequence of arrays
        Out-of-fold probabilities of each candidate, or a sequence of arrays of shape (n_samples,
        n_classes). They must be finite: exclude rows that some candidate did not predict.
    y : array-like of shape (n_samples,)
        True classes as integer codes, 0 to ``n_classes - 1``.
    loss : Loss
        The loss to minimize.
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
    projections = _project(predictions, y, loss)
    counts = np.zeros(len(projections), dtype=np.intp)
    total = np.zeros(projections.shape[1:])  # float64, because sums of float32 are inexact
    indices: list[int] = []
    losses: list[float] = []
    step = max(1, _BLOCK_SIZE // max(1, total.size))

    while len(indices) < n_members:
        values = np.empty(len(projections))  # losses after the addition of each candidate
        for start in range(0, len(projections), step):
            block = slice(start, start + step)
            means = total + projections[block]
            means /= len(indices) + 1
            values[block] = loss.evaluate(y, means, weight)
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
