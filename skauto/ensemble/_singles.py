"""Single trials in the order in which they are checked against the limits."""

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from skauto.constraints._checker import CheckResult
from skauto.ensemble._choice import MemberChoice
from skauto.ensemble._decide import decided_labels
from skauto.ensemble._refits import Refits
from skauto.ensemble._select import MAX_ROWS, is_complete
from skauto.history import History, OutOfFold, Trial
from skauto.selection import LabelLoss


@dataclass
class SingleTrials:
    """Single trials that may keep the limits; they are refitted lazily.

    If the remaining time suffices for one more fit only, the trial with the smallest additive
    values is fitted. Trials that violate a limit on their out-of-fold predictions are excluded,
    unless a decision can keep the limit.
    """

    builder: MemberChoice
    history: History
    refits: Refits

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers of the trials."""
        checker = self.builder.decisions.search_checker
        predicted = {t.number: checker.check([t], [1.0]) for t in self.history if is_complete(t)}
        predicted = {  # without a violation that a refit cannot change
            n: check
            for n, check in predicted.items()
            if all(m.met or m.constraint.additive for m in check.measurements)
        }
        lightest = min(predicted, key=lambda n: _relative_load(predicted[n]), default=None)

        def in_time(trial: Trial) -> bool:
            if trial.number in self.refits.requested:
                return trial.number in self.refits.pipelines
            left = self.refits.budget.remaining
            if math.isinf(left) or lightest is None or trial.number == lightest:
                return True
            return left > self.builder.time_to_fit(trial) + self.builder.time_to_fit(
                self.history[lightest]
            )

        ordered = self._by_decided_loss(predicted, in_time)
        n_fits = self.refits.engine.n_workers if math.isinf(self.refits.budget.remaining) else 1
        while several := list(islice(ordered, n_fits)):
            self.refits.fit(several)
            yield from (number for number in several if number in self.refits.pipelines)

    def _by_decided_loss(
        self, predicted: dict[int, CheckResult], eligible: Callable[[Trial], bool]
    ) -> Iterator[int]:
        """Numbers of eligible trials by violation, then by loss, both after the decision.

        A decision takes time to choose. It can only remove violations of the limits that it keeps,
        and a limit does not decrease the error rate. So a decision is chosen only for the trial
        that is first without these violations, at the loss of the most probable class.
        """
        decided = not self.builder.decisions.keeps_limits
        queue = [
            (check.violation, self.history[n].loss, self.history[n].tie_break, n, decided)
            for n, check in predicted.items()
        ]
        heapq.heapify(queue)
        while queue:
            _, _, tie_break, number, decided = heapq.heappop(queue)
            if not eligible(self.history[number]):
                continue
            if decided:
                yield number
            else:
                violation, loss = self.after_decision(number)
                heapq.heappush(queue, (violation, loss, tie_break, number, True))

    def after_decision(self, number: int) -> tuple[float, float]:
        """Predicted violation and loss of a single trial with the labels of its decision."""
        trial = self.history[number]
        decision = self.builder.choose_decision(self.history, {number: 1.0}).out_of_fold
        violation = self.builder.checker.check([trial], [1.0], decision=decision).violation
        predictions = np.asarray(trial.predictions)
        rows = OutOfFold(predictions).sample(MAX_ROWS)
        loss = self.builder.selector.score_loss(rows)
        if not isinstance(loss, LabelLoss):
            return violation, trial.loss
        data = self.builder.data
        one_hot = np.eye(data.n_classes)[decided_labels(predictions, rows, decision)]
        return violation, float(loss(data.y[rows], one_hot[None], data.weights_of(rows))[0])


def _relative_load(predicted: CheckResult) -> float:
    """Sum of the additive constraint values, each divided by its limit."""
    additive = [m for m in predicted.measurements if m.constraint.additive]
    return sum(m.value / (abs(m.constraint.limit) or 1.0) for m in additive)
