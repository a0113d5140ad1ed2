"""The progress of a search as one line of text, see ``verbose``."""

import math
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from typing import Any

from skauto.display._base import mean_score, score_name
from skauto.display._words import count
from skauto.history import History, Proposal, Trial
from skauto.schedule import pause_of_scores

# Seconds between two lines in a file. A new best trial is written at once.
_INTERVAL = 10.0


def start_progress(
    estimator: Any, history: History, ensemble_score: Callable[[], float]
) -> AbstractContextManager["ProgressLine | None"]:
    """Return the line that ``verbose`` of an estimator asks for; None if it is silent."""
    verbose = estimator.verbose
    if verbose is None:
        verbose = is_interactive(sys.stdout)
    if not verbose:
        return nullcontext()
    name = score_name(estimator)
    return closing(ProgressLine(history, name, ensemble_score, before=history.elapsed))


@dataclass
class ProgressLine:
    """The status line of one search."""

    history: History
    score: str
    ensemble_score: Callable[[], float]
    began: float = field(default_factory=time.monotonic)
    pending: list[Proposal] = field(default_factory=list)
    best: Trial | None = None
    before: float = 0.0  # seconds of an earlier, resumed search
    n_done: int = 0
    width: int = 0
    written: float = -_INTERVAL
    of_ensemble: float = math.nan
    scored: float = field(default_factory=time.monotonic)
    seconds_to_score: float = 0.0

    def start(self, proposal: Proposal) -> None:
        self.pending.append(proposal)
        if is_interactive(sys.stdout):
            self._write()

    def end(self, trial: Trial) -> None:
        for proposal in self.pending:
            if proposal.configuration == trial.configuration:
                self.pending.remove(proposal)
                break
        self.n_done += 1
        self._score_ensemble()
        best, self.best = self.best, self.history.under_search_limits().incumbent
        due = self.best is not best or time.monotonic() - self.written >= _INTERVAL
        if due or is_interactive(sys.stdout):
            self._write()

    def end_of_search(self, interrupted: bool, converged: bool) -> None:
        """Say why a search has ended before its limits: by Ctrl-C, or without further gain."""
        if not (interrupted or converged):
            return
        kept = f"the ensemble is fitted of the {count(len(self.history), 'trial')} until now"
        if not any(trial.status == "ok" for trial in self.history):
            kept = "no trial has a score yet, and a small decision tree predicts"
        why = f"Interrupted: {kept}. Interrupt again to stop at once."
        if converged:
            why = "Converged: the last trials did not improve the model."
        self.pending.clear()
        self._write(last=True)
        sys.stdout.write(f"{why}\n")
        sys.stdout.flush()
        self.width = 0

    def close(self) -> None:
        """Print the last state."""
        self.pending.clear()
        self._write(last=True)

    def _score_ensemble(self) -> None:
        """Score the ensemble of the trials so far, if enough time has passed."""
        now = time.monotonic()
        pause = pause_of_scores(self.seconds_to_score)
        if now - self.scored < pause:
            return
        self.of_ensemble = self.ensemble_score()
        self.scored = time.monotonic()
        self.seconds_to_score = self.scored - now

    def _write(self, last: bool = False) -> None:
        text = ", ".join(self._parts())
        self.written = time.monotonic()
        if is_interactive(sys.stdout):
            width = shutil.get_terminal_size().columns - 1
            text = text[:width].ljust(min(self.width, width))
            self.width = len(text.rstrip())
            sys.stdout.write(f"\r{text}" + ("\n" if last else ""))
        else:
            sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def _parts(self) -> list[str]:
        n_trials, limit = len(self.history), self.history.goal.max_evals
        elapsed = time.monotonic() - self.began
        done = count(n_trials, "trial") if limit is None else f"{n_trials}/{limit} trials"
        parts = [done, f"{_clock(elapsed)} elapsed"]
        left = self._seconds_left(elapsed)
        if left is not None and self.pending:
            parts.append(f"{_clock(left)} left")
        named = self.score
        if not math.isnan(self.of_ensemble):
            parts.append(f"ensemble {named} {self.of_ensemble:.4g}")
            named = "trial"
        if self.best is not None:
            best = f"{mean_score(self.best):.4g} ({self.best.configuration.algorithm})"
            parts.append(f"best {named} {best}")
        if self.pending:
            name = self.pending[0].configuration.algorithm
            more = len(self.pending) - 1
            parts.append(f"now {name}" + (f" and {more} more" if more else ""))
        return parts

    def _seconds_left(self, elapsed: float) -> float | None:
        """Estimate the seconds to the first limit; None before the first trial has ended."""
        left = []
        if self.history.goal.time_limit is not None:
            left.append(self.history.goal.time_limit - self.before - elapsed)
        remaining = self.history.remaining_evals
        if remaining is not None and self.n_done:
            left.append(remaining * elapsed / self.n_done)
        return max(0.0, min(left)) if left else None


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def is_interactive(stream: Any) -> bool:
    """Whether a stream is a terminal or a notebook."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")
