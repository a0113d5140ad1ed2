"""Diversity of the predictions of classifiers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.utils import FloatArray


def diversity_to(prediction: FloatArray, others: FloatArray) -> NDArray[np.float64]:
    """Diversity (n_others,) of a prediction (n_samples, n_classes) to each of several others."""
    differences = others - prediction
    distances = np.sqrt(np.square(differences, out=differences).sum(axis=2))
    return np.sqrt(0.5) * distances.mean(axis=1, dtype=np.float64)


def pairwise_diversity(predictions: FloatArray) -> NDArray[np.float64]:
    r"""Compute the diversity of each pair of classifiers.

    The diversity of two classifiers is the mean Euclidean distance of their class probabilities,
    scaled to [0, 1] (Shen et al. [1]_, Eq. 3),

    .. math:: \frac{\sqrt 2}{2} \frac{1}{n} \sum_s \| P_i(s) - P_j(s) \|_2 .

    Parameters
    ----------
    predictions : ndarray of shape (n_classifiers, n_samples, n_classes)
        Probabilities for the same rows; one-hot for classifiers that only predict labels.

    Returns
    -------
    diversity : ndarray of shape (n_classifiers, n_classifiers)
        Symmetric, with zeros on the diagonal.

    References
    ----------
    .. [1] Y. Shen, Y. Lu, Y. Li, Y. Tu, W. Zhang, B. Cui, "DivBO: Diversity-aware CASH for
       Ensemble Learning", NeurIPS 2022, section 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import pairwise_diversity
    >>> pairwise_diversity(np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]))
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    return np.array([diversity_to(prediction, predictions) for prediction in predictions])


def pairwise_disagreement(predictions: FloatArray) -> NDArray[np.float64]:
    """Compute the disagreement of each pair of classifiers: the share of different labels.

    Parameters
    ----------
    predictions : ndarray of shape (n_classifiers, n_samples, n_classes)
        Probabilities for the same rows; the label is the most probable class.

    Returns
    -------
    disagreement : ndarray of shape (n_classifiers, n_classifiers)
        Symmetric, with zeros on the diagonal.

    References
    ----------
    .. [1] D. B. Skalak, "The sources of increased accuracy for two proposed boosting algorithms",
       AAAI workshop on integrating multiple learned models, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import pairwise_disagreement
    >>> pairwise_disagreement(np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.4, 0.6], [0.1, 0.9]]]))
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    labels: NDArray[Any] = predictions.argmax(axis=2)
    return np.array([(labels != row).mean(axis=1) for row in labels])


def mean_over_pairs(matrix: NDArray[np.float64]) -> float:
    """Mean of a symmetric matrix over the pairs of different classifiers; 0 for a single one."""
    n = len(matrix)
    return float(matrix.sum() / (n * (n - 1))) if n > 1 else 0.0
