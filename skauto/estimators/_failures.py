"""Warning about failed trials, or error if all trials failed."""

from collections import Counter
from collections.abc import Mapping

from skauto.display._words import INTENDED
from skauto.exceptions import AllTrialsFailedError, TrialFailedWarning
from skauto.history import History
from skauto.history._trial import cause_of
from skauto.utils import warn

_N_CAUSES = 3


def report_failures(history: History, trial_time_limit: float | None) -> None:
    """Warn about trials without a score, with the most frequent causes; raise if all have none.

    Without `trial_time_limit`, a timeout shows that the budget is too short, which is no failure.
    """
    counts = history.counts()
    bad = {s: n for s, n in counts.items() if s not in INTENDED}
    if not bad:
        return
    causes = _most_frequent_errors(history)
    is_failure = trial_time_limit is not None or set(bad) != {"timeout"}
    if not counts.get("ok") and is_failure:
        raise AllTrialsFailedError(
            f"All {len(history)} trials failed ({_listed(counts)}). Most frequent causes:\n"
            f"{causes}\nCheck the data and the space, or fit a single pipeline to find the cause."
        )
    warn(
        f"{sum(bad.values())} of {len(history)} trials gave no score ({_listed(bad)}). "
        f"Most frequent causes:\n{causes}\nAll are in leaderboard(), column 'error'."
        + (" The other trials are not affected." if counts.get("ok") else ""),
        TrialFailedWarning,
    )


def report_failed_refits(errors: Mapping[int, str], *, fallback: bool) -> None:
    """Warn about selected trials whose refit failed; `fallback` if no other trial is left."""
    if not errors:
        return
    causes = "\n".join(f"  trial {n}: {cause_of(text)[:300]}" for n, text in errors.items())
    instead = "a small decision tree predicts" if fallback else "others are in their place"
    warn(
        f"{len(errors)} selected pipelines could not be fitted on all rows; {instead}:\n{causes}\n"
        "The errors are in leaderboard(), column 'error'.",
        TrialFailedWarning,
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {status}" for status, n in counts.items())


def _most_frequent_errors(history: History) -> str:
    """Causes with their counts, the most frequent first."""
    bad = [trial for trial in history if trial.error and trial.status not in INTENDED]
    counts = Counter(trial.cause or trial.status for trial in bad)
    return "\n".join(f"  {n} x {text[:300]}" for text, n in counts.most_common(_N_CAUSES))
