"""Decisions on class probabilities: calibration, and class offsets (thresholds).

They are fitted to out-of-fold predictions of the ensemble. For scores of labels, the most probable
class is often not optimal: for rare positives, the best F1 needs a threshold below 0.5. For scores
of probabilities, the mean of several models is often under-confident.
"""

import math
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import softmax

from skauto.model import Decision
from skauto.model._decision import logarithms
from skauto.selection._label_losses import ErrorLoss, LabelLoss
from skauto.selection._losses import BrierLoss, LogLoss, Loss, mean_and_error
from skauto.selection._scorer_loss import ScorerLoss
from skauto.utils import FloatArray, IntArray

# Maximum number of bootstrap resamples that offsets are averaged over, and maximum of rows times
# classes over all resamples.
_N_RESAMPLES = 20
_MAX_WORK = 1e6
# Positions of an offset in a line search: bounds for vectorized losses (of few classes) and for
# scorers (calls).
_MAX_COUNTS = 2**15
_MIN_CUTS = 256
_MAX_CALLS = 400
_MIN_CALLS = 8
_MAX_SCORER_ROWS = 5000  # for scorers without sample weights
# Maximum number of rounds of coordinate descent; two classes need one.
_MAX_ROUNDS = 3
# Minimum number of rows for a calibration, and maximum of the temperature and its inverse.
_MIN_ROWS = 100
_MAX_TEMPERATURE = 5.0
# Standard errors that the loss of the chosen calibration may exceed the minimum by.
_N_ERRORS = 0.5
_N_BISECTIONS = 8
# Minimum kept share of the log-odds against the class frequencies; all is kept from the second on.
_LEAST_KEPT, _KEEPS_ALL = 0.05, 0.95
# Maximum number of probabilities, rows times classes, that a calibration is fitted to.
_MAX_PROBABILITIES = 2_000_000
# Maximum increase of the error rate or of 1 - AUC by a calibration.
_MAX_INCREASE = 1e-4
# Losses whose difference is smaller are equal.
_TOLERANCE = 1e-12


def choose_decision(
    probabilities: FloatArray,
    y: ArrayLike,
    loss: Loss,
    *,
    rng: np.random.Generator,
    sample_weight: ArrayLike | None = None,
    seconds: float = math.inf,
) -> Decision:
    """Fit class offsets or a calibration to out-of-fold predictions.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        Out-of-fold probabilities.
    y : array-like of shape (n_samples,)
        True classes as integer codes.
    loss : Loss
        The loss to minimize. Offsets are fitted for losses of labels, except the error rate, and
        precision or recall of a single class. The Brier score gets its own calibration. The log
        loss, the error rate and ROC AUC get that of the log loss, unless it makes them worse.
        Other scorers get the identity.
    rng : Generator
        Source of randomness of the bootstrap.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    seconds : float, default=inf
        Seconds after which the search of offsets ends with the best ones so far. The result is
        reproducible if the search ends before.

    Returns
    -------
    decision : Decision
        Offsets, or a temperature and a shift of the log-probabilities; offsets 0 and temperature
        1 if neither is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import LogLoss, choose_decision
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> sure = 1 / (1 + np.exp(-rng.normal(2 * y - 1, 1.0)))  # the truth is twice as sure
    >>> probabilities = np.column_stack([1 - sure, sure])
    >>> bool(choose_decision(probabilities, y, LogLoss(), rng=rng).temperature < 0.7)
    True
    """
    y = np.asarray(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    n_classes = probabilities.shape[1]
    if isinstance(loss, LabelLoss | ScorerLoss) and gains_by_offsets(loss, y, n_classes):
        offsets = choose_offsets(
            probabilities, y, loss, rng=rng, sample_weight=weight, seconds=seconds
        )
        return Decision(offsets)
    plain = Decision(np.zeros(n_classes))
    if isinstance(loss, ScorerLoss):
        return plain
    proper = loss if isinstance(loss, BrierLoss) else LogLoss()
    fit = CalibrationFit(probabilities, y, proper, sample_weight=weight)
    calibrated = fit.decision(fit.parameters).scale(probabilities)
    before, after = loss(y, np.stack([probabilities, calibrated]), weight)
    refused = after > before + _MAX_INCREASE
    return fit.decision(np.zeros(n_classes + 1) if refused else fit.parameters, fit.kept)


def gains_by_offsets(loss: Loss, y: IntArray, n_classes: int) -> bool:
    """Return whether class offsets can lower a loss, given the true class codes y.

    They cannot lower the error rate, because the most probable class is optimal, nor losses of
    probabilities. For precision and recall of a single class a constant label is optimal, so these
    are excluded.
    """
    if isinstance(loss, ScorerLoss):
        return loss.reads_labels(y, n_classes)
    return isinstance(loss, LabelLoss) and not isinstance(loss, ErrorLoss)


class CalibrationFit:
    r"""Temperature scaling [1]_ with a shift of each class, fitted to out-of-fold probabilities.

    The logarithm of :math:`p_k / f_k`, a probability over the frequency of its class, is divided
    by the temperature, then :math:`b_k` is added. The shifts correct probabilities that are too
    high for a class on average, such as those of members that weigh the rows by class. The loss
    is the log loss or the Brier loss; weights of the rows are optional. The rows are a sample if
    there are more than two million probabilities. The target is that of Platt [2]_, (n + 1) /
    (n + 2) for a class of n rows, because the temperature of classes that the probabilities
    separate would else be 0.

    The ensemble was selected on the same rows: its out-of-fold loss is too low, most of all with
    few rows. So the `parameters`, the logarithm of the temperature and the shifts, are the
    smallest multiple of those of least loss whose mean loss is within half a standard error (of
    the difference over the rows) of the minimum. The temperature lies between 0.2 and 5. The
    parameters are 0 for fewer than 100 rows.

    Without signal the ensemble has a gain over the class frequencies on the rows that selected
    it, and a loss on others. Of the gain :math:`g` at the least loss, with the standard error
    :math:`s`, the share :math:`\max(0.05, 1 - s^2 / g^2)` is `kept`, or all if that is at least
    0.95. This is positive-part shrinkage [3]_ of the log-odds against the class frequencies.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural
       networks", ICML 2017.
    .. [2] J. Platt, "Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods", Advances in Large Margin Classifiers, 1999, section 2.
    .. [3] B. Efron and C. Morris, "Stein's estimation rule and its competitors: an empirical Bayes
       approach", Journal of the American Statistical Association 68, 1973.
    """

    def __init__(
        self,
        probabilities: FloatArray,
        y: IntArray,
        loss: LogLoss | BrierLoss,
        *,
        sample_weight: FloatArray | None = None,
    ) -> None:
        n_rows, n_classes = probabilities.shape
        weight = np.ones(n_rows) if sample_weight is None else sample_weight
        self.frequencies = np.bincount(y, weights=weight, minlength=n_classes) / weight.sum()
        if probabilities.size > _MAX_PROBABILITIES:
            n_rows = max(_MIN_ROWS, _MAX_PROBABILITIES // n_classes)
            rows = np.random.default_rng(0).choice(len(y), n_rows, replace=False)
            probabilities, y, weight = probabilities[rows], y[rows], weight[rows]
        self.loss, self.weight, self.base = loss, weight, logarithms(self.frequencies)
        self.log_odds = logarithms(probabilities) - self.base
        self.targets = _targets(y, n_classes)
        least = self._parameters_of_least_loss()
        share = self._smallest_share(least) if n_rows >= _MIN_ROWS else 0.0
        self.parameters = share * least
        self.kept = self._kept(least)

    def decision(self, parameters: FloatArray, kept: float = 1.0) -> Decision:
        """Return the decision without offsets of parameters, with a share of the log-odds."""
        slope = kept * math.exp(-parameters[0])
        shift = (1.0 - slope) * self.base + kept * parameters[1:]
        return Decision(np.zeros(len(self.base)), 1.0 / slope, shift)

    def _probabilities(self, parameters: FloatArray) -> FloatArray:
        scaled = self.log_odds * math.exp(-parameters[0])
        return np.asarray(softmax(scaled + self.base + parameters[1:], axis=1))

    def _losses(self, parameters: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        return _row_losses(self.loss, self.targets, self._probabilities(parameters))

    def _parameters_of_least_loss(self) -> FloatArray:
        weight = self.weight / self.weight.sum()

        def loss_and_gradient(parameters: FloatArray) -> tuple[float, FloatArray]:
            probabilities = self._probabilities(parameters)
            slopes = probabilities - self.targets  # of the log loss, by the log-probabilities
            if isinstance(self.loss, BrierLoss):
                slopes *= 2.0 * probabilities
                slopes -= probabilities * slopes.sum(axis=1, keepdims=True)
            slopes *= weight[:, None]
            by_temperature = -math.exp(-parameters[0]) * np.vdot(slopes, self.log_odds)
            losses = _row_losses(self.loss, self.targets, probabilities)
            return float(weight @ losses), np.append(by_temperature, slopes.sum(axis=0))

        bound = math.log(_MAX_TEMPERATURE)
        n_classes = len(self.base)
        found = minimize(
            loss_and_gradient,
            np.zeros(1 + n_classes),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-bound, bound), *[(None, None)] * n_classes],
        )
        return np.asarray(found.x)

    def _smallest_share(self, least: FloatArray) -> float:
        """Return the smallest multiple of parameters that is half a standard error worse."""
        losses = self._losses(least)

        def is_worse(share: float) -> bool:
            mean, error = mean_and_error(self._losses(share * least) - losses, self.weight)
            return mean > _N_ERRORS * error

        if not is_worse(0.0):
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(_N_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if is_worse(middle) else (low, middle)
        return high

    def _kept(self, least: FloatArray) -> float:
        """Return the share of the log-odds against the class frequencies that is kept."""
        constant = np.tile(self.frequencies, (len(self.targets), 1))
        gains = _row_losses(self.loss, self.targets, constant) - self._losses(least)
        gain, error = mean_and_error(gains, self.weight)
        if gain <= 0.0:
            return _LEAST_KEPT
        kept = max(_LEAST_KEPT, 1.0 - (error / gain) ** 2)
        return 1.0 if kept >= _KEEPS_ALL else kept


def choose_offsets(
    probabilities: FloatArray,
    y: IntArray,
    loss: LabelLoss | ScorerLoss,
    *,
    rng: np.random.Generator,
    sample_weight: FloatArray | None = None,
    seconds: float = math.inf,
) -> FloatArray:
    r"""Fit the class offsets, of shape (n_classes,) and mean 0, that minimize a loss of labels.

    The label is :math:`\mathrm{arg}\max_c \log p_c + o_c`, which is optimal for a wide class of
    metrics [1]_. Coordinate descent optimizes one offset at a time by an exact line search over
    the offsets at which the label of a row changes; for two classes it finds the global optimum.
    To reduce overfitting, the offsets are averaged over Bayesian bootstrap resamples [2]_ of the
    rows. They are 0 if no offsets lower the loss on all rows. The mean may increase the
    loss on these rows. In simulations of such cases with 150 and 600 rows, its loss on new rows
    was on average still below those of the optimum and of offsets 0.

    A scorer is called about 400 times, or 24 times per class if that is more. A scorer without
    sample weights is called on at most 5,000 rows. After some `seconds`, the descent ends with the
    best offsets so far.

    References
    ----------
    .. [1] O. Koyejo, N. Natarajan, P. Ravikumar and I. Dhillon, "Consistent binary classification
       with generalized performance metrics", NeurIPS 2014.
    .. [2] D. B. Rubin, "The Bayesian bootstrap", The Annals of Statistics 9 (1981), 130-134.
    """
    end = time.monotonic() + seconds
    by_rows = None
    if isinstance(loss, ScorerLoss) and not loss.reads_counts:
        if len(y) > _MAX_SCORER_ROWS:
            rows = np.sort(rng.choice(len(y), _MAX_SCORER_ROWS, replace=False))
            probabilities, y, loss = probabilities[rows], y[rows], loss.take(rows)
            sample_weight = None if sample_weight is None else sample_weight[rows]
        by_rows = loss
    n_rows, n_classes = probabilities.shape
    logs = logarithms(probabilities)
    weight = np.ones(n_rows) if sample_weight is None else sample_weight
    n_resamples = _n_resamples(loss, n_rows, n_classes)
    argmax = np.zeros(n_classes)

    def on_all_rows(offsets: FloatArray) -> float:
        labels = Decision(offsets).labels(probabilities)
        return float(loss(y, np.eye(n_classes)[labels][None], sample_weight)[0])

    n_rounds = 1 if n_classes == 2 else _MAX_ROUNDS
    weighted = weight if by_rows is None else None
    best = _coordinate_descent(logs, y, loss, weighted, argmax, n_rounds, end)
    if not on_all_rows(best) < on_all_rows(argmax) - _TOLERANCE:
        return argmax
    found = []
    for _ in range(n_resamples):  # started at the optimum on all rows
        if time.monotonic() > end:
            break
        if by_rows is None:
            drawn = weight * rng.exponential(size=n_rows)
            found.append(_coordinate_descent(logs, y, loss, drawn, best, end=end))
        else:
            rows = np.asarray(rng.integers(n_rows, size=n_rows))
            some = by_rows.take(rows)
            found.append(_coordinate_descent(logs[rows], y[rows], some, None, best, end=end))
    return np.mean(found or [best], axis=0)


def _n_resamples(loss: Loss, n_rows: int, n_classes: int) -> int:
    """Return the number of resamples, bounded by the work or the calls of a scorer."""
    if isinstance(loss, ScorerLoss):
        return _MAX_CALLS // _n_cuts(loss, 2) if n_classes == 2 else 0
    fewest = 1 if n_classes == 2 else 0
    return int(np.clip(_MAX_WORK // (n_rows * n_classes), fewest, _N_RESAMPLES))


def _n_cuts(loss: Loss, n_classes: int) -> int:
    """Return the maximum number of positions of an offset in a line search."""
    if isinstance(loss, ScorerLoss):
        return int(np.clip(_MAX_CALLS // (_MAX_ROUNDS * n_classes), _MIN_CALLS, _MAX_CALLS // 8))
    return max(_MIN_CUTS, _MAX_COUNTS // n_classes**2)


def _coordinate_descent(
    logarithms: FloatArray,
    y: IntArray,
    loss: Any,
    weight: FloatArray | None,
    start: FloatArray,
    n_rounds: int = 1,
    end: float = math.inf,
) -> FloatArray:
    """Optimize one offset at a time until the loss does not decrease or the clock is at `end`.

    The offsets have mean 0.
    """
    n_classes = logarithms.shape[1]
    offsets = start.copy()
    best = np.inf
    for _ in range(n_rounds):
        before = best
        for c in [1] if n_classes == 2 else range(n_classes):
            if time.monotonic() > end:
                return offsets - offsets.mean()
            offset, value = _line_search(logarithms, offsets, c, y, loss, weight)
            if value < best - _TOLERANCE:
                offsets[c], best = offset, value
        if not best < before:
            break
    return offsets - offsets.mean()


def _line_search(
    logarithms: FloatArray,
    offsets: FloatArray,
    c: int,
    y: IntArray,
    loss: Any,
    weight: FloatArray | None,
) -> tuple[float, float]:
    """Return the best offset of class c, with the other offsets fixed, and its loss."""
    others = logarithms + offsets
    others[:, c] = -np.inf
    rival = np.argmax(others, axis=1)
    # a row has the label c if the offset is larger than its critical value
    critical = others[np.arange(len(y)), rival] - logarithms[:, c]
    order = np.argsort(critical, kind="stable")
    critical = critical[order]
    n_classes = logarithms.shape[1]
    places = np.flatnonzero(np.diff(critical, prepend=-np.inf, append=np.inf) > 0)
    cuts = _subsample_cuts(places, y[order] == c, _n_cuts(loss, n_classes))
    if weight is None:
        rank = np.argsort(order)
        blocks = (np.eye(n_classes)[np.where(rank < cut, c, rival)][None] for cut in cuts)
        values = np.array([loss(y, block)[0] for block in blocks])
    else:
        values = _losses_after(loss, cuts, c, y[order], rival[order], weight[order], n_classes)
    j = int(np.argmin(np.where(np.isnan(values), np.inf, values)))
    padded = np.concatenate([[critical[0] - 1.0], critical, [critical[-1] + 1.0]])
    return float(0.5 * (padded[cuts[j]] + padded[cuts[j] + 1])), float(values[j])


def _subsample_cuts(cuts: IntArray, members: NDArray[np.bool_], n_cuts: int) -> IntArray:
    """Return a subset of the cuts, half spaced evenly over all rows, half over the class."""
    if len(cuts) <= n_cuts:
        return cuts
    mass = np.arange(len(members) + 1) / len(members)
    mass[1:] += np.cumsum(members) / max(1, members.sum())
    wanted = np.linspace(0.0, mass[-1], n_cuts)
    return np.unique(cuts[np.minimum(np.searchsorted(mass[cuts], wanted), len(cuts) - 1)])


def _losses_after(
    loss: LabelLoss | ScorerLoss,
    cuts: IntArray,
    c: int,
    y: IntArray,
    labels: IntArray,
    weight: FloatArray,
    n_classes: int,
) -> FloatArray:
    """Return the losses after the first ``cuts[j]`` rows got the label c.

    A vectorized loss needs two numbers per class and cut, a scorer one confusion matrix per cut.
    """
    moved = np.full_like(labels, c)
    if isinstance(loss, ScorerLoss):
        cells = n_classes * y
        confusion = _totals_after(
            cuts, cells + labels, cells + moved, weight, weight, n_classes**2
        )
        return loss.from_confusion(confusion.reshape(-1, n_classes, n_classes))
    hits = _totals_after(cuts, labels, moved, weight * (y == labels), weight * (y == c), n_classes)
    predicted = _totals_after(cuts, labels, moved, weight, weight, n_classes)
    true: FloatArray = np.bincount(y, weights=weight, minlength=n_classes).astype(np.float64)
    return loss.from_counts(hits, predicted, true)


def _totals_after(
    cuts: IntArray,
    before: IntArray,
    after: IntArray,
    removed: FloatArray,
    added: FloatArray,
    n_cells: int,
) -> FloatArray:
    """Return the total of each cell after the first ``cuts[j]`` rows moved, (n_cuts, n_cells).

    A row moves from its cell `before` to the cell `after`: its weight `removed` leaves the first
    one, and `added` comes to the second one.
    """
    segment = n_cells * np.searchsorted(cuts, np.arange(len(before)), side="right")
    size = n_cells * (len(cuts) + 1)
    moves = np.bincount(segment + after, weights=added, minlength=size)
    moves -= np.bincount(segment + before, weights=removed, minlength=size)
    start = np.bincount(before, weights=removed, minlength=n_cells)
    totals = np.asarray(start + np.cumsum(moves.reshape(-1, n_cells), axis=0)[:-1], np.float64)
    # empty cells have rounding errors
    totals[totals < _TOLERANCE * max(removed.sum(), added.sum())] = 0.0
    return totals


def _targets(y: IntArray, n_classes: int) -> FloatArray:
    """Return the probability of each class given the true one, (n_samples, n_classes).

    A class of n rows has (n + 1) / (n + 2), as in Platt's scaling; the others share the rest.
    """
    doubt = 1.0 / (np.bincount(y, minlength=n_classes)[y] + 2.0)
    targets = np.repeat(doubt[:, None] / (n_classes - 1), n_classes, axis=1)
    targets[np.arange(len(y)), y] = 1.0 - doubt
    return targets


def _row_losses(loss: Loss, targets: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return the loss of each row, (n_samples,)."""
    if isinstance(loss, LogLoss):
        logarithms = np.log(np.maximum(probabilities, np.finfo(np.float64).eps))
        return -np.asarray((targets * logarithms).sum(axis=1))
    return np.asarray(((probabilities - targets) ** 2).sum(axis=1))
