"""Page three: how the model was made, and how to make it again."""

from typing import Any

from skauto.display._base import loss_name
from skauto.display._page import bar, figure, paragraph, records, section, table, text
from skauto.display._search_history import SearchHistoryDisplay
from skauto.display._timeline import TimelineDisplay, timeline_frame


def page_three(content: dict[str, Any], estimator: Any) -> str:
    """Write page three; the figures are drawn from the trials."""
    facts = content["engineering"]
    parts = [
        section("Leaderboard", _leaderboard(facts["leaderboard"])),
        section("Members", _members(facts)),
        section("Where the seconds went", _seconds(facts, estimator)),
        section("Trials without a score", records(facts["failures"])),
        section("Columns", _columns(facts["columns"])),
        section("Settings and versions", _settings(facts)),
    ]
    return f'<article id="engineer"><h2>For the engineer</h2>{"".join(parts)}</article>'


def _leaderboard(rows: list[dict[str, Any]]) -> str:
    """Tabulate the best trials, with sizes in megabytes."""
    sizes = [None if row["size"] is None else f"{row['size'] / 1e6:.2f}\u00a0MB" for row in rows]
    return records([{**row, "size": size} for row, size in zip(rows, sizes, strict=True)])


def _members(facts: dict[str, Any]) -> str:
    if not facts["members"]:
        return ""
    sentence = "The probabilities of the members are averaged by these weights."
    if facts["disagreement"] is not None and len(facts["members"]) > 1:
        sentence += f" On average two members label {facts['disagreement']:.1%} differently."
    rows = [
        (m["trial"], bar(m["weight"]), m["score"], m["seconds"], m["pipeline"])
        for m in facts["members"]
    ]
    shown = table(["trial", "weight", facts["score_name"], "seconds", "pipeline"], rows)
    steps = [
        (step["step"], step["algorithm"], _written(step["settings"]))
        for step in facts["best_pipeline"]
    ]
    best = table(["step of the best pipeline", "algorithm", "settings"], steps) if steps else ""
    return paragraph(sentence) + shown + best


def _written(settings: dict[str, Any]) -> str:
    return ", ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in settings.items()
    )


def _seconds(facts: dict[str, Any], estimator: Any) -> str:
    seconds, history = facts["seconds"], estimator.history_
    statuses = ", ".join(f"{n} {status}" for status, n in facts["statuses"].items())
    sentence = (
        f"{seconds['fit']:.1f} seconds of fit. {facts['strategy']} tried {facts['n_trials']} "
        f"pipelines ({statuses or 'none'}); their folds took {seconds['trials']:.1f} seconds over "
        "all workers."
    )
    if facts["converged"]:
        sentence += " The search ended early: the last trials did not improve the model."
    phases = paragraph(sentence) + records(seconds["phases"])
    if not len(history):
        return phases
    n_slots = max(timeline_frame(history)["slot"], default=1)
    figures = figure(
        lambda drawn: SearchHistoryDisplay.from_estimator(estimator, ax=drawn.subplots()),
        f"{loss_name(estimator)} of each trial",
    ) + figure(
        lambda drawn: TimelineDisplay.from_estimator(estimator, ax=drawn.subplots()),
        "When each fold of each trial ran",
        height=1.4 + 0.35 * n_slots,
    )
    note = "Processor time and energy (at 10 W per core), by the share of the rows of a trial:"
    return (
        phases
        + records(seconds["by_algorithm"])
        + f'<div class="figures">{figures}</div>'
        + paragraph(note)
        + records(seconds["by_share_of_rows"])
    )


def _columns(columns: list[dict[str, Any]]) -> str:
    """Tabulate the columns of the table, without facts that no column has."""
    used = [name for name in (columns[0] if columns else {}) if any(row[name] for row in columns)]
    return records([{name: row[name] for name in used} for row in columns])


def _settings(facts: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    return (
        f"<pre>{text(facts['code'])}</pre>{paragraph(facts['repeats'])}{paragraph(versions + '.')}"
    )
