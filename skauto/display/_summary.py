"""The summary of a fitted estimator in notebooks."""

from typing import Any

from skauto.display._base import mean_score, score_name, than_guessing
from skauto.display._page import bar, table, text
from skauto.display._words import describe_pipeline

# Largest number of members that are listed.
_N_MEMBERS = 5
# Text keeps the color of the notebook, which can have a dark theme.
_STYLE = """
.skauto-summary {margin: 0.25em 0 0.75em; font-size: 0.95em; line-height: 1.45}
.skauto-summary table {border-collapse: collapse; margin: 0.4em 0; font-size: 0.95em}
.skauto-summary td, .skauto-summary th {text-align: left; padding: 0.1em 1em 0.1em 0}
.skauto-summary th {font-weight: 600; opacity: 0.75}
.skauto-summary .scroll {overflow-x: auto}
.skauto-summary .bar {display: inline-block; width: 5em; height: 0.6em; margin-right: 0.5em;
 background: rgba(128, 128, 128, 0.25); border-radius: 3px; overflow: hidden}
.skauto-summary .bar span {display: block; height: 100%; background: #2b8cc4}
"""


def summary_html(estimator: Any) -> str:
    """Summarize a fitted estimator: score, best pipeline, members of the ensemble."""
    weights = estimator.member_weights_
    trials = [estimator.history_[number] for number in weights]
    lines = [_result(estimator)]
    best = estimator.best_trial_
    if best is not None:
        lines.append(
            f"Best pipeline ({estimator.best_score_:.4g}): {text(describe_pipeline(best))}"
        )
    lines.append("All trials: <code>leaderboard()</code>; report: <code>save_report(path)</code>")
    rows = [(bar(weights[t.number]), mean_score(t), describe_pipeline(t)) for t in trials]
    columns = ["weight", score_name(estimator), "member"]
    members = table(columns, rows[:_N_MEMBERS]) if rows else ""
    if len(rows) > _N_MEMBERS:
        members += f"and {len(rows) - _N_MEMBERS} more"
    return (
        f'<style>{_STYLE}</style><div class="skauto-summary">'
        f"<div>{'<br>'.join(lines)}</div>{members}</div>"
    )


def _result(estimator: Any) -> str:
    counts = f"{len(estimator.history_)} trials in {estimator.search_time_:.1f} s"
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
