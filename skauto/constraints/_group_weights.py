"""Reweighting of sensitive groups and classes."""

import numpy as np

from skauto.utils import FloatArray, IntArray


def group_weights(
    groups: IntArray, y: IntArray, strength: float, sample_weight: FloatArray | None = None
) -> FloatArray:
    r"""Reweight rows so that sensitive groups and classes become independent.

    A row of group :math:`g` and class :math:`c` is weighted by

    .. math:: \left(\frac{P(g) \, P(c)}{P(g, c)}\right)^s

    with weighted frequencies for the probabilities, and the strength :math:`s`. With :math:`s =
    1`, groups and classes are independent [1]_; 0 changes nothing. A classifier that predicts the
    group from other columns may require a larger strength.

    The result is the product with given sample weights, scaled to the same sum. The exponent and
    the scaling are deviations from [1]_.

    References
    ----------
    .. [1] F. Kamiran and T. Calders, "Data preprocessing techniques for classification without
       discrimination", Knowledge and Information Systems 33, 2012.
    """
    known = np.ones(len(y)) if sample_weight is None else sample_weight
    cells = np.zeros((groups.max() + 1, y.max() + 1))
    np.add.at(cells, (groups, y), known)
    expected = cells.sum(axis=1)[groups] * cells.sum(axis=0)[y] / cells.sum()
    weights = known * (expected / cells[groups, y]) ** strength
    return weights * (known.sum() / weights.sum())
