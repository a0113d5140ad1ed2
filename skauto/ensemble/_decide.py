"""Choose the decision of an ensemble: temperature, class offsets and thresholds."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from skauto.constraints import Evidence, GroupConstraint
from skauto.constraints._checker import CheckResult, ConstraintChecker
from skauto.constraints._evidence import Margin
from skauto.data import TrainingData
from skauto.ensemble._group_scores import GroupScores, ObservedGroups, PredictedGroups
from skauto.history import OutOfFold, Trial
from skauto.model import Decision
from skauto.model._decision import SignalThreshold
from skauto.schedule import seconds_of_offsets
from skauto.selection import ErrorLoss, LabelLoss, Loss, RateLimit, choose_decision
from skauto.selection._rates import choose_signal_thresholds, expected_labels
from skauto.utils import Budget, FloatArray, IntArray

# Number of parts of the rows: thresholds of a part are chosen on the others. Above the maximum
# number of rows, thresholds hardly overfit.
_N_PARTS, _MAX_CROSS_FITTED = 3, 5_000
# Without a safety margin, decisions aim at an upper bound within the limit, at this confidence.
_AIM = Margin(n_errors=1.645, confidence=0.95)
# Factors of the limits to try in turn. The smallest are for decisions that violate the limits
# otherwise.
_AIMING, _STRICTER = (1.0, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1), (0.05, 0.02)
# Share of the loss reduction over a constant label that smaller bounds may cost. With small
# groups, only nearly constant labels may have bounds within the limits.
_MAX_COST = 0.5


@dataclass(frozen=True)
class DecisionPair:
    """A decision for the out-of-fold predictions and the same decision for new rows."""

    out_of_fold: Decision | None = None
    deployed: Decision | None = None


class DecisionChooser:
    """Choose decisions of ensembles on their out-of-fold predictions.

    "argmax" always predicts the most probable class. "group_thresholds" reads the groups of
    constraints from columns of X, see `ObservedGroups`; it raises a ValueError if it has no limit
    to keep, or too many groups. A decision can keep upper limits on rates of labels of two
    classes; `search_checker` has the other constraints. Class offsets are chosen within the time
    that is left of the `budget`.
    """

    def __init__(
        self,
        data: TrainingData,
        checker: ConstraintChecker,
        decision: str,
        budget: Budget | None = None,
    ) -> None:
        self.data = data
        self.budget = budget or Budget()
        self.checker = checker
        self.decision = decision
        self.search_checker = checker
        self._limits: list[RateLimit] = []
        self._aim = ConstraintChecker()
        self._known_groups: ObservedGroups | None = None
        if decision != "argmax" and data.n_classes == 2:
            self._find_limits()
        if decision == "group_thresholds":
            self._known_groups = self._read_groups()

    def _find_limits(self) -> None:
        checker, data = self.checker, self.data
        limited = [c for c in checker.constraints if math.isfinite(c.limit)]
        rows = np.arange(len(data.y))
        every = Evidence.of(data, np.empty((len(rows), 0)), rows) if limited else None
        by_key = {} if every is None else {c.key: c.rate_limits(every) for c in limited}
        self.search_checker = checker.without([key for key, limits in by_key.items() if limits])
        self._limits = [limit for limits in by_key.values() for limit in limits]
        if checker.margin == Margin():
            self._aim = ConstraintChecker([c for c in limited if by_key[c.key]], data, margin=_AIM)

    def _read_groups(self) -> ObservedGroups:
        others = self.search_checker.constraints
        compared = [
            c
            for c in self.checker.constraints
            if c not in others and isinstance(c, GroupConstraint)
        ]
        if not compared:
            raise ValueError(
                "decision='group_thresholds' needs two classes, and a limit of "
                "StatisticalParity, EqualOpportunity or EqualizedOdds among the constraints. Got "
                f"{self.data.n_classes} classes and {[c.key for c in self.checker.constraints]}; "
                "use decision='auto'."
            )
        return ObservedGroups(compared, self.data)

    @property
    def keeps_limits(self) -> bool:
        """Whether a decision can keep a limit."""
        return bool(self._limits)

    @property
    def depends_on_labels(self) -> bool:
        """Whether a limit may depend on the decision."""
        return not all(constraint.additive for constraint in self.checker.constraints)

    @property
    def n_groups(self) -> int:
        """Number of groups with a limit that a decision can keep."""
        return sum(len(limit.sets) for limit in self._limits)

    @cached_property
    def signals(self) -> GroupScores:
        """Known groups, or models of the groups, fitted on first use."""
        return self._known_groups or PredictedGroups(self._limits, self.data)

    def choose(
        self, trials: Sequence[Trial], shares: FloatArray, rows: IntArray, loss: Loss
    ) -> DecisionPair:
        """Choose the decision of an ensemble of trials with weights `shares` on some rows.

        It has the smallest `loss` on these rows among those whose upper bounds of the constrained
        rates are within the limits on the out-of-fold predictions. If there is none, it has the
        smallest bounds among those that keep the limits, while its labels remain useful
        (`_MAX_COST`), else the least violation.
        """
        if self.decision == "argmax":
            return DecisionPair()
        mean = OutOfFold.mean(trials, shares).predictions
        plain = choose_decision(
            mean[rows],
            self.data.y[rows],
            loss,
            rng=np.random.default_rng(0),
            sample_weight=self.data.weights_of(rows),
            seconds=seconds_of_offsets(self.budget),
        )
        if not self.depends_on_labels:
            return DecisionPair(plain, plain)
        nearest, least = DecisionPair(plain, plain), math.inf  # by violation
        feasible: DecisionPair | None = None
        surest, excess = nearest, math.inf
        for stricter, pair in self._candidates(plain, mean, rows, loss):
            if stricter and feasible is not None:
                break
            decision = pair.out_of_fold
            violation = _violation(self.checker.check(trials, shares, decision=decision))
            if violation > 0.0:
                if violation < least:
                    nearest, least = pair, violation
                continue
            feasible = feasible or pair
            beyond = _violation(self._aim.check(trials, shares, decision=decision))
            if beyond < excess and not self._costs_too_much((pair, feasible), mean, rows, loss):
                surest, excess = pair, beyond
            if excess == 0.0:
                break
        return surest if feasible is not None else nearest

    def _costs_too_much(
        self, pairs: Sequence[DecisionPair], mean: FloatArray, rows: IntArray, loss: Loss
    ) -> bool:
        """Whether the aim costs too much of what a feasible decision gains over constant labels.

        `pairs` are a decision with smaller bounds and the first feasible one.
        """
        y = self.data.y[rows]
        decisions = [pair.out_of_fold for pair in pairs if pair.out_of_fold is not None]
        labels = [decision.labels(decision.scale(mean))[rows] for decision in decisions]
        codes = range(self.data.n_classes)
        constants = [np.full_like(y, code) for code in codes]
        predictions = np.eye(len(codes))[np.stack([*labels, *constants])]
        losses = _label_loss(loss)(y, predictions, self.data.weights_of(rows))
        aimed, feasible, constant = losses[0], losses[1], losses[2:].min()
        return bool(aimed - feasible > _MAX_COST * max(constant - feasible, 0.0))

    def _candidates(
        self, plain: Decision, mean: FloatArray, rows: IntArray, loss: Loss
    ) -> Iterator[tuple[bool, DecisionPair]]:
        """Decisions in the order of their check, and whether each is used only without another."""
        yield False, DecisionPair(plain, plain)
        if self.keeps_limits:
            for factors in (_AIMING, _STRICTER):
                for pair in self._within_limits(plain, mean, rows, loss, factors):
                    yield factors is _STRICTER, pair
        if plain.offsets.any():
            argmax = replace(plain, offsets=np.zeros_like(plain.offsets))
            yield True, DecisionPair(argmax, argmax)

    def _within_limits(
        self,
        plain: Decision,
        mean: FloatArray,
        rows: IntArray,
        loss: Loss,
        factors: Sequence[float],
    ) -> Iterator[DecisionPair]:
        """Thresholds that keep the limits on rates, by decreasing factor of the limits.

        With few rows they are cross-fitted: those of the out-of-fold predictions are chosen on the
        other parts of the rows, so that limits are not measured on rows that chose the thresholds.
        """
        positive = np.asarray(plain.scale(mean)[:, 1], dtype=np.float64)
        signals = self.signals.out_of_fold(positive)
        on_all = self._rules(positive, signals, rows, loss, factors)
        n_parts = _N_PARTS if len(rows) <= _MAX_CROSS_FITTED else 0
        part = np.random.default_rng(0).permutation(len(rows)) % max(1, n_parts)
        on_others = [
            self._rules(positive, signals, rows[part != k], loss, factors) for k in range(n_parts)
        ]
        seen: set[tuple[float, ...]] = set()
        for i, rule in enumerate(on_all):
            if rule is None or (key := (rule.base, *rule.strengths)) in seen:
                continue
            seen.add(key)
            offsets = rule.offsets(signals)
            for k, rules in enumerate(on_others):
                own = rows[part == k]
                offsets[own] = (rules[i] or rule).offsets(signals[own])
            deployed = self.signals.decision(rule, plain)
            yield DecisionPair(replace(plain, offsets=offsets), deployed)

    def _rules(
        self,
        positive: FloatArray,
        signals: FloatArray,
        rows: IntArray,
        loss: Loss,
        factors: Sequence[float],
    ) -> list[SignalThreshold | None]:
        """Thresholds that keep the limits on some rows, one for each factor."""
        y, weight = self.data.y[rows], self.data.weights_of(rows)
        label_loss = _label_loss(loss)
        return choose_signal_thresholds(
            positive[rows],
            expected_labels(positive[rows], y, weight) if label_loss == ErrorLoss() else y,
            label_loss,
            [RateLimit(limit.sets[:, rows], limit.upper, limit.kind) for limit in self._limits],
            signals[rows],
            max_strength=self.signals.max_strength,
            tightness=factors,
            sample_weight=weight,
        )


def decided_labels(predictions: FloatArray, rows: IntArray, decision: Decision | None) -> IntArray:
    """Class codes of some rows after the decision; the most probable class for None."""
    if decision is None:
        return np.asarray(np.argmax(predictions[rows], axis=1))
    return decision.take(rows).labels(decision.scale(predictions[rows]))


def all_labels(out_of_fold: OutOfFold, decision: Decision | None) -> IntArray:
    """Class codes (n_samples,) after the decision, -1 in rows without predictions."""
    labels = np.full(len(out_of_fold.predictions), -1)
    rows = out_of_fold.rows
    labels[rows] = decided_labels(out_of_fold.predictions, rows, decision)
    return labels


def _label_loss(loss: Loss) -> LabelLoss:
    """Loss of labels that thresholds minimize: the error rate for losses of probabilities."""
    return loss if isinstance(loss, LabelLoss) else ErrorLoss()


def _violation(check: CheckResult) -> float:
    """Sum of the violations of constraints that depend on the decision."""
    return sum(m.violation for m in check.measurements if not m.constraint.additive)
