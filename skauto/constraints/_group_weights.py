"""Weights for which the classes do not depend on a sensitive feature."""

import numpy as np

from skauto.utils import FloatArray, IntArray


def group_weights(
    groups: IntArray, y: IntArray, strength: float, sample_weight: FloatArray | None = None
) -> FloatArray:
    r"""Weigh rows so that sensitive groups and classes become independent.

    A row of group :math:`g` and class :math:`c` gets

    .. math:: \left(\frac{P(g) \, P(c)}{P(g, c)}\right)^s

    with the shares of the rows for the probabilities. At :math:`s = 1` all groups have the same
    weighted shares of the classes [1]_; at 0 nothing changes. A classifier that learns the group
    from other columns still tells the groups apart at 1; a larger strength goes on in the same
    direction. The power and the scaling to a mean of 1 are ours.

    Parameters
    ----------
    groups : ndarray of int of shape (n_samples,)
        Group of each row, from 0.
    y : ndarray of int of shape (n_samples,)
        Class of each row, from 0.
    strength : float
        The power :math:`s`.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights that the rows have already; the shares are taken with them.

    Returns
    -------
    weights : ndarray of shape (n_samples,)
        The product with those that the rows had, of the same sum.

    References
    ----------
    .. [1] F. Kamiran and T. Calders, "Data preprocessing techniques for classification without
       discrimination", Knowledge and Information Systems 33, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.constraints import group_weights
    >>> groups, y = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 1, 1])
    >>> group_weights(groups, y, strength=1.0).tolist()
    [0.75, 0.75, 1.5, 1.5, 0.75, 0.75]
    """
    known = np.ones(len(y)) if sample_weight is None else sample_weight
    cells = np.zeros((groups.max() + 1, y.max() + 1))
    np.add.at(cells, (groups, y), known)
    expected = cells.sum(axis=1)[groups] * cells.sum(axis=0)[y] / cells.sum()
    weights = known * (expected / cells[groups, y]) ** strength
    return weights * (known.sum() / weights.sum())
