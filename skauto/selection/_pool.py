"""Greedy ensemble selection that is kept up while candidates come in."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.selection._greedy import Selection, _first_smallest, _losses_with
from skauto.selection._losses import Loss
from skauto.utils import FloatArray, GrowingArray, IntArray

__all__ = ["EnsemblePool"]


class EnsemblePool:
    """The ensemble that greedy selection chooses, updated candidate by candidate.

    It equals what :func:`greedy_selection` chooses from all candidates so far. A new candidate is
    tried at each addition of the present ensemble. As long as it never beats the best of the
    others there, nothing changes, which costs a single loss for each addition. From the first
    addition that it wins, the selection is made anew.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True classes as integer codes, 0 to ``n_classes - 1``.
    loss : Loss
        The loss to make small.
    n_members : int, default=25
        Number of members, repetitions included.

    Attributes
    ----------
    n_updates : int
        How often a new candidate changed the ensemble.

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew and A. Ksikes, "Ensemble selection from
       libraries of models", ICML 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import EnsemblePool, LogLoss
    >>> pool = EnsemblePool([0, 1], LogLoss(), n_members=2)
    >>> pool.add(np.array([[0.6, 0.4], [0.5, 0.5]]))
    True
    >>> pool.add(np.array([[0.5, 0.5], [0.7, 0.3]]))
    False
    >>> pool.add(np.array([[0.9, 0.1], [0.2, 0.8]]))
    True
    >>> pool.members
    array([2])
    """

    def __init__(self, y: ArrayLike, loss: Loss, n_members: int = 25) -> None:
        self.y: IntArray = np.asarray(y)
        self.loss = loss
        self.n_members = n_members
        self.n_updates = 0
        self._projections = GrowingArray()
        self._indices: list[int] = []  # candidate of each addition
        self._losses: list[float] = []  # loss after it
        self._minima: list[float] = []  # and the smallest loss; the choice may tie with it

    def __len__(self) -> int:
        return len(self._projections)

    @property
    def selection(self) -> Selection:
        """Weights, order of addition and trajectory of the loss, as of greedy selection."""
        indices = np.array(self._indices, dtype=np.intp)
        counts = np.bincount(indices, minlength=len(self))
        return Selection(counts / max(1, len(indices)), indices, np.array(self._losses))

    @property
    def members(self) -> NDArray[np.intp]:
        """Candidates that are in the ensemble, each once, in increasing order."""
        return np.unique(np.array(self._indices, dtype=np.intp))

    def add(self, prediction: FloatArray) -> bool:
        """Add a candidate.

        Parameters
        ----------
        prediction : ndarray of shape (n_samples, n_classes)
            Finite probabilities.

        Returns
        -------
        changed : bool
            Whether the ensemble is another one now.
        """
        projection = self.loss.project(prediction, self.y)
        if not np.isfinite(projection).all():
            raise ValueError(
                "The 'prediction' of a candidate must be finite. Got NaN or infinite values; "
                "leave out rows that were not predicted."
            )
        self._projections.append(projection)
        changed = self._update(np.array([len(self) - 1]))
        self.n_updates += changed
        return changed

    def _update(self, newest: NDArray[np.intp]) -> bool:
        """Follow the old additions for as long as they stay, then go on with new ones."""
        before, total = list(self._indices), np.zeros(self._projections.values.shape[1:])
        for step, index in enumerate(before):
            value = float(self._with(newest, total, step)[0])
            if value < self._minima[step]:
                best, loss, smallest = self._choose(total, step)
                self._losses[step], self._minima[step] = loss, smallest
                if best != index:
                    self._indices = before[:step]
                    break
            total += self._projections.values[index]
        del self._losses[len(self._indices) :], self._minima[len(self._indices) :]
        while len(self._indices) < self.n_members:
            best, loss, smallest = self._choose(total, len(self._indices))
            self._indices.append(best)
            self._losses.append(loss)
            self._minima.append(smallest)
            total += self._projections.values[best]
        return self._indices != before

    def _choose(self, total: NDArray[Any], n_chosen: int) -> tuple[int, float, float]:
        """Best candidate to add to a sum of predictions, its loss, and the smallest loss."""
        values = self._with(np.arange(len(self)), total, n_chosen)
        best = _first_smallest(values)
        return best, float(values[best]), float(np.where(np.isnan(values), np.inf, values).min())

    def _with(self, candidates: IntArray, total: NDArray[Any], n_chosen: int) -> FloatArray:
        return _losses_with(
            self._projections.values, candidates, total, n_chosen, self.y, self.loss, None
        )
