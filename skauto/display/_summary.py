"""The summary of a fitted estimator in notebooks."""

from typing import Any

from skauto.display._base import score_name, than_guessing
from skauto.display._page import bar, style_sheet, table, text
from skauto.display._report._engineer import members
from skauto.display._words import describe_pipeline

# Largest number of members that are listed.
_N_MEMBERS = 5


def summary_html(estimator: Any) -> str:
    """Summarize a fitted estimator: score, best pipeline, members of the ensemble."""
    lines = [_result(estimator)]
    best = estimator.best_trial_
    if best is not None:
        lines.append(
            f"Best pipeline ({estimator.best_score_:.4g}): {text(describe_pipeline(best))}"
        )
    lines.append("All trials: <code>leaderboard()</code>; report: <code>save_report(path)</code>")
    rows = [(bar(m["weight"]), m["score"], m["pipeline"]) for m in members(estimator)]
    columns = ["weight", score_name(estimator), "member"]
    shown = table(columns, rows[:_N_MEMBERS]) if rows else ""
    if len(rows) > _N_MEMBERS:
        shown += f"and {len(rows) - _N_MEMBERS} more"
    return (
        f'<style>{style_sheet("summary")}</style><div class="skauto-summary">'
        f"<div>{'<br>'.join(lines)}</div>{shown}</div>"
    )


def _result(estimator: Any) -> str:
    counts = f"{len(estimator.history_)} trials in {estimator.search_time_:.1f} s"
    counts += ", converged" * estimator.converged_
    if not estimator.member_weights_:
        return f"<b>No pipeline was fitted in time; a small decision tree predicts</b> ({counts})"
    name = text(score_name(estimator))
    low, high = estimator.ensemble_score_interval_
    result = (
        f"<b>{name[:1].upper()}{name[1:]} of the ensemble {estimator.ensemble_score_:.4g}</b> "
        f"({low:.4g} to {high:.4g}) on out-of-fold predictions; guessing gives "
        f"{estimator.majority_score_:.4g} ({counts})"
    )
    if estimator._is_guessing:
        than = than_guessing(estimator.ensemble_score_, estimator.majority_score_)
        result += f"<br><b>It {than} guessing.</b>"
    if hasattr(estimator, "feasible_"):
        result += "<br>Limits: " + ("all kept" if estimator.feasible_ else "<b>not all kept</b>")
    return result
