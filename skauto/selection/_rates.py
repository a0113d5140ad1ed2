"""Row-dependent thresholds under limits on the rates of positive labels (fairness)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skauto.model._decision import SignalThreshold
from skauto.selection._label_losses import LabelLoss
from skauto.utils import BoolArray, FloatArray, IntArray

# Grid of the strength of a signal, per standard deviation of the signal: coarse over the whole
# range, then finer between the neighbors of the best value.
_MAX_STRENGTH = 0.6
_N_STRENGTHS = 49
_N_FINER = 13
# Number of rounds of coordinate descent over several signals.
_N_ROUNDS = 2
# Number of steps of dual ascent over several signals.
_N_STEPS = 30
# Maximum number of thresholds that are evaluated while the strengths are optimized.
_MAX_CUTS = 1_000
# Penalty factor of constraint violations in the loss.
_PENALTY = 10.0
# Standard errors that the best threshold may be more accurate by than 1/2.
_N_ERRORS = 2.0


@dataclass(frozen=True)
class RateLimit:
    """An upper limit on rates of positive labels.

    Parameters
    ----------
    sets : ndarray of bool of shape (n_sets, n_samples)
        Masks of the sets of rows, such as groups; the rate of a set is its share of positive
        labels.
    upper : float
        The limit.
    kind : {"spread", "rate", "rest"}, default="spread"
        The limited value. "spread": the difference of the largest and the smallest rate. "rate":
        the largest rate. "rest": the largest share of negative labels.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.selection import RateLimit
    >>> men = np.array([True, True, False, False])
    >>> limit = RateLimit(np.array([men, ~men]), upper=0.1)
    >>> limit.measure(np.array([[1.0, 0.5]]))
    array([0.5])
    """

    sets: BoolArray
    upper: float
    kind: str = "spread"

    def measure(self, shares: FloatArray) -> FloatArray:
        """Return the limited value of each row of rates, (n, n_sets) -> (n,)."""
        if self.kind == "spread":
            return np.asarray(shares.max(axis=1) - shares.min(axis=1))
        return np.asarray((shares if self.kind == "rate" else 1.0 - shares).max(axis=1))


def expected_labels(
    positive: FloatArray, y: IntArray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Return labels for the error rate: the probabilities if they are calibrated, else `y`.

    Thresholds that minimize the expected error overfit less than those that minimize the observed
    one, because the labels are noisy. But the probabilities must be calibrated where labels
    change: the best single threshold may be more accurate than 1/2 by at most two standard
    errors, those of a sum of random signs over the rows between both thresholds.
    """
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    order = np.argsort(positive)
    errors = np.concatenate([[0.0], np.cumsum((weight * (2 * y - 1))[order])])
    cuts = np.flatnonzero(np.diff(positive[order], prepend=-np.inf, append=np.inf) > 0)
    half = np.searchsorted(positive[order], 0.5, side="right")
    best = cuts[np.argmin(errors[cuts])]
    between = weight[order][min(half, best) : max(half, best)]
    is_worse = errors[half] - errors[best] > _N_ERRORS * np.sqrt(np.sum(between**2))
    return np.asarray(y if is_worse else positive, dtype=np.float64)


def choose_signal_thresholds(
    positive: FloatArray,
    y: FloatArray | IntArray,
    loss: LabelLoss,
    limits: Sequence[RateLimit],
    signals: FloatArray,
    *,
    max_strength: float = np.inf,
    tightness: Sequence[float] = (1.0,),
    sample_weight: FloatArray | None = None,
) -> list[SignalThreshold | None]:
    r"""Fit the thresholds of least loss under limits on rates.

    The most accurate classifier under a limit on the difference of rates between groups labels a
    row positive if :math:`P(y \mid x) > t + \sum_g \lambda_g s_g(x)`. The signals :math:`s_g` are
    functions of the probabilities of the groups given the row, so that the group need not be known
    [1]_. The strengths :math:`\lambda_g` are optimized by coordinate descent on a grid; for each
    value, at most 1,000 thresholds :math:`t` are evaluated at once, and all for the best values.
    Several strengths start at the point that dual ascent finds.

    `positive` (n_samples,) has the out-of-fold probability of the positive class. `y` is 1 for
    rows of this class, or the probability of it: the loss is then an expected one, see
    `expected_labels`. `signals` has the shape (n_samples, n_signals); without signals, all rows
    have the same threshold. `max_strength` bounds absolute strengths: for signals of 0 and 1 a
    difference of thresholds of more than 1 has no effect. `tightness` has factors of the limits;
    the result has the best threshold of each factor, None if none is feasible. Sample weights
    apply to the loss, not to the rates.

    References
    ----------
    .. [1] A. K. Menon and R. C. Williamson, "The cost of fairness in binary classification",
       FAT* 2018.
    """
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    search = _Search(positive, y, loss, limits, signals, tightness, weight)
    n_signals = signals.shape[1]
    deviations = np.maximum(signals.std(axis=0), 1e-6)
    scales = np.minimum(_MAX_STRENGTH / deviations, max_strength)
    strengths: FloatArray = np.zeros(n_signals)
    if n_signals > 1:
        strengths = search.balance(scales / deviations)
    search.evaluate(strengths)
    for _ in range(_N_ROUNDS if n_signals > 1 else 1):
        for j in range(n_signals):
            steps = np.linspace(-scales[j], scales[j], _N_STRENGTHS)
            strengths = search.optimize(strengths, j, steps)
            width = steps[1] - steps[0]
            strengths = search.optimize(strengths, j, np.linspace(-width, width, _N_FINER))
    for rule in filter(None, list(search.best)):
        search.evaluate(rule.strengths, len(y) + 1)
    return search.best


@dataclass
class _Search:
    """Data of the search over strengths, and the best feasible rule of each tightness."""

    positive: FloatArray
    y: FloatArray | IntArray
    loss: LabelLoss
    limits: Sequence[RateLimit]
    signals: FloatArray
    tightness: Sequence[float]
    weight: FloatArray

    def __post_init__(self) -> None:
        self.losses = [np.inf] * len(self.tightness)
        self.best: list[SignalThreshold | None] = [None] * len(self.tightness)

    def balance(self, rates: FloatArray) -> FloatArray:
        """Return strengths for which labels and signals are uncorrelated, by dual ascent.

        A search along one strength at a time does not find such a point: while another difference
        of rates remains, equal labels for all rows have the smallest penalized loss. `rates` are
        the sizes of the first step.
        """
        spreads = [limit.sets.any(axis=0) for limit in self.limits if limit.kind == "spread"]
        members = np.any(spreads or np.ones((1, len(self.y)), dtype=bool), axis=0)
        centered = self.signals - self.signals[members].mean(axis=0)
        centered = centered * members[:, None] / members.sum()
        strengths: FloatArray = np.zeros(len(rates))
        for step in range(_N_STEPS):
            self.evaluate(strengths)
            _, order, cuts, losses = self._thresholds(strengths)
            n_positive = cuts[int(np.argmin(losses))]
            covariances = centered[order[:n_positive]].sum(axis=0)
            strengths = strengths + rates * covariances / np.sqrt(step + 1.0)
        return strengths

    def optimize(self, strengths: FloatArray, j: int, steps: FloatArray) -> FloatArray:
        """Return strengths with the step of strength j that minimizes the penalized loss."""
        tried = [(self.evaluate(strengths), strengths)]
        for step in steps:
            moved = strengths.copy()
            moved[j] += step
            tried.append((self.evaluate(moved), moved))
        return min(tried, key=lambda pair: pair[0])[1]

    def _thresholds(
        self, strengths: FloatArray, max_cuts: int = _MAX_CUTS
    ) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
        """Return scores in descending order, their rows, and the cuts of the order with losses."""
        scores = self.positive - self.signals @ strengths
        order = np.argsort(-scores)  # cuts lie between ties
        ordered = scores[order]
        cuts = np.flatnonzero(np.diff(ordered, prepend=np.inf, append=-np.inf) < 0)
        if len(cuts) > max_cuts:
            cuts = cuts[np.linspace(0, len(cuts) - 1, max_cuts).astype(np.intp)]
        losses = self.loss.from_confusion(self._confusion(order, cuts))
        return ordered, order, cuts, np.where(np.isnan(losses), np.inf, losses)

    def evaluate(self, strengths: FloatArray, max_cuts: int = _MAX_CUTS) -> float:
        """Evaluate thresholds for some strengths; return the smallest penalized loss."""
        ordered, order, cuts, losses = self._thresholds(strengths, max_cuts)
        excess = np.zeros(len(cuts))
        relative = np.zeros(len(cuts))
        for limit in self.limits:
            counts = np.cumsum(np.take(limit.sets, order, axis=1), axis=1, dtype=np.int32)
            shares = np.where(cuts, counts[:, cuts - 1], 0) / np.maximum(counts[:, -1:], 1)
            values = limit.measure(shares.T)
            excess += np.maximum(values - limit.upper * min(self.tightness), 0.0)
            relative = np.maximum(relative, values / max(limit.upper, 1e-12))
        padded = np.concatenate([[ordered[0] + 1e-3], ordered, [ordered[-1] - 1e-3]])
        middles = 0.5 * (padded[cuts] + padded[cuts + 1])
        for i, factor in enumerate(self.tightness):
            kept = np.where(relative <= factor, losses, np.inf)
            k = int(np.argmin(kept))
            if kept[k] < self.losses[i]:
                self.losses[i] = float(kept[k])
                self.best[i] = SignalThreshold(float(middles[k]), strengths)
        return float((losses + _PENALTY * excess).min())

    def _confusion(self, order: IntArray, cuts: IntArray) -> FloatArray:
        """Return the confusion matrices with the first ``cuts[i]`` rows labeled positive."""
        weight, y = self.weight[order], self.y[order]
        hits = np.concatenate([[0.0], np.cumsum(weight * y)])
        alarms = np.concatenate([[0.0], np.cumsum(weight * (1 - y))])
        cells = [alarms[-1] - alarms, alarms, hits[-1] - hits, hits]
        return np.stack([cell[cuts] for cell in cells], axis=1).reshape(-1, 2, 2)
