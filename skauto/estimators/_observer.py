"""Calls of scikit-learn's callbacks during a search, and early stopping by ``patience``."""

import logging
from typing import Any

from skauto.display._progress import ProgressLine
from skauto.history import History, Proposal, Trial

logger = logging.getLogger("skauto")


class Observer:
    """Reports the trials of a search to callbacks, logger and progress; counts the patience."""

    def __init__(
        self,
        estimator: Any,
        history: History,
        patience: int | None,
        progress: ProgressLine | None = None,
    ) -> None:
        self.estimator = estimator
        self.history = history
        self.patience = patience
        self.progress = progress
        self.context = estimator._init_callback_context(max_subtasks=history.remaining_evals)
        self.context.call_on_fit_task_begin(estimator=estimator, metadata={"history": history})
        self._pending: list[tuple[Proposal, Any]] = []  # each with its callback context
        self._front: set[tuple[float, ...]] = set()
        self._n_without_gain = 0

    def begin(self, proposal: Proposal) -> None:
        """Report that a trial begins."""
        context = self.context.subcontext(task_name="trial")
        self._pending.append((proposal, context))
        if self.progress is not None:
            self.progress.start(proposal)
        context.call_on_fit_task_begin(estimator=self.estimator, metadata={"proposal": proposal})

    def end(self, trial: Trial) -> bool:
        """Report that a trial ended; return whether the search should stop."""
        known = [proposal.configuration for proposal, _ in self._pending]
        _, context = self._pending.pop(known.index(trial.configuration))
        logger.debug("trial %d: %s, loss %.5g", trial.number, trial.status, trial.loss)
        if self.history.incumbent is trial:
            logger.info("trial %d is the best: loss %.5g", trial.number, trial.loss)
        if self.progress is not None:
            self.progress.end(trial)
        stop = context.call_on_fit_task_end(estimator=self.estimator, metadata={"trial": trial})
        if stop or self.patience is None:
            return bool(stop)
        # With one objective the front is the smallest loss.
        front = {trial.losses for trial in self.history.under_search_limits().front()}
        self._n_without_gain = 0 if front != self._front else self._n_without_gain + 1
        self._front = front
        return self._n_without_gain >= self.patience
