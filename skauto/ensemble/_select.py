"""Select the members of the ensemble among the trials of a search."""

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.constraints._checker import ConstraintChecker
from skauto.data import TrainingData
from skauto.history import History, OutOfFold, Trial
from skauto.schedule import seconds_of_bagging, seconds_of_selection
from skauto.selection import (
    BrierLoss,
    LogLoss,
    Loss,
    ScorerLoss,
    SmoothedLoss,
    get_loss,
    greedy_selection,
)
from skauto.selection._bagged import bagged_selection
from skauto.selection._candidates import candidate_pool
from skauto.selection._decisions import gains_by_offsets
from skauto.utils import IntArray, scorer_function, take_rows

# Maximum number of rows for selection; more rows rarely change the result.
MAX_ROWS = 20_000
# Maximum number of probabilities of a candidate for bagged selection. On more rows, selection
# hardly overfits.
_MAX_BAGGED = 10_000
# Number of best trials among which a feasible pair is searched if no trial is feasible alone.
_MAX_PAIRED = 20


@dataclass(eq=False)
class MemberSelector:
    """Select members by ensemble selection on out-of-fold predictions, bagged on few rows.

    The ensemble optimizes `scoring` and has `n_members`, counting repeated members. The checker
    predicts its constraints. With `tunes_labels`, class offsets are chosen afterwards. The
    `candidates` are the best trials and the best of each algorithm ("best"), all, or a number of
    best trials.
    """

    data: TrainingData
    checker: ConstraintChecker
    n_members: int
    scoring: Any
    tunes_labels: bool
    candidates: str | int = "best"
    bagged: bool = True

    def select(
        self,
        history: History,
        time_to_fit: Callable[[Trial], float],
        processor_seconds: float = math.inf,
        seconds: float = math.inf,
        checker: ConstraintChecker | None = None,
        excluded: Collection[int] = (),
    ) -> dict[int, float]:
        """Return the weights of the selected members by trial number, largest first.

        If no trial keeps the limits alone, a pair that keeps them is selected, because differences
        between groups can cancel each other. The result is empty if there are no candidates.

        Fitting all members takes at most `processor_seconds`, and fitting one member at most
        `seconds`; selection ends after a fifth of them. A `checker` of fewer constraints ignores
        the others, such as those that a decision keeps afterwards. Trials with numbers in
        `excluded` are no candidates.
        """
        checker = checker or self.checker
        history = history.under(checker.limits)
        known = self.pool(history, excluded)
        seconds_of = {trial.number: time_to_fit(trial) for trial in known}
        pool = [trial for trial in known if seconds_of[trial.number] <= seconds]
        if not pool:
            return {}
        if self.n_members == 1:
            return {pool[0].number: 1.0}
        times = np.array([seconds_of[trial.number] for trial in pool])
        end = time.monotonic() + seconds_of_selection(seconds)

        def affordable(counts: NDArray[np.integer[Any]], candidate: int) -> bool:
            if counts.any() and time.monotonic() > end:
                return False
            chosen = counts > 0
            chosen[candidate] = True
            if times[chosen].sum() > processor_seconds:
                return False
            counts = counts.copy()
            counts[candidate] += 1
            members = np.flatnonzero(counts)
            return checker.allows([pool[i] for i in members], counts[members])

        if not history.feasible(pool[0]):
            pair = _first_pair(len(pool), affordable)
            return {pool[i].number: 0.5 for i in pair} or {pool[0].number: 1.0}
        predictions = [np.asarray(trial.predictions) for trial in pool]
        rows = OutOfFold(predictions[0]).sample(MAX_ROWS)
        sampled, y = [prediction[rows] for prediction in predictions], self.data.y[rows]
        loss, sample_weight = self.selection_loss(rows), self.data.weights_of(rows)
        started = time.monotonic()
        selection = greedy_selection(
            sampled, y, loss, self.n_members, feasible=affordable, sample_weight=sample_weight
        )
        if not selection.indices.size:  # every single trial violates a limit
            return {pool[0].number: 1.0}
        weights = selection.weights
        takes = seconds_of_bagging(time.monotonic() - started)
        if not checker.constraints and takes < end - time.monotonic() and self.bags(rows):
            bagged = bagged_selection(
                np.stack(sampled), y, loss, weights, self.n_members, sample_weight=sample_weight
            )
            if times[bagged > 0].sum() <= processor_seconds:
                weights = bagged
        order = np.argsort(-weights, kind="stable")
        return {pool[i].number: float(weights[i]) for i in order if weights[i] > 0}

    def bags(self, rows: IntArray) -> bool:
        """Whether selection on some rows is bagged: on few, and if the scorer is fast.

        A pool of all trials, or of a number of them, is that of a paper.
        """
        few = rows.size * len(self.data.classes) <= _MAX_BAGGED
        may_be = self.bagged and self.candidates == "best"
        return may_be and few and not isinstance(self.score_loss(rows), ScorerLoss)

    def pool(self, history: History, excluded: Collection[int] = ()) -> list[Trial]:
        """Candidates among the complete trials, ordered by violation, then by loss."""
        complete = [
            replace(t, constraints={**t.constraints, **self.checker.learned(t)})
            for t in history
            if is_complete(t) and t.number not in excluded
        ]
        keys = list(map(history.preference, complete))
        algorithms = [trial.configuration.algorithm for trial in complete]
        return [complete[i] for i in self.candidates_of(keys, algorithms)]

    def candidates_of(self, keys: ArrayLike, algorithms: Sequence[str]) -> IntArray:
        """Return the candidates among trials, by their sort keys and algorithms, best first."""
        if self.candidates == "best":
            return candidate_pool(keys, algorithms)
        n_best = len(algorithms) if isinstance(self.candidates, str) else self.candidates
        return candidate_pool(keys, algorithms, n_best=n_best, n_per_algorithm=0)

    def loss_of(self, history: History, weights: Mapping[int, float]) -> float:
        """Loss of ensemble selection of the out-of-fold predictions of an ensemble."""
        mean = OutOfFold.mean([history[number] for number in weights], weights.values())
        rows = mean.sample(MAX_ROWS)
        y, sample_weight = self.data.y[rows], self.data.weights_of(rows)
        return float(self.selection_loss(rows)(y, mean.predictions[rows][None], sample_weight)[0])

    def score_loss(self, rows: IntArray) -> Loss:
        """Loss of the scorer for predictions of some rows."""
        reads_X = not isinstance(self.scoring, str) and scorer_function(self.scoring) is None
        if self.data.X is None or not reads_X:
            return get_loss(self.scoring, self.data.classes)
        return ScorerLoss(self.scoring, self.data.classes, take_rows(self.data.X, rows))

    def selection_loss(self, rows: IntArray) -> Loss:
        """Loss of ensemble selection for predictions of some rows.

        It is the loss of the scorer plus a fraction of the log loss. If class offsets are tuned,
        it is the log loss alone: on generated data this was as good as the loss at the best
        threshold, and better than the loss of the most probable class.
        """
        loss = self.score_loss(rows)
        if self.tunes_labels and gains_by_offsets(loss, self.data.y[rows], len(self.data.classes)):
            return LogLoss()
        return loss if isinstance(loss, LogLoss | BrierLoss) else SmoothedLoss(loss)


def _first_pair(
    n_candidates: int, feasible: Callable[[NDArray[np.integer[Any]], int], bool]
) -> tuple[int, ...]:
    """Return the first feasible pair by the sum of the ranks of its candidates, or ()."""
    pairs = combinations(range(min(n_candidates, _MAX_PAIRED)), 2)
    counts = np.eye(n_candidates, dtype=np.intp)
    return next(
        (pair for pair in sorted(pairs, key=sum) if feasible(counts[pair[0]], pair[1])), ()
    )


def is_complete(trial: Trial) -> bool:
    return trial.complete and trial.predictions is not None
