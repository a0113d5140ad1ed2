"""Calls of scikit-learn's callbacks during a search, and its early end."""

import logging
from collections.abc import Callable
from typing import Any

from skauto.display._progress import ProgressLine
from skauto.history import History, Proposal, Trial

logger = logging.getLogger("skauto")


class Observer:
    """Reports the trials of a search to callbacks, logger and progress.

    ``stop()`` is called after each trial and returns whether the search ends.
    """

    def __init__(
        self,
        estimator: Any,
        history: History,
        stop: Callable[[], bool],
        progress: ProgressLine | None = None,
    ) -> None:
        self.estimator = estimator
        self.history = history
        self.stop = stop
        self.converged = False  # whether ``stop()`` ended the search
        self.progress = progress
        self.context = estimator._init_callback_context(max_subtasks=history.remaining_evals)
        self.context.call_on_fit_task_begin(estimator=estimator, metadata={"history": history})
        self._pending: list[tuple[Proposal, Any]] = []  # each with its callback context

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
        ended = context.call_on_fit_task_end(estimator=self.estimator, metadata={"trial": trial})
        self.converged = self.stop()
        if self.converged:
            logger.info("the search converged after %d trials", len(self.history))
        return bool(ended or self.converged)
