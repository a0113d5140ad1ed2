"""How a vote is read: for its score, and within the limits on rates."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skauto.constraints import Evidence, Gate, Verdict
from skauto.data import TrainingData
from skauto.ensemble._signals import GroupSignals
from skauto.history import Trial
from skauto.selection import (
    Decision,
    ErrorLoss,
    LabelLoss,
    Loss,
    RateLimit,
    choose_decision,
    choose_signal_thresholds,
)
from skauto.utils import FloatArray, IntArray

# Factors of the limits that are aimed at, until the gate lets a decision pass: the mean over the
# folds of a difference is larger than the difference on all rows.
_TIGHTNESS = (1.0, 0.9, 0.8, 0.65, 0.5, 0.3, 0.1)


@dataclass(frozen=True)
class Reading:
    """A decision as the out-of-fold predictions and as new rows take it.

    Parameters
    ----------
    out_of_fold : Decision or None
        For the rows of the data.
    deployed : Decision or None
        For new rows.
    """

    out_of_fold: Decision | None = None
    deployed: Decision | None = None


class DecisionChooser:
    """Choose how votes are read, on their out-of-fold predictions.

    Parameters
    ----------
    data : TrainingData
        Rows and folds.
    gate : Gate
        Knows the limits.
    decision : {"auto", "argmax"}
        Whether anything is chosen at all.

    Attributes
    ----------
    kept_by_decision : tuple of str
        Keys of the constraints that a decision can keep: upper limits on rates of labels, with
        two classes.
    """

    def __init__(self, data: TrainingData, gate: Gate, decision: str) -> None:
        self.data = data
        self.gate = gate
        self.decision = decision
        self.kept_by_decision: tuple[str, ...] = ()
        self._limits: list[RateLimit] = []
        if decision == "argmax" or data.n_classes != 2:
            return
        limited = [c for c in gate.constraints if math.isfinite(c.limit)]
        rows = np.arange(len(data.y))
        every = Evidence.of(data, np.empty((len(rows), 0)), rows) if limited else None
        by_key = {} if every is None else {c.key: c.rate_limits(every) for c in limited}
        self.kept_by_decision = tuple(key for key, limits in by_key.items() if limits)
        self._limits = [limit for limits in by_key.values() for limit in limits]

    @property
    def judged(self) -> bool:
        """Whether a limit may depend on the decision."""
        return not all(constraint.additive for constraint in self.gate.constraints)

    def prepare(self) -> None:
        """Fit what decisions need, so that it need not be done when the search has ended."""
        if self.kept_by_decision:
            _ = self.signals

    @cached_property
    def signals(self) -> GroupSignals:
        """Models of the groups; fitted when they are asked for first."""
        return GroupSignals(self._limits, self.data)

    def choose(
        self, trials: Sequence[Trial], shares: FloatArray, rows: IntArray, loss: Loss
    ) -> Reading:
        """Choose how a vote is read.

        Parameters
        ----------
        trials : sequence of Trial
            Its members.
        shares : ndarray of shape (n_members,)
            Their shares.
        rows : ndarray of int
            Rows of the data to choose on.
        loss : Loss
            Of the score, on these rows.

        Returns
        -------
        reading : Reading
            The decision of least loss that keeps the limits out of fold; where none does, the one
            that violates them least.
        """
        if self.decision == "argmax":
            return Reading()
        members = zip(shares, trials, strict=True)
        vote = np.asarray(sum(share * np.asarray(t.predictions) for share, t in members))
        plain = choose_decision(
            vote[rows],
            self.data.y[rows],
            loss,
            rng=np.random.default_rng(0),
            sample_weight=self._weight(rows),
        )
        free = Reading(plain, plain)
        if not self.judged:
            return free
        nearest, least = free, math.inf
        for reading in self._readings(plain, vote, rows, loss):
            verdict = self.gate.judge(trials, shares, decision=reading.out_of_fold)
            violation = _violation(verdict)
            if violation < least:
                nearest, least = reading, violation
            if violation == 0.0:
                break
        return nearest

    def _readings(
        self, plain: Decision, vote: FloatArray, rows: IntArray, loss: Loss
    ) -> Iterator[Reading]:
        """Decisions in the order in which they are tried."""
        yield Reading(plain, plain)
        if self.kept_by_decision:
            yield from self._within_limits(plain, vote, rows, loss)
        if plain.offsets.any():
            argmax = Decision(np.zeros(len(plain.offsets)), plain.temperature)
            yield Reading(argmax, argmax)

    def _within_limits(
        self, plain: Decision, vote: FloatArray, rows: IntArray, loss: Loss
    ) -> Iterator[Reading]:
        """Thresholds that keep the limits on rates, the least tight first."""
        positive = np.asarray(plain.scale(vote)[:, 1], dtype=np.float64)
        signals = self.signals.out_of_fold(positive)
        rules = choose_signal_thresholds(
            positive[rows],
            self.data.y[rows],
            loss if isinstance(loss, LabelLoss) else ErrorLoss(),
            [RateLimit(limit.sets[:, rows], limit.upper, limit.kind) for limit in self._limits],
            signals[rows],
            tightness=_TIGHTNESS,
            sample_weight=self._weight(rows),
        )
        for rule in rules:
            out_of_fold = Decision(rule.offsets(signals), plain.temperature)
            yield Reading(out_of_fold, self.signals.decision(rule, plain.temperature))

    def _weight(self, rows: IntArray) -> FloatArray | None:
        weight = self.data.sample_weight
        return None if weight is None else weight[rows]


def _violation(verdict: Verdict) -> float:
    """How far limits are exceeded that a decision may keep or miss."""
    return sum(m.violation for m in verdict.measurements if not m.constraint.additive)
