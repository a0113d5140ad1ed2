"""Page two: probabilities, curves, thresholds and limits."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    confusion_matrix,
)

from skauto.display._base import BLACK, BLUE, COLORMAP, COLORS, GRAY
from skauto.display._page import figure, paragraph, records, section, table, text
from skauto.display._pareto_front import ParetoFrontDisplay
from skauto.display._predictions import LabeledPredictions
from skauto.display._report._evidence import Evidence
from skauto.display._report._format import quoted, share_cell
from skauto.display._report._page_one import MAX_MATRIX
from skauto.display._report._quality import curve_classes
from skauto.display._words import as_written, count, named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Classes that have curves in the figures.
_MAX_CURVES = 6
# Inches.
_WIDTH, _HEIGHT = 4.0, 3.6


def page_two(content: dict[str, Any], evidence: Evidence) -> str:
    """Write page two; the curves are drawn from the predictions."""
    known, found = evidence.shown, content["probabilities"]
    parts = []
    if known is not None:
        parts += [
            section(
                "Probabilities", _measured(content), _figures(known, found), _by_class(content)
            ),
            section("Operating points", _points(known, found["operating_points"])),
        ]
    parts.append(section("Limits and fairness", _limits(content["limits"], evidence.estimator)))
    if not any(parts):
        parts = [paragraph("No predictions were kept, so there are no curves.")]
    return f'<article id="analyst"><h2>For the analyst</h2>{"".join(parts)}</article>'


def _measured(content: dict[str, Any]) -> str:
    found, verdict = content["probabilities"], content["verdict"]
    return paragraph(
        f"On {count(verdict['n_rows'], 'row')} ({verdict['measured_on']}; weights of rows are not "
        f"used): balanced accuracy {found['balanced_accuracy']:.3f}, log loss "
        f"{found['log_loss']:.3f}."
    )


def _figures(known: LabeledPredictions, found: dict[str, Any]) -> str:
    caption = "Calibration: on the diagonal, predicted probability and observed share are equal"
    drawings = {caption: partial(_draw_calibration, known=known, points=found["calibration"])}
    if found["ranking"]:
        drawings["ROC curve"] = partial(_draw_curves, known=known, roc=True)
        drawings["Precision-recall curve"] = partial(_draw_curves, known=known, roc=False)
    if len(known.classes) > MAX_MATRIX:
        caption = "Confusion matrix, share of the rows of a class"
        drawings[caption] = partial(_draw_matrix, known=known)
    drawn = [figure(draw, caption, _WIDTH, _HEIGHT) for caption, draw in drawings.items()]
    return f'<div class="figures">{"".join(drawn)}</div>'


def _draw_calibration(
    drawn: "Figure", known: LabeledPredictions, points: list[dict[str, Any]]
) -> None:
    ax = drawn.subplots()
    ax.plot([0, 1], [0, 1], color=GRAY, linestyle="--")
    ax.plot(
        [p["predicted"] for p in points], [p["observed"] for p in points], color=BLUE, marker="o"
    )
    labels = "mean probability of the predicted class", "share of right answers"
    if known.binary:
        name = as_written(known.classes[1])
        labels = f"mean probability of {name}", f"share of {name}"
    ax.set(xlabel=labels[0], ylabel=labels[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))


def _draw_curves(drawn: "Figure", known: LabeledPredictions, *, roc: bool) -> None:
    """Draw the curve of each class against the others, of the most frequent classes."""
    ax = drawn.subplots()
    counts = np.bincount(known.truth, minlength=len(known.classes))
    shown = sorted(curve_classes(known), key=lambda code: -counts[code])[:_MAX_CURVES]
    display = RocCurveDisplay if roc else PrecisionRecallDisplay
    for code, color in zip(shown, COLORS, strict=False):
        display.from_predictions(
            known.truth == code,
            known.probabilities[:, code],
            name=as_written(known.classes[code]),
            ax=ax,
            curve_kwargs={"color": color},
        )
    if roc:
        ax.plot([0, 1], [0, 1], color=GRAY, linestyle="--", label="guessing")
    elif known.binary:
        ax.axhline(counts[1] / counts.sum(), color=GRAY, linestyle="--", label="guessing")
    names = ("false positive rate", "true positive rate") if roc else ("recall", "precision")
    ax.set(xlabel=names[0], ylabel=names[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_aspect("auto")
    ax.legend()


def _draw_matrix(drawn: "Figure", known: LabeledPredictions) -> None:
    n_classes = len(known.classes)
    shares = confusion_matrix(known.truth, known.labels, labels=range(n_classes), normalize="true")
    ax = drawn.subplots()
    names = [as_written(str(label)[:12]) for label in known.classes]
    ConfusionMatrixDisplay(shares, display_labels=names).plot(
        ax=ax,
        include_values=False,
        cmap=COLORMAP,
        xticks_rotation=90,
        im_kw={"vmin": 0.0, "vmax": 1.0},
    )
    ax.tick_params(labelsize=max(3.0, min(8.0, 160.0 / n_classes)), labelcolor=BLACK)
    ax.set(xlabel="answered", ylabel="is")


def _by_class(content: dict[str, Any]) -> str:
    """Tabulate areas under curves, and what page one leaves out if there are many classes."""
    ranking, by_class = content["probabilities"]["ranking"], content["errors"]["by_class"]
    if not ranking:
        return ""
    columns = ["class", "ROC AUC", "average precision", "share of the rows"]
    rows = [
        [named(r["class"]), r["roc_auc"], r["average_precision"], share_cell(r["share_of_rows"])]
        for r in ranking
    ]
    if len(by_class) > MAX_MATRIX:
        columns += ["precision", "recall"]
        known = {row["class"]: row for row in by_class}
        for row, area in zip(rows, ranking, strict=True):
            row += [share_cell(known[area["class"]][name]) for name in ("precision", "recall")]
    return table(columns, rows)


def _points(known: LabeledPredictions, points: list[dict[str, Any]]) -> str:
    if not points:
        return ""
    if known.binary:
        note = (
            f"A row is flagged as {quoted(known.classes[1])} if its probability exceeds the "
            "threshold; each has the highest precision of those that reach some recall. "
            "choose_operating_point changes the one in use."
        )
        names = {"precision": "precision", "recall": "recall", "share_flagged": "share flagged"}
    else:
        note = "What is gained if only answers are used whose probability reaches a threshold."
        names = {"share_answered": "share of the rows answered", "share_right": "right among them"}
    rows = [[_threshold(p), *(share_cell(p[name]) for name in names)] for p in points]
    return paragraph(note) + table(["threshold", *names.values()], rows)


def _threshold(point: dict[str, Any]) -> str:
    value = point["threshold"]
    if value is None:
        return "in use, differs by row"
    return f"{value:.3f} (in use)" if point["in_use"] else f"{value:.3f}"


def _limits(limits: dict[str, Any] | None, estimator: Any) -> str:
    if limits is None:
        return ""
    parts = []
    if limits["kept"] is not None:
        kind, word = ("good", "All limits are kept") if limits["kept"] else ("bad", "Not all kept")
        parts.append(f'<p class="{kind}">{text(word)}.</p>')
    if limits["values"]:
        parts.append(records(limits["values"]))
        parts.append(
            paragraph(
                "value, error: mean over the folds and its standard error. fitted: value of the "
                "refitted model. bound: value compared with the limit.",
                "muted",
            )
        )
    if len(limits["quantities"]) > 1 and any(trial.ok for trial in estimator.history_):
        front = figure(
            lambda drawn: ParetoFrontDisplay.from_estimator(estimator, ax=drawn.subplots()),
            "Trials by two of the objectives and constraints",
        )
        parts.append(f'<div class="figures">{front}</div>')
    return "".join(parts)
