"""Seconds that the search leaves for the ensemble of the trials so far."""

import math

from skauto.ensemble._choice import MemberChoice
from skauto.history import History, Trial
from skauto.schedule import Reserve
from skauto.utils import Budget

# Number of the best trials whose refits are provided for.
_N_BEST = 10


class EnsembleReserve:
    """Seconds to keep for selecting and refitting members, and for thresholds, see `Reserve`.

    Those for refits are for the ten best trials, and at least for the best one, or for two of its
    kind if a refitted member may exceed a limit. At the end of the search, they are for the
    members that would be selected.
    """

    def __init__(self, builder: MemberChoice) -> None:
        self.builder = builder
        # Number of trials, and seconds of the refit of each member selected from them.
        self._selected: tuple[int, list[float]] = (0, [])

    def __call__(self, history: History, n_workers: int, budget: Budget) -> float:
        """Return the seconds to keep; 0 without a time limit or a candidate."""
        builder = self.builder
        pool = builder.selector.pool(history)
        if not pool or budget.time_limit is None:
            return 0.0
        reserve = self._of(budget, n_workers)
        others = reserve.for_selection() + self.for_decision(budget)
        best = builder.time_to_fit(pool[0]) * (2 if builder.may_grow else 1)
        n_best = min(_N_BEST, builder.selector.n_members)
        refits = reserve.for_refits([self._for_trial(t, reserve) for t in pool[:n_best]], best)
        if budget.remaining <= refits + others:
            members = self._for_members(history, reserve, refits)
            refits = reserve.for_members(members, refits, best)
        return refits + others

    def for_decision(self, budget: Budget, rest: float = math.inf) -> float:
        """Seconds to keep for thresholds that keep limits, if `rest` remain."""
        decisions = self.builder.decisions
        if not decisions.keeps_limits or budget.time_limit is None:
            return 0.0
        return self._of(budget).for_decision(decisions.n_groups, rest)

    def _of(self, budget: Budget, n_workers: int = 1) -> Reserve:
        return Reserve(budget.time_limit or math.inf, len(self.builder.data.y), n_workers)

    def _for_trial(self, trial: Trial, reserve: Reserve, most: float | None = None) -> float:
        seconds = self.builder.refit_time(trial)
        return reserve.for_refit(seconds, fitted=self.builder.is_fitted(trial), most=most)

    def _for_members(self, history: History, reserve: Reserve, seconds: float) -> list[float]:
        """Seconds for each member that would be selected now (cached)."""
        if self._selected[0] != len(history):
            checker = self.builder.decisions.search_checker
            chosen = self.builder.select(history, seconds * reserve.n_workers, seconds, checker)
            times = [self._for_trial(history[number], reserve, seconds) for number in chosen]
            self._selected = len(history), times
        return self._selected[1]
