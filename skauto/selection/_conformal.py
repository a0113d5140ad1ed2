"""Prediction sets that hold the true class with a given probability."""

import numpy as np

from skauto.utils import FloatArray, IntArray


def smallest_probability(
    probabilities: FloatArray, y: IntArray, coverage: float, weight: FloatArray | None = None
) -> float:
    r"""Return the smallest probability of a class in a prediction set.

    Split conformal prediction with the score :math:`1 - p_y` [1]_: of n rows with probabilities
    (n_samples, n_classes) and class codes y, the quantile at :math:`\lceil (n + 1) c \rceil / n`
    of the score bounds the score of the classes in a set. Then a set holds the true class of a new
    row with probability at least c, on average over rows. It is 0 if there are too few rows.

    References
    ----------
    .. [1] M. Sadinle, J. Lei and L. Wasserman, "Least ambiguous set-valued classifiers with
       bounded error levels", Journal of the American Statistical Association 114, 2019.
    """
    own = probabilities[np.arange(len(y)), y]
    weight = np.ones(len(y)) if weight is None else weight
    order = np.argsort(-own, kind="stable")
    # The new row counts as one more row of the mean weight.
    share = np.cumsum(weight[order]) / (weight.sum() + weight.mean())
    enough = np.flatnonzero(share >= coverage)
    return float(own[order[enough[0]]]) if len(enough) else 0.0
