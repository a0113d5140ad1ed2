"""The content of a report, and its two forms: plain data and an HTML page."""

import datetime
import math
from typing import Any

import numpy as np

from skauto.display._page import document
from skauto.display._quantities import quantities
from skauto.display._report._drivers import drivers
from skauto.display._report._engineer import engineering
from skauto.display._report._evidence import HELD_OUT_KEYS, Evidence
from skauto.display._report._format import plain, quoted
from skauto.display._report._page_one import page_one
from skauto.display._report._page_three import page_three
from skauto.display._report._page_two import page_two
from skauto.display._report._progress import Step, report_progress
from skauto.display._report._quality import (
    calibration,
    errors,
    operating_points,
    probability_scores,
    ranking,
)
from skauto.display._report._verdict import how_measured, verdict
from skauto.display._report._watch import watch
from skauto.model import Decision
from skauto.selection._intervals import MODELS
from skauto.utils import check_installed

# Names of classes in a title.
_MAX_CLASSES = 3


def report_dict(
    estimator: Any, X: Any, y: Any, importance: Any, title: str | None
) -> dict[str, Any]:
    """Return what a report says as data that JSON can represent."""
    check_installed("report_dict", "plot", "pandas")
    _check(estimator, "report_dict", X, y, importance)
    with report_progress(estimator) as step:
        step("predictions")
        return _content(Evidence.of(estimator, X, y), importance, title, step)


def report_html(estimator: Any, X: Any, y: Any, importance: Any, title: str | None) -> str:
    """Write the page of `save_report`."""
    check_installed("save_report", "plot", "matplotlib", "pandas")
    _check(estimator, "save_report", X, y, importance)
    with report_progress(estimator) as step:
        step("predictions")
        evidence = Evidence.of(estimator, X, y)
        content = _content(evidence, importance, title, step)
        step("figures")
        pages = [page_one(content), page_two(content, evidence), page_three(content, estimator)]
        return document(content["title"], "".join(pages))


def _check(estimator: Any, caller: str, X: Any, y: Any, importance: Any) -> None:
    if X is None and y is not None:
        raise ValueError(
            f"{caller} needs the rows 'X' of the classes 'y'. Got only y; give both, or X alone "
            "for what drives the answers."
        )
    if importance is None:
        return
    shape = np.shape(getattr(importance, "importances", 0))
    if len(shape) != 2 or shape[0] != estimator.n_features_in_:
        raise ValueError(
            f"The 'importance' of {caller} must be the result of cross_validated_importance, "
            f"with one row for each of the {estimator.n_features_in_} columns. Got "
            f"{f'shape {shape}' if shape else type(importance).__name__}."
        )


def _content(evidence: Evidence, importance: Any, title: str | None, step: Step) -> dict[str, Any]:
    estimator, known = evidence.estimator, evidence.shown
    step("scores")
    judged = verdict(evidence)
    erred = None if known is None else errors(known)
    step("importance")
    driven = drivers(evidence, importance)
    step("trials")
    content = {
        "title": _title(evidence) if title is None else title,
        "date": datetime.date.today().isoformat(),
        "data": _data(evidence),
        "verdict": {**judged, "how_measured": how_measured(judged)},
        "scores": _scores(evidence),
        "drivers": driven,
        "errors": erred,
        "watch": watch(evidence, driven, erred),
        "probabilities": None,
        "limits": _limits(estimator),
        "engineering": engineering(estimator),
    }
    if known is not None:
        content["probabilities"] = {
            **probability_scores(known),
            "ranking": ranking(known),
            "calibration": calibration(known),
            "operating_points": operating_points(known, _threshold(estimator)),
        }
    found: dict[str, Any] = plain(content)
    return found


def _title(evidence: Evidence) -> str:
    if evidence.target is not None:
        return f"How well can {quoted(evidence.target)} be predicted?"
    classes = evidence.estimator.classes_
    if len(classes) > _MAX_CLASSES:
        return f"How well can {len(classes)} classes be told apart?"
    return f"How well can {' and '.join(map(quoted, classes))} be told apart?"


def _data(evidence: Evidence) -> dict[str, Any]:
    estimator, counts = evidence.estimator, evidence.counts
    total = max(1, int(counts.sum()))
    return {
        "target": evidence.target,
        "n_rows": int(counts.sum()),
        "n_columns": estimator.n_features_in_,
        "n_held_out_rows": 0 if evidence.held_out is None else len(evidence.held_out.truth),
        "classes": [
            {"class": label, "rows": n, "share": n / total}
            for label, n in zip(estimator.classes_, counts, strict=True)
        ],
    }


def _scores(evidence: Evidence) -> list[dict[str, Any]]:
    """Scores of the model and of simpler answers, on held-out rows too if they were given."""
    estimator = evidence.estimator
    frame = estimator.score_report()
    held_out = {} if evidence.held_out is None else evidence.held_out_scores
    names = [name for name in MODELS if name in frame.index or name in held_out]
    found = frame.reindex(names).to_dict("index")
    if evidence.held_out is not None:
        for name in names:
            scores = held_out.get(name, (math.nan,) * 3)
            found[name] |= dict(zip(HELD_OUT_KEYS, scores, strict=True))
    return [{"model": name, **scores} for name, scores in found.items()]


def _threshold(estimator: Any) -> float:
    """Return the threshold in use; NaN if there is none for all rows."""
    decision = estimator.ensemble_.decision_
    if len(estimator.classes_) != 2 or type(decision) is not Decision:
        return math.nan
    return float(decision.threshold)


def _limits(estimator: Any) -> dict[str, Any] | None:
    """Values of constraints by model; None if the search had neither limits nor objectives."""
    history = estimator.history_
    if not history.goal.limits and len(history.goal.objectives) < 2:
        return None
    frame = getattr(estimator, "constraint_values_", None)
    return {
        "kept": getattr(estimator, "feasible_", None),
        "values": [] if frame is None else frame.to_dict("records"),
        "quantities": quantities(history),
    }
