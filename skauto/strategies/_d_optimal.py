"""Greedy D-optimal experimental design for linear models."""

import numpy as np

from skauto.utils import FloatArray, IntArray

# Values whose relative difference from the largest is below this are ties.
_TIE = 1e-9


def d_optimal_design(
    candidates: FloatArray, n: int, rng: np.random.Generator, *, known: FloatArray | None = None
) -> IntArray:
    r"""Choose n rows of the candidates (n_candidates, n_features) by greedy D-optimal design.

    Let H be the sum of :math:`p p^\top` over the known points (n_known, n_features) and the chosen
    ones. The next point, which may be a repeated one, maximizes the product of the positive
    eigenvalues of :math:`H + p p^\top`, after raising the rank if possible (Y. Zhang et al.,
    "FLASH: Fast Bayesian Optimization for Data Analytic Pipelines", KDD 2016, Algorithm 2).

    No eigenvalue is computed. While the rank grows, the product is a Gram determinant, which a
    point multiplies by its squared distance from the span of the design. Afterwards a point
    multiplies it by one plus its leverage :math:`p^\top H^{+} p`. For one-hot encoded structures
    of N algorithms in K steps, the rank is at most N - K + 1.
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
            gains = design.gains()[len(known) :]
            largest = float(gains.max())
            ties = np.flatnonzero(gains >= largest - _TIE * abs(largest))
            row = len(known) + int(rng.choice(ties))
        design.add(row)
        chosen.append(row - len(known))
    return np.array(chosen, dtype=np.intp)


class _Design:
    """A design and the gain of adding each of the points, of shape (n, n_features)."""

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self.rows: list[int] = []
        # Squared distance of each point from the span of the design, and its tolerance.
        self.distances = (points**2).sum(axis=1)
        self.inside = _TIE * max(1.0, float(self.distances.max(initial=0.0)))
        self.basis: list[FloatArray] = []  # orthonormal basis of the span

    def gains(self) -> FloatArray:
        """Factor by which each point multiplies the product of the eigenvalues."""
        if self.distances.max() > self.inside:
            return self.distances
        if not hasattr(self, "leverages"):
            self._span()
        return 1.0 + self.leverages

    def add(self, row: int) -> None:
        """Add a point."""
        if hasattr(self, "leverages"):
            self._update(row)
        elif self.distances[row] > self.inside:
            self._extend(row)
        self.rows.append(row)

    def _extend(self, row: int) -> None:
        """Extend the basis by Gram-Schmidt with reorthogonalization."""
        direction = self.points[row]
        for _ in range(2):
            direction = direction - sum((q @ direction) * q for q in self.basis)
        direction = direction / np.linalg.norm(direction)
        self.basis.append(direction)
        self.distances = np.maximum(self.distances - (self.points @ direction) ** 2, 0.0)

    def _span(self) -> None:
        """Compute coordinates and leverages when all points lie in the span."""
        basis = np.reshape(self.basis, (-1, self.points.shape[1]))
        self.coordinates = self.points @ basis.T
        design = self.coordinates[self.rows]
        self.inverse = np.linalg.inv(design.T @ design)
        self.leverages = ((self.coordinates @ self.inverse) * self.coordinates).sum(axis=1)

    def _update(self, row: int) -> None:
        """Update the leverages by the Sherman-Morrison formula."""
        image = self.inverse @ self.coordinates[row]
        scale = 1.0 + self.leverages[row]
        self.leverages = self.leverages - (self.coordinates @ image) ** 2 / scale
        self.inverse = self.inverse - np.outer(image, image) / scale
