"""Decisions: how the probabilities of an ensemble are scaled and become labels."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from skauto.data._table import as_table, column_at, column_names
from skauto.model._groups import crossed_codes, group_codes
from skauto.utils import FloatArray, IntArray

# Probabilities are clipped before the logarithm, at the resolution of float32.
SMALLEST = 1e-7


@dataclass(frozen=True)
class Decision:
    """Class offsets for labels, and the calibration of the probabilities.

    Parameters
    ----------
    offsets : ndarray of shape (n_classes,) or (n_samples, n_classes)
        Offsets of the log-probabilities, for all rows or for each row. The label is the class of
        the largest sum.
    temperature : float, default=1.0
        Divisor of the log-probabilities; values below 1 make the probabilities more confident.
    shift : ndarray of shape (n_classes,), default=None
        Addend of the log-probabilities after their division by the temperature; None: 0.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.model import Decision
    >>> decision = Decision(np.log([1.0, 4.0]))
    >>> decision.threshold
    0.2
    >>> decision.labels(np.array([[0.9, 0.1], [0.7, 0.3]]))
    array([0, 1])
    >>> Decision(np.zeros(2), temperature=0.5).scale(np.array([[0.75, 0.25]]))
    array([[0.9, 0.1]])
    """

    offsets: FloatArray
    temperature: float = 1.0
    shift: FloatArray | None = None

    @property
    def threshold(self) -> float:
        """Minimum probability of the second of two classes for which it is the label."""
        if len(self.offsets) != 2:
            raise AttributeError("A decision has a threshold for two classes only.")
        return round(float(expit(self.offsets[0] - self.offsets[1])), 12)

    def at(self, X: Any, Z: Any, probabilities: FloatArray) -> "Decision":
        """Return the decision for new rows; itself, because its offsets are for all rows.

        Subclasses whose offsets depend on the row override it. They may read the raw table, the
        numeric matrix and the probabilities of the ensemble.
        """
        return self

    def take(self, rows: IntArray) -> "Decision":
        """Return the decision for rows of these indices; itself without offsets by row."""
        return self if self.offsets.ndim == 1 else replace(self, offsets=self.offsets[rows])

    def scale(self, probabilities: FloatArray) -> FloatArray:
        """Return probabilities (n_samples, n_classes) after calibration."""
        if not self.calibrates:
            return probabilities
        shift = 0.0 if self.shift is None else self.shift
        return softmax(logarithms(probabilities) / self.temperature + shift, axis=1)

    @property
    def calibrates(self) -> bool:
        """Whether the probabilities are changed."""
        return self.temperature != 1.0 or (self.shift is not None and bool(self.shift.any()))

    def labels(self, probabilities: FloatArray) -> IntArray:
        """Return the class code of each row of probabilities (n_samples, n_classes)."""
        if not self.offsets.any():
            return np.argmax(probabilities, axis=1)
        return np.argmax(logarithms(probabilities) + self.offsets, axis=1)


@dataclass(frozen=True)
class CostDecision(Decision):
    """Labels of least expected cost, from the costs (n_classes, n_classes) of each prediction.

    A row of the costs is a true class, a column a prediction.
    """

    costs: FloatArray = field(default_factory=lambda: 1.0 - np.eye(2))

    def labels(self, probabilities: FloatArray) -> IntArray:
        """Return the class code of least expected cost of each row, the first one in a tie."""
        return np.argmin(probabilities @ self.costs, axis=1)


def logarithms(probabilities: FloatArray) -> FloatArray:
    """Logarithms of probabilities that are at least the resolution of float32."""
    return np.log(np.maximum(probabilities, SMALLEST, dtype=np.float64))


@dataclass(frozen=True)
class SignalThreshold:
    """A threshold on the positive class that is linear in signals of the row.

    `base` is the threshold of a row whose signals are all 0, and `strengths` (n_signals,) are the
    coefficients of the signals.
    """

    base: float
    strengths: FloatArray

    def offsets(self, signals: FloatArray) -> FloatArray:
        """Offsets (n_samples, 2) of `Decision` for signals (n_samples, n_signals) of the rows."""
        thresholds = np.clip(self.base + signals @ self.strengths, 1e-6, 1.0 - 1e-6)
        positive = np.log1p(-thresholds) - np.log(thresholds)
        return np.column_stack([np.zeros_like(positive), positive])


@dataclass(frozen=True)
class GroupModel:
    r"""Signals of one limit on the spread of rates between groups.

    The signal of group :math:`g` against the largest group, 0, is

    .. math:: w(x) \left(\frac{P(g \mid x)}{P(g)} - \frac{P(0 \mid x)}{P(0)}\right)

    among the rows over which the rate is taken. Against a small group, all signals would be nearly
    the same: large in its few rows. The weight :math:`w` is the probability that a row is one over
    which the rate is taken: 1 for the rate of positive labels, :math:`P(y \mid x)` for the true
    positive rate.
    """

    model: Any  # predicts the group from the numeric matrix
    shares: FloatArray  # frequencies of the groups, (n_groups,)
    weight: str  # rows over which the rate is taken: "all", "positive" or "negative"

    def signals(self, X: Any, Z: Any, positive: FloatArray) -> FloatArray:
        """Signals (n_samples, n_groups - 1) by numeric matrix and positive probability."""
        known = np.zeros((Z.shape[0], len(self.shares)))
        present = self.model.classes_  # LightGBM has two columns also for a single one
        known[:, present] = self.model.predict_proba(Z)[:, : len(present)]
        ratios = known / self.shares
        largest = np.argmax(self.shares)
        differences = np.delete(ratios, largest, axis=1) - ratios[:, [largest]]
        weights = {"all": np.ones_like(positive), "positive": positive, "negative": 1 - positive}
        return np.asarray(differences * weights[self.weight][:, None])


@dataclass(frozen=True)
class GroupIndicators:
    """Signals of groups that are read from columns of X: 1 in the rows of a group, else 0.

    The groups are the combinations of values of the sensitive `features`, which are at `positions`
    of X and had the values `groups` in ``fit``. Groups with the codes `own` have a signal.
    """

    features: tuple[str, ...]
    positions: tuple[int, ...]
    groups: tuple[list[str], ...]
    own: IntArray

    def signals(self, X: Any, Z: Any, positive: FloatArray) -> FloatArray:
        """Signals (n_samples, n_signals); an error for a group that fit has not seen."""
        named = column_names(X) is not None
        table = X if named else as_table(X)
        columns = zip(self.features, self.positions, self.groups, strict=True)
        codes = [
            group_codes(table[name] if named else column_at(table, position), name, groups)
            for name, position, groups in columns
        ]
        return self.indicate(crossed_codes(codes))

    def indicate(self, codes: IntArray) -> FloatArray:
        """Signals of rows with these codes of groups, of shape (n_samples, n_signals)."""
        return (codes[:, None] == self.own).astype(np.float64)


@dataclass(frozen=True)
class SignalDecision(Decision):
    """Labels of two classes by a threshold that depends on group signals.

    The `offsets` are those of a row whose signals are 0.
    """

    rule: SignalThreshold = field(default_factory=lambda: SignalThreshold(0.5, np.empty(0)))
    models: tuple[GroupModel | GroupIndicators, ...] = ()

    def at(self, X: Any, Z: Any, probabilities: Any) -> Decision:
        """Return the decision for some rows."""
        columns = [model.signals(X, Z, probabilities[:, 1]) for model in self.models]
        signals = np.hstack([np.empty((Z.shape[0], 0)), *columns])
        return Decision(self.rule.offsets(signals), self.temperature, self.shift)
