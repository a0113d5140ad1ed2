"""Operating points of a class: recall, precision and share of flagged rows at each cut."""

from dataclasses import dataclass

import numpy as np

from skauto.utils import BoolArray, FloatArray

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class OperatingPoints:
    """Precision, recall and share of flagged rows at each cut, from few to all rows flagged.

    A row is flagged if its margin exceeds the cut. All arrays have the shape (n_points,).
    """

    cuts: FloatArray
    flagged: FloatArray
    precision: FloatArray
    recall: FloatArray

    @classmethod
    def of(
        cls, margins: FloatArray, positive: BoolArray, weight: FloatArray | None = None
    ) -> "OperatingPoints":
        """Compute the points of rows with these margins, of which some are positive.

        There is a cut between any two different margins, and one below all.
        """
        weight = np.ones(len(margins)) if weight is None else weight
        order = np.argsort(-margins, kind="stable")
        ordered = margins[order]
        last = np.append(np.flatnonzero(ordered[:-1] > ordered[1:]), len(ordered) - 1)
        rows = np.cumsum(weight[order])[last]
        hits = np.cumsum((weight * positive)[order])[last]
        below = np.append(ordered[last[:-1] + 1], ordered[-1] - 1.0)
        return cls(
            (ordered[last] + below) / 2,
            rows / weight.sum(),
            hits / rows,
            hits / max(hits[-1], np.finfo(np.float64).tiny),
        )

    def find(
        self, recall: float | None, precision: float | None, flagged: float | None
    ) -> tuple[int, bool]:
        """Return the point that meets all bounds, and whether there is one, else the nearest.

        At least `recall` and `precision` are asked, at most the share `flagged`. With a bound on
        the recall, the point of highest precision is returned, else that of highest recall.
        """
        shortfall = np.zeros(len(self.cuts))
        for values, bound in ((self.recall, recall), (self.precision, precision)):
            if bound is not None:
                shortfall += np.maximum(0.0, bound - values)
        if flagged is not None:
            shortfall += np.maximum(0.0, self.flagged - flagged)
        met = shortfall <= _TOLERANCE
        if not met.any():
            return int(np.argmin(shortfall)), False
        first, second = self.recall, self.precision
        if recall is not None:
            first, second = second, first
        best = np.lexsort((-self.flagged, second, np.where(met, first, -1.0)))
        return int(best[-1]), True
