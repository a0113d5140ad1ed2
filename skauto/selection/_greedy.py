"""Greedy ensemble selection from stored predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skauto.selection._losses import Loss
from skauto.utils import FloatArray, IntArray

__all__ = ["Selection", "greedy_selection"]

# Numbers of a block of candidates: about a megabyte of doubles, which stays in a core's cache.
_BLOCK_SIZE = 2**17

# Losses nearer than this, relative to max(1, loss), count as equal: rounding decides no tie.
_TIE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Selection:
    """What ensemble selection chose.

    Parameters
    ----------
    weights : ndarray of shape (n_candidates,)
        Share of each candidate in the ensemble; they sum to one, or are all zero if no candidate
        was feasible.
    indices : ndarray of shape (n_members,)
        The candidates in the order of their addition, repetitions included.
    losses : ndarray of shape (n_members,)
        Loss of the mean prediction after each addition.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import Selection
    >>> Selection(np.array([0.75, 0.25]), np.array([0, 1, 0, 0]), np.array([0.4, 0.3, 0.2, 0.2]))
    Selection(weights=array([0.75, 0.25]), indices=array([0, 1, 0, 0]),
              losses=array([0.4, 0.3, 0.2, 0.2]))
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
    """Choose an ensemble from candidates by their predictions for validation rows.

    Starting from nothing, the candidate that makes the loss of the mean prediction smallest is
    added, with replacement, `n_members` times (Caruana et al. [1]_, sections 2 and 2.1). Of
    candidates that tie, the first is taken.

    Parameters
    ----------
    predictions : ndarray of shape (n_candidates, n_samples, n_classes), or a sequence of arrays
        Probabilities that each candidate predicts for rows that it was not fitted on, with no gaps
        (leave out rows that some candidate did not predict). An array is not copied; of a sequence
        of (n_samples, n_classes) arrays, only what the loss reads is copied.
    y : array-like of shape (n_samples,)
        True classes as integer codes, 0 to ``n_classes - 1``.
    loss : Loss
        The loss to make small.
    n_members : int, default=25
        Number of members, repetitions included; with 1 the best single candidate is chosen.
    feasible : callable, default=None
        ``feasible(counts, candidate)``, given the number of times that each candidate is a
        member, shape (n_candidates,), says whether the whole ensemble stays feasible when the
        candidate is added. It is asked about candidates in the order of their loss until one may
        enter. Selection ends when none may.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the loss.

    Returns
    -------
    selection : Selection
        Weights, order of addition and trajectory of the loss.

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
    total = np.zeros(projections.shape[1:])  # float64: sums of float32 are all but exact
    candidates = np.arange(len(projections))
    indices: list[int] = []
    losses: list[float] = []

    while len(indices) < n_members:
        values = _losses_with(projections, candidates, total, len(indices), y, loss, weight)
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
    """Return what the loss reads of each candidate, (n_candidates, n_samples, ...)."""
    if isinstance(predictions, np.ndarray):
        projections = loss.project(predictions, y)
    else:
        projections = np.stack([loss.project(prediction, y) for prediction in predictions])
    if not np.isfinite(projections.sum(dtype=np.float64)):
        raise ValueError(
            "The 'predictions' of greedy_selection must be finite. Got NaN or infinite values; "
            "leave out failed candidates, and rows that some candidate did not predict."
        )
    return projections


def _losses_with(
    projections: FloatArray,
    candidates: IntArray,
    total: FloatArray,
    n_chosen: int,
    y: IntArray,
    loss: Loss,
    weight: FloatArray | None,
) -> FloatArray:
    """Return the loss of the mean prediction with each of the candidates added."""
    step = max(1, _BLOCK_SIZE // max(1, total.size))
    values = np.empty(len(candidates))
    for start in range(0, len(candidates), step):
        block = slice(start, start + step)
        means = total + projections[candidates[block]]
        means /= n_chosen + 1
        values[block] = loss.evaluate(y, means, weight)
    return values


def _best_feasible(
    losses: FloatArray, counts: IntArray, feasible: Callable[[IntArray, int], bool] | None
) -> int | None:
    """Return the candidate of smallest loss that may enter, None where none may."""
    refused = losses.copy()
    best = _first_smallest(refused)
    while feasible is not None and not feasible(counts, best):
        refused[best] = np.inf
        best = _first_smallest(refused)
        if not np.isfinite(refused[best]):
            return None
    return best


def _first_smallest(losses: FloatArray) -> int:
    """Return the lowest index among the smallest losses; NaN counts as infinite."""
    losses = np.where(np.isnan(losses), np.inf, losses)
    smallest = losses.min()
    return int(np.flatnonzero(losses <= smallest + _tolerance(smallest))[0])


def _tolerance(loss: float) -> float:
    return _TIE_TOLERANCE * max(1.0, abs(loss)) if np.isfinite(loss) else 0.0
