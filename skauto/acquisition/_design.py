"""Which points to observe first: greedy D-optimal design for linear models."""

import numpy as np

from skauto.utils import FloatArray, IntArray

# Values that differ by less than this share of the largest are ties.
_TIE = 1e-9


def d_optimal_design(
    candidates: FloatArray,
    n: int,
    rng: np.random.Generator,
    *,
    known: FloatArray | None = None,
) -> IntArray:
    r"""Choose points one after the other, each the best for a linear model given the others.

    With H the sum of :math:`p p^\top` over the points that are known or chosen, the next one
    maximises the product of the positive eigenvalues of :math:`H + p p^\top`, the rank being
    raised as long as it can be. No eigenvalue is computed. While the rank grows, the product is a
    Gram determinant, which a point multiplies by its squared distance from the span of the
    others. Afterwards a point multiplies it by one plus its leverage
    :math:`p^\top H^{+} p`.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates, n_features)
        Points to choose from. One can be chosen again.
    n : int
        Number of points to choose.
    rng : numpy.random.Generator
        Chooses the first point if none is known, and breaks ties.
    known : ndarray of shape (n_known, n_features), default=None
        Points that were observed before.

    Returns
    -------
    chosen : ndarray of int of shape (n,)
        Rows of the candidates.

    Notes
    -----
    For one-hot encoded structures of N algorithms in K steps, the rank is at most N - K + 1.

    References
    ----------
    .. [1] Y. Zhang, M. T. Bahadori, H. Su, J. Sun, "FLASH: Fast Bayesian Optimization for Data
       Analytic Pipelines", KDD 2016, Algorithm 2.

    Examples
    --------
    The two halves of a 2 x 2 design that tell both steps apart:

    >>> import numpy as np
    >>> from skauto.acquisition import d_optimal_design
    >>> paths = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]], dtype=float)
    >>> d_optimal_design(paths, 1, np.random.default_rng(0), known=paths[:1])
    array([3])
    """
    known = np.empty((0, candidates.shape[1])) if known is None else known
    points = np.vstack([known, candidates]).astype(np.float64)
    design = _Design(points)
    for row in range(len(known)):
        design.add(row)
    chosen = []
    for _ in range(n):
        if not design.rows:
            row = len(known) + int(rng.integers(len(candidates)))
        else:
            row = len(known) + _argmax(design.gains()[len(known) :], rng)
        design.add(row)
        chosen.append(row - len(known))
    return np.array(chosen, dtype=np.intp)


def _argmax(values: FloatArray, rng: np.random.Generator) -> int:
    """Position of the largest value, a random one of those that tie."""
    largest = float(values.max())
    return int(rng.choice(np.flatnonzero(values >= largest - _TIE * abs(largest))))


class _Design:
    """Points in a design, with what every point would add to it.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        All points that may enter.
    """

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self.rows: list[int] = []
        # Squared distance from the span of the design, and what counts as inside of it.
        self.distances = (points**2).sum(axis=1)
        self.inside = _TIE * max(1.0, float(self.distances.max(initial=0.0)))
        self.basis: list[FloatArray] = []  # orthonormal, of that span

    def gains(self) -> FloatArray:
        """Factor by which each point would multiply the product of the eigenvalues."""
        if self.distances.max() > self.inside:
            return self.distances
        if not hasattr(self, "leverages"):
            self._span()
        gains: FloatArray = 1.0 + self.leverages
        return gains

    def add(self, row: int) -> None:
        """Add a point."""
        if hasattr(self, "leverages"):
            self._update(row)
        elif self.distances[row] > self.inside:
            self._extend(row)
        self.rows.append(row)

    def _extend(self, row: int) -> None:
        """Gram-Schmidt: one more direction, twice, which keeps the basis orthonormal."""
        direction = self.points[row]
        for _ in range(2):
            direction = direction - sum((q @ direction) * q for q in self.basis)
        direction = direction / np.linalg.norm(direction)
        self.basis.append(direction)
        self.distances = np.maximum(self.distances - (self.points @ direction) ** 2, 0.0)

    def _span(self) -> None:
        """All points lie in the span: their coordinates there, and their leverages."""
        basis = np.reshape(self.basis, (-1, self.points.shape[1]))
        self.coordinates = self.points @ basis.T
        design = self.coordinates[self.rows]
        self.inverse = np.linalg.inv(design.T @ design)
        self.leverages = ((self.coordinates @ self.inverse) * self.coordinates).sum(axis=1)

    def _update(self, row: int) -> None:
        """Sherman-Morrison: what a point takes from the leverages of all."""
        image = self.inverse @ self.coordinates[row]
        scale = 1.0 + self.leverages[row]
        self.leverages = self.leverages - (self.coordinates @ image) ** 2 / scale
        self.inverse = self.inverse - np.outer(image, image) / scale
