"""Group signals: thresholds that depend on predicted groups, for limits on rates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier

from skauto.data import TrainingData
from skauto.selection import Decision, RateLimit, SignalThreshold
from skauto.utils import FloatArray, IntArray

# Settings of the models of the groups.
_ROUNDS = 100
_LEAVES = 15
_LEARNING_RATE = 0.08
_MAX_ROWS = 20_000
# Limits on more groups get no signals, because each group adds a strength to optimize.
_MAX_GROUPS = 6


@dataclass(frozen=True)
class GroupModel:
    r"""Signals of one limit on the spread of rates between groups.

    The signal of group :math:`g` against group 0 is

    .. math:: w(x) \left(\frac{P(g \mid x)}{P(g)} - \frac{P(0 \mid x)}{P(0)}\right)

    among the rows over which the rate is taken. The weight :math:`w` is the probability that a row
    is one of them: 1 for the rate of positive labels, :math:`P(y \mid x)` for the true positive
    rate.

    Parameters
    ----------
    model : estimator
        Predicts the group from the numeric matrix.
    shares : ndarray of shape (n_groups,)
        Frequencies of the groups.
    weight : {"all", "positive", "negative"}
        Rows over which the rate is taken.
    """

    model: Any
    shares: FloatArray
    weight: str

    def signals(self, Z: Any, positive: FloatArray) -> FloatArray:
        """Signals of all groups but the first, of shape (n_samples, n_groups - 1).

        `Z` is the numeric matrix and `positive` the probability of the positive class.
        """
        known = np.zeros((Z.shape[0], len(self.shares)))
        known[:, self.model.classes_] = self.model.predict_proba(Z)
        ratios = known / self.shares
        weights = {"all": np.ones_like(positive), "positive": positive, "negative": 1 - positive}
        return np.asarray((ratios[:, 1:] - ratios[:, :1]) * weights[self.weight][:, None])


@dataclass(frozen=True)
class SignalDecision(Decision):
    """Labels of two classes by a threshold that depends on group signals.

    Parameters
    ----------
    offsets : ndarray of shape (2,)
        Class offsets of a row whose signals are 0; see `Decision`.
    temperature : float, default=1.0
        See `Decision`.
    rule : SignalThreshold
        Threshold and strengths of the signals.
    models : tuple of GroupModel
        Models of the signals.
    """

    rule: SignalThreshold = field(default_factory=lambda: SignalThreshold(0.5, np.empty(0)))
    models: tuple[GroupModel, ...] = ()

    def at(self, Z: Any, probabilities: Any) -> Decision:
        """Return the decision for some rows."""
        signals = _joined([m.signals(Z, probabilities[:, 1]) for m in self.models], Z.shape[0])
        return Decision(self.rule.offsets(signals), self.temperature)


class GroupSignals:
    """Models of the groups, fitted on the training rows of each fold and on all rows.

    Parameters
    ----------
    limits : sequence of RateLimit
        Limits on all rows of the data.
    data : TrainingData
        Training data with folds.
    seed : int, default=0
        Seed of the models and of the samples of rows.

    Attributes
    ----------
    models : tuple of GroupModel
        One model per set of groups with a limit on a difference of rates.
    """

    def __init__(self, limits: Sequence[RateLimit], data: TrainingData, seed: int = 0) -> None:
        self.data = data
        self.seed = seed
        self.models: tuple[GroupModel, ...] = ()
        self._folds: list[list[GroupModel]] = []
        seen: list[RateLimit] = []
        for limit in limits:
            known = any(np.array_equal(limit.sets, other.sets) for other in seen)
            if limit.kind != "spread" or len(limit.sets) > _MAX_GROUPS or known:
                continue
            seen.append(limit)
            self._fit(limit)

    def out_of_fold(self, positive: FloatArray) -> FloatArray:
        """Out-of-fold signals (n_samples, n_signals); 0 in rows that no fold validates.

        `positive` is the out-of-fold probability of the positive class.
        """
        columns = []
        for folds in self._folds:
            signals = np.zeros((len(positive), len(folds[0].shares) - 1))
            for model, (_, test) in zip(folds, self.data.splits, strict=True):
                signals[test] = model.signals(self.data.Z[test], positive[test])
            columns.append(signals)
        return _joined(columns, len(positive))

    def decision(self, rule: SignalThreshold, temperature: float = 1.0) -> SignalDecision:
        """Return the decision for new rows, with the models fitted on all rows."""
        plain = SignalThreshold(rule.base, np.zeros(0)).offsets(np.empty((1, 0)))[0]
        return SignalDecision(plain - plain.mean(), temperature, rule, self.models)

    def _fit(self, limit: RateLimit) -> None:
        members = np.flatnonzero(limit.sets.any(axis=0))
        codes = np.argmax(limit.sets, axis=0)
        classes = np.unique(self.data.y[members])
        weight = "all" if len(classes) > 1 else ("negative", "positive")[int(classes[0])]
        shares = limit.sets[:, members].mean(axis=1)

        def model(rows: IntArray) -> GroupModel:
            rows = rows[limit.sets[:, rows].any(axis=0)]
            if len(rows) > _MAX_ROWS:
                rng = np.random.default_rng(self.seed)
                rows = np.sort(rng.choice(rows, _MAX_ROWS, replace=False))
            return GroupModel(self._classifier(rows, codes[rows]), shares, weight)

        self._folds.append([model(train) for train, _ in self.data.splits])
        self.models += (model(members),)

    def _classifier(self, rows: IntArray, codes: IntArray) -> LGBMClassifier:
        reader = self.data.reader
        classifier = LGBMClassifier(
            n_estimators=_ROUNDS,
            num_leaves=_LEAVES,
            learning_rate=_LEARNING_RATE,
            random_state=self.seed,
            n_jobs=1,
            verbose=-1,
        )
        categories = [] if reader is None else list(reader.categorical_indices_)
        return classifier.fit(self.data.Z[rows], codes, categorical_feature=categories or "auto")


def _joined(columns: Sequence[FloatArray], n_rows: int) -> FloatArray:
    return np.hstack(columns) if columns else np.empty((n_rows, 0))
