"""Bagged ensemble selection."""

import numpy as np
from numpy.typing import ArrayLike

from skauto.selection._greedy import greedy_selection
from skauto.selection._losses import Loss, log_losses, mean_and_error
from skauto.utils import FloatArray

# Number of selections, the share of the candidates of each, and the maximum number of members.
# Chosen on 63 searches on development tables with 400 to 3,500 rows.
_N_RUNS, _SHARE, _MAX_MEMBERS = 20, 0.7, 8
# Maximum increase of the log loss by bagging, in standard errors.
_MAX_INCREASE = 1.0


def bagged_selection(
    predictions: FloatArray,
    y: ArrayLike,
    loss: Loss,
    weights: FloatArray,
    n_members: int = 25,
    *,
    n_runs: int = _N_RUNS,
    sample_weight: ArrayLike | None = None,
) -> FloatArray:
    """Average greedy selections among random candidates (Caruana et al. [1]_, section 2.3).

    Each of `n_runs` selections adds half of `n_members` from 70% of the candidates. The eight
    candidates of largest mean weight remain. If their log loss is higher than that of the
    `weights` of one selection among all candidates by more than a standard error, as when one
    candidate is much better than the others, the weights are returned unchanged.

    Parameters
    ----------
    predictions : ndarray of shape (n_candidates, n_samples, n_classes)
        Out-of-fold probabilities of each candidate.
    y : array-like of shape (n_samples,)
        True classes as integer codes.
    loss : Loss
        The loss to minimize.
    weights : ndarray of shape (n_candidates,)
        Result of :func:`greedy_selection`.
    n_members : int, default=25
        Number of members of that selection, with repetitions.
    n_runs : int, default=20
        Number of selections.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    weights : ndarray of shape (n_candidates,)
        Weight of each candidate; they sum to 1.

    References
    ----------
    .. [1] R. Caruana, A. Niculescu-Mizil, G. Crew and A. Ksikes, "Ensemble selection from
       libraries of models", ICML 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import LogLoss, greedy_selection
    >>> from skauto.selection._bagged import bagged_selection
    >>> y = [0, 1, 1]
    >>> predictions = np.array([[[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]], [[0.5, 0.5]] * 3])
    >>> plain = greedy_selection(predictions, y, LogLoss(), n_members=4).weights
    >>> bagged_selection(predictions, y, LogLoss(), plain, n_members=4)
    array([1., 0.])
    """
    y = np.asarray(y)
    rng = np.random.default_rng(0)
    n_candidates = len(predictions)
    n_drawn = max(2, round(_SHARE * n_candidates))
    mean = np.zeros(n_candidates)
    for _ in range(n_runs):
        drawn = rng.permutation(n_candidates)[:n_drawn]
        run = greedy_selection(
            predictions[drawn], y, loss, -(-n_members // 2), sample_weight=sample_weight
        )
        mean[drawn] += run.weights
    mean[np.argsort(-mean, kind="stable")[min(_MAX_MEMBERS, n_members) :]] = 0.0
    mean /= mean.sum()
    before, after = (log_losses(y, np.tensordot(w, predictions, 1)) for w in (weights, mean))
    increase, error = mean_and_error(after - before, sample_weight)
    return weights if increase > _MAX_INCREASE * error else mean
