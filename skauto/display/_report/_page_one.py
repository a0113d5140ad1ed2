"""Page one: what a reader needs who does not know machine learning."""

import math
from typing import Any

from skauto.display._page import paragraph, section, table, text
from skauto.display._report._evidence import HELD_OUT, HELD_OUT_KEYS, SCORE_KEYS, WITHOUT_CLASSES
from skauto.display._report._format import digits_of, percent, quoted, share_cell, shortened
from skauto.display._words import count, named

# Classes whose confusion matrix is written as a table, pairs and classes if there are more, and
# drivers.
MAX_MATRIX, _MAX_PAIRS, _MAX_DRIVERS = 12, 5, 10
# Names of classes in a sentence.
_MAX_CLASSES = 6
_MODELS = {
    "ensemble": "this model",
    "best pipeline": "the best single pipeline",
    "majority class": "always the most frequent class",
}


def page_one(content: dict[str, Any]) -> str:
    """Write page one from the content of the report."""
    parts = [
        f"<header><h1>{text(content['title'])}</h1>{_about(content)}</header>",
        _verdict(content["verdict"]),
        section("How good it is", _scores(content)),
        section("What drives it", _drivers(content["drivers"])),
        section("Where it errs", _errors(content)),
        section("What to watch", _watch(content["watch"])),
    ]
    return f'<article id="summary">{"".join(parts)}</article>'


def _about(content: dict[str, Any]) -> str:
    """Say what was predicted from what, on how many rows, and when."""
    data = content["data"]
    classes = [quoted(row["class"]) for row in data["classes"]]
    what = f"one of {len(classes)} classes"
    if len(classes) <= _MAX_CLASSES:
        what = f"{', '.join(classes[:-1])} or {classes[-1]}" if classes[1:] else classes[0]
    named = "" if data["target"] is None else f"{quoted(data['target'])}: "
    sentence = (
        f"Predicts {named}{what}, from {count(data['n_columns'], 'column')}. Learned from "
        f"{count(data['n_rows'], 'row')}"
    )
    if data["n_held_out_rows"]:
        sentence += f"; tested on {count(data['n_held_out_rows'], 'other row')}"
    links = (
        '<nav><a href="#summary">In short</a><a href="#analyst">For the analyst</a>'
        '<a href="#engineer">For the engineer</a></nav>'
    )
    return paragraph(f"{sentence}. {content['date']}.", "muted") + links


def _verdict(verdict: dict[str, Any]) -> str:
    kind = "verdict doubtful" if verdict["no_better_than_guessing"] else "verdict"
    shown = paragraph(verdict["sentence"])
    if verdict["score"] is not None:
        shown += _scale(verdict) + paragraph(_how_measured(verdict), "muted")
    return f'<div class="{kind}">{shown}</div>'


def _how_measured(verdict: dict[str, Any]) -> str:
    parts = [verdict["how_measured"]]
    if verdict["score_name"] != "accuracy":
        right, base = verdict["share_right"], verdict["majority_share_right"]
        digits = digits_of(0.0, 1.0, right, base)
        parts.append(
            f"Of these rows, {percent(right, digits)} are answered right, and "
            f"{percent(base, digits)} are {quoted(verdict['majority_class'])}."
        )
    return " ".join(parts)


def _scale(verdict: dict[str, Any]) -> str:
    """Draw the score with its interval and the guess between 0 and 1; empty for other scores."""
    values = [verdict[key] for key in ("low", "high", "score", "majority_score")]
    if any(value is None or not 0.0 <= value <= 1.0 for value in values):
        return ""
    low, high, score, base = (100.0 * value for value in values)
    return (
        '<div class="scale" aria-hidden="true">'
        f'<span class="range" style="left:{low:.2f}%;width:{high - low:.2f}%"></span>'
        f'<span class="guess" style="left:{base:.2f}%"></span>'
        f'<span class="point" style="left:{score:.2f}%"></span></div>'
        '<p class="scale-key muted"><span class="point-key"></span>this model, with its range '
        '<span class="guess-key"></span>guessing</p>'
    )


def _scores(content: dict[str, Any]) -> str:
    """Tabulate the scores, those on held-out rows first."""
    rows, name = content["scores"], content["verdict"]["score_name"]
    if all(row["score"] is None and row.get("held_out") is None for row in rows):
        return ""
    held_out = content["data"]["n_held_out_rows"] > 0
    columns = ["", f"{name} on the rows given"] if held_out else [""]
    columns.append(f"{name} estimated in the fit" if held_out else name)
    is_loss = content["verdict"]["smaller_is_better"]
    cells = []
    for row in rows:
        shown: list[Any] = [_MODELS.get(row["model"], row["model"])]
        if held_out:
            shown.append(_interval(row, HELD_OUT_KEYS, is_loss))
        cells.append([*shown, _interval(row, SCORE_KEYS, is_loss)])
    return table(columns, cells)


def _interval(row: dict[str, Any], keys: tuple[str, ...], is_loss: bool) -> Any:
    """Write a score with its interval; losses without their minus sign."""
    score, low, high = (row[key] for key in keys)
    if is_loss:
        score, low, high = (None if v is None else -v for v in (score, high, low))
    if score is None:
        return None
    if low is None or high is None:
        return f"{score:.3g}"
    return f"{score:.3f} ({low:.3f} to {high:.3f})"


def _drivers(drivers: dict[str, Any] | None) -> str:
    if drivers is None:
        return paragraph(
            "Not measured, because it needs rows: give some as X of save_report. With their "
            "classes, y, they must be rows that the model has not seen.",
            "muted",
        )
    shown = drivers["columns"][:_MAX_DRIVERS]
    largest = max((row["importance"] or 0.0 for row in shown), default=0.0)
    if not shown:
        return paragraph("The model reads no column.")
    items = "".join(_driver(row, largest) for row in shown)
    return paragraph(_how_permuted(drivers), "muted") + f'<ol class="drivers">{items}</ol>'


def _how_permuted(drivers: dict[str, Any]) -> str:
    name, n_all, n_columns = drivers["score_name"], drivers["n_columns"], len(drivers["columns"])
    shuffled = "when the cells of a column are shuffled among the rows. "
    if drivers["measured_on"] == WITHOUT_CLASSES:
        text = f"How much the probabilities change, on average, {shuffled}"
    else:
        text = f"How much worse {name} is {shuffled}"
    repeats = count(drivers["n_repeats"], "shuffle")
    if drivers["n_rows"] is None:
        return f"{text}Measured by cross-validation, {repeats} of each column."
    text += f"A sample: {count(drivers['n_rows'], 'row')}, {repeats} of each column"
    if n_columns < n_all:
        text += f", for the {n_columns} of {n_all:,} columns that go most with the answers"
    return f"{text}."


def _driver(row: dict[str, Any], largest: float) -> str:
    value = row["importance"]
    share = max(0.0, value or 0.0) / largest if largest > 0.0 else 0.0
    deviation = "" if not row["std"] else f" ± {row['std']:.3f}"
    number = "–" if value is None else f"{value:.3f}{deviation}"
    facts = []
    if row["changed_answers"] is not None:
        facts.append(f"{percent(row['changed_answers'], 1)} of answers change")
    if row["direction"] is not None:
        facts.append(_direction(row["direction"]))
    return (
        f'<li><span class="name">{text(named(shortened(row["column"])))}</span>'
        f'<span class="bar"><span style="width:{100.0 * share:.1f}%"></span></span>'
        f'<span class="value">{number}</span>'
        f'<span class="fact">{text("; ".join(facts))}</span></li>'
    )


def _direction(direction: dict[str, Any]) -> str:
    label, rising = quoted(direction["class"]), direction["trend"] == "rising"
    shares = [percent(direction[key]) for key in ("share_at_low", "share_at_high")]
    low, high = direction["low_value"], direction["high_value"]
    if direction["two_values"]:
        return f"{label} in {shares[0]} if {low}, {shares[1]} if {high}"
    sign = "↑ more" if rising else "↓ less"
    return f"{sign} {label} as it grows: {shares[0]} at {low}, {shares[1]} at {high}"


def _errors(content: dict[str, Any]) -> str:
    errors = content["errors"]
    if errors is None:
        return ""
    n_rows = count(content["verdict"]["n_rows"], "row")
    source = f"{n_rows} of the fit, by models that had not seen them"
    if content["verdict"]["measured_on"] == HELD_OUT:
        source = f"the {n_rows} given"
    parts = [paragraph(f"On {source}.{_worst(errors)}")]
    few = len(errors["classes"]) <= MAX_MATRIX
    parts.append(_matrix(errors) if few else _pairs(errors))
    by_class = errors["by_class"]
    if not few:
        parts.append(paragraph(f"The {_MAX_PAIRS} classes that are found least often:"))
        known = [row for row in by_class if row["recall"] is not None]
        by_class = sorted(known, key=lambda row: row["recall"])[:_MAX_PAIRS]
    rows = [
        [named(r["class"]), share_cell(r["precision"]), share_cell(r["recall"]), r["support"]]
        for r in by_class
    ]
    columns = ["class", "right when answered (precision)", "found (recall)", "rows (support)"]
    parts.append(table(columns, rows))
    return "".join(parts)


def _confusions(errors: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Count wrong answers, the most frequent first: rows, true class, answer."""
    matrix = errors["confusion_matrix"]
    pairs = [(n, i, j) for i, row in enumerate(matrix) for j, n in enumerate(row) if i != j and n]
    return sorted(pairs, reverse=True)


def _worst(errors: dict[str, Any]) -> str:
    pairs = _confusions(errors)
    if not pairs:
        return " No answer was wrong."
    n, true, answer = pairs[0]
    total = sum(errors["confusion_matrix"][true])
    classes = errors["classes"]
    return (
        f" The most frequent error: {n:,} of the {count(total, 'row')} of class "
        f"{quoted(classes[true])} {'is' if n == 1 else 'are'} answered {quoted(classes[answer])}."
    )


def _matrix(errors: dict[str, Any]) -> str:
    """Write the confusion matrix; the shade of a cell is its share of the row."""
    head = "".join(f"<th>answered {text(named(label))}</th>" for label in errors["classes"])
    body = []
    for i, (label, row) in enumerate(
        zip(errors["classes"], errors["confusion_matrix"], strict=True)
    ):
        total = max(1, sum(row))
        cells = "".join(_shaded(n, n / total, right=i == j) for j, n in enumerate(row))
        body.append(f"<tr><th>is {text(named(label))}</th>{cells}</tr>")
    return (
        '<div class="scroll"><table class="matrix"><thead><tr><th></th>'
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _shaded(n: int, share: float, right: bool) -> str:
    kind = "right" if right else "wrong"
    strength = math.ceil(60.0 * share)
    return (
        f'<td class="{kind}" style="--shade:{strength}%"><b>{n:,}</b> '
        f"<span>{percent(share)}</span></td>"
    )


def _pairs(errors: dict[str, Any]) -> str:
    """List the most frequent confusions of many classes."""
    classes, matrix = errors["classes"], errors["confusion_matrix"]
    rows = [
        (named(classes[i]), named(classes[j]), n, share_cell(n / sum(matrix[i])))
        for n, i, j in _confusions(errors)[:_MAX_PAIRS]
    ]
    return table(["is", "answered", "rows", "share of the class"], rows) if rows else ""


def _watch(hints: list[dict[str, str]]) -> str:
    if not hints:
        return paragraph("The checks of the report found nothing.")
    items = "".join(f"<li>{text(hint['text'])}</li>" for hint in hints)
    return f'<ul class="watch">{items}</ul>'
