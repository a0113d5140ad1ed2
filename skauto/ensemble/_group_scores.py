"""Group signals: thresholds that depend on predicted or known groups, for limits on rates."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from lightgbm import LGBMClassifier

from skauto.constraints import GroupConstraint
from skauto.data import TrainingData
from skauto.data._table import column_of, names_or_numbers
from skauto.model import Decision
from skauto.model._decision import GroupIndicators, GroupModel, SignalDecision, SignalThreshold
from skauto.model._groups import crossed_codes, group_names
from skauto.selection import RateLimit
from skauto.utils import FloatArray, IntArray

# Settings of the models of the groups.
_ROUNDS = 100
_LEAVES = 15
_LEARNING_RATE = 0.08
_MAX_ROWS = 20_000
# Limits on more groups get no signals, because each group adds a strength to optimize.
_MAX_GROUPS = 6


class GroupScores(ABC):
    """Signals of the groups in the training data, and the `models` that give those of new rows."""

    models: Sequence[GroupModel | GroupIndicators]
    max_strength = np.inf  # largest absolute strength of a signal

    @abstractmethod
    def out_of_fold(self, positive: FloatArray) -> FloatArray:
        """Out-of-fold signals (n_samples, n_signals) by the probability of the positive class."""

    def decision(self, rule: SignalThreshold, calibrated: Decision) -> SignalDecision:
        """Return the decision for new rows, with the models fitted on all rows."""
        plain = SignalThreshold(rule.base, np.zeros(0)).offsets(np.empty((1, 0)))[0]
        offsets, models = plain - plain.mean(), tuple(self.models)
        return SignalDecision(offsets, calibrated.temperature, calibrated.shift, rule, models)


class ObservedGroups(GroupScores):
    """Indicators of the groups of constraints, with which each group has a threshold of its own.

    The largest group has no signal, nor have groups with fewer rows than the ``min_group_size`` of
    the constraint: they have the common threshold. More than six large groups raise a ValueError.
    """

    max_strength = 1.0  # a difference of probabilities

    def __init__(self, constraints: Sequence[GroupConstraint], data: TrainingData) -> None:
        min_sizes: dict[tuple[str, ...], int] = {}
        for constraint in constraints:
            for features in constraint.groupings:
                size = constraint.min_group_size
                min_sizes[features] = min(size, min_sizes.get(features, size))
        self._codes = [crossed_codes([data.sensitive[n] for n in names]) for names in min_sizes]
        self.models: list[GroupIndicators] = [
            _group_indicators(features, codes, size, data)
            for (features, size), codes in zip(min_sizes.items(), self._codes, strict=True)
        ]

    def out_of_fold(self, positive: FloatArray) -> FloatArray:
        """Signals of the training rows (n_samples, n_signals)."""
        pairs = zip(self.models, self._codes, strict=True)
        columns = [indicators.indicate(codes) for indicators, codes in pairs]
        return np.hstack([np.empty((len(positive), 0)), *columns])


def _group_indicators(
    features: tuple[str, ...], codes: IntArray, min_size: int, data: TrainingData
) -> GroupIndicators:
    """Indicators of all large groups but the largest."""
    validated = np.unique(np.concatenate([rows for _, rows in data.splits]))
    found, sizes = np.unique(codes[validated], return_counts=True)
    large = found[np.argsort(-sizes, kind="stable")][: np.sum(sizes >= min_size)]
    if len(large) > _MAX_GROUPS:
        raise ValueError(
            f"decision='group_thresholds' allows {_MAX_GROUPS} groups of at least "
            f"min_group_size={min_size} rows. Got {len(large)} of {' x '.join(features)!r}; merge "
            "groups, or use decision='auto'."
        )
    names = names_or_numbers(data.X)
    groups = tuple(group_names(column_of(data.X, name), name) for name in features)
    return GroupIndicators(features, tuple(map(names.index, features)), groups, large[1:])


class PredictedGroups(GroupScores):
    """Models of the groups of each limit on a spread, fitted on each fold and on all rows."""

    def __init__(self, limits: Sequence[RateLimit], data: TrainingData) -> None:
        self.data = data
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
        """Out-of-fold signals (n_samples, n_signals); 0 in rows that no fold validates."""
        columns = [np.empty((len(positive), 0))]
        for folds in self._folds:
            signals = np.zeros((len(positive), len(folds[0].shares) - 1))
            for model, (_, test) in zip(folds, self.data.splits, strict=True):
                signals[test] = model.signals(None, self.data.Z[test], positive[test])
            columns.append(signals)
        return np.hstack(columns)

    def _fit(self, limit: RateLimit) -> None:
        members = np.flatnonzero(limit.sets.any(axis=0))
        codes = np.argmax(limit.sets, axis=0)
        classes = np.unique(self.data.y[members])
        weight = "all" if len(classes) > 1 else ("negative", "positive")[int(classes[0])]
        shares = limit.sets[:, members].mean(axis=1)

        def model(rows: IntArray) -> GroupModel:
            rows = rows[limit.sets[:, rows].any(axis=0)]
            if len(rows) > _MAX_ROWS:
                rng = np.random.default_rng(0)
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
            random_state=0,
            n_jobs=1,
            verbose=-1,
        )
        categories = [] if reader is None else list(reader.categorical_indices_)
        return classifier.fit(self.data.Z[rows], codes, categorical_feature=categories or "auto")
