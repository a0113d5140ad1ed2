"""Report on a fitted estimator: one HTML page that needs no network."""

import platform
from collections import Counter, defaultdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.utils import check_random_state

from skauto.display._base import loss_name, mean_score, score_name
from skauto.display._importance import PermutationImportanceDisplay
from skauto.display._page import (
    Markup,
    bar,
    check_plot_support,
    figure,
    frame_table,
    page,
    table,
    text,
)
from skauto.display._pareto_front import ParetoFrontDisplay
from skauto.display._predictions import Predictions
from skauto.display._quantities import quantities
from skauto.display._search_history import SearchHistoryDisplay
from skauto.display._timeline import TimelineDisplay, timeline_frame
from skauto.display._words import describe_pipeline
from skauto.utils import take_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from skauto.history import History

# Rows of the leaderboard, and bars in the plot of importances.
_N_TRIALS = 10
_N_IMPORTANT = 20
# Permutation importance predicts these rows (repeats x columns) times.
_MAX_ROWS_PERMUTED = 1000
_N_REPEATS = 5
_PACKAGES = ("skauto", "scikit-learn", "numpy", "scipy", "lightgbm", "imbalanced-learn", "pandas")


def report_html(estimator: Any, X: Any, y: Any, importance: Any) -> str:
    """Write the page of `save_report`."""
    check_plot_support("save_report")
    if (X is None) != (y is None):
        raise ValueError(
            "save_report needs both of 'X' and 'y' for scores on held-out rows, or neither. Got "
            f"only {'y' if X is None else 'X'}."
        )
    _check_importance(estimator, importance)
    sections = {"Data": _data(estimator), "Search": _search(estimator)}
    if estimator.member_weights_:
        sections["Ensemble"] = _ensemble(estimator)
        sections["Out-of-fold predictions"] = _predictions(estimator, importance)
    if X is not None:
        sections["Held-out rows"] = _held_out(estimator, X, y)
    if estimator.history_.limits or len(estimator.history_.objectives) > 1:
        sections["Limits"] = _limits(estimator)
    sections["Cost"] = (
        "<p>Processor time and energy (at 10 W per core) of the trials, by the share of the rows "
        "that they used.</p>" + frame_table(estimator.cost_report().reset_index())
    )
    sections["Reproduce it"] = _repeat(estimator)
    title = f"{type(estimator).__name__} report"
    return page(title, _header(title, estimator), sections)


def _check_importance(estimator: Any, importance: Any) -> None:
    if importance is None:
        return
    shape = np.shape(getattr(importance, "importances", 0))
    if len(shape) != 2 or shape[0] != estimator.n_features_in_:
        raise ValueError(
            "The 'importance' of save_report must be the result of cross_validated_importance, "
            f"with one row for each of the {estimator.n_features_in_} columns. Got "
            f"{f'shape {shape}' if shape else type(importance).__name__}."
        )


def _header(title: str, estimator: Any) -> str:
    history = estimator.history_
    tiles = {
        f"best {score_name(estimator)}, mean of {estimator.n_splits_} folds": (
            estimator.best_score_
        ),
        "members of the ensemble": len(estimator.member_weights_),
        "trials": len(history),
        "seconds of fit": f"{estimator.search_time_:.1f}",
    }
    if hasattr(estimator, "feasible_"):
        kind, word = ("good", "yes") if estimator.feasible_ else ("bad", "no")
        tiles["all limits kept"] = Markup(f'<i class="{kind}">{word}</i>')
    shown = "".join(
        f'<div class="tile"><b>{text(value)}</b><span>{text(name)}</span></div>'
        for name, value in tiles.items()
    )
    best = estimator.best_trial_
    pipeline = "" if best is None else f"<p>Best pipeline: {text(describe_pipeline(best))}.</p>"
    if estimator._is_guessing:
        pipeline = (
            "<p><b>The model is no better than guessing</b>: its lead over always answering the "
            f"most frequent class may be chance.</p>{pipeline}"
        )
    return f'<h1>{text(title)}</h1>{pipeline}<div class="tiles">{shown}</div>'


def _data(estimator: Any) -> str:
    targets = estimator.history_.goal.targets
    parts = [f"{estimator.n_features_in_} columns, {len(estimator.classes_)} classes."]
    classes = ""
    if targets is not None:
        parts.insert(0, f"{len(targets)} rows,")
        counts = np.bincount(targets, minlength=len(estimator.classes_))
        rows = [
            (label, int(count), bar(count / len(targets)))
            for label, count in zip(estimator.classes_, counts, strict=True)
        ]
        classes = "<h3>Classes</h3>" + table(["class", "rows", "share"], rows)
    frame = estimator.table_report()
    frame = frame.loc[:, (frame.notna() & (frame != "")).any()]  # often without doubts and levels
    columns = "" if frame.empty else f"<h3>Columns</h3>{frame_table(frame)}"
    return f"<p>{' '.join(parts)}</p>{classes}{columns}"


def _search(estimator: Any) -> str:
    history = estimator.history_
    if not len(history):
        return "<p>No trial was finished.</p>"
    statuses = ", ".join(f"{n} {status}" for status, n in history.counts().items())
    strategy = type(estimator.strategy_).__name__
    n_slots = int(timeline_frame(history)["slot"].max() or 1)
    name = loss_name(estimator)
    figures = figure(
        lambda drawn: SearchHistoryDisplay.from_estimator(estimator, ax=drawn.subplots()),
        f"{name} of each trial",
    ) + figure(
        lambda drawn: TimelineDisplay.from_estimator(estimator, ax=drawn.subplots()),
        "When each fold of each trial ran",
        height=1.4 + 0.35 * n_slots,
    )
    return (
        f"<p>{strategy}: {len(history)} trials ({text(statuses)}).</p>"
        f'<div class="figures">{figures}</div>'
        f"<h3>Best trials</h3>{_best_trials(estimator)}{_failures(history)}"
    )


def _best_trials(estimator: Any) -> str:
    history = estimator.history_
    complete = sorted((t for t in history if t.ok), key=lambda t: (-t.fidelity, t.losses))
    columns = ["trial", score_name(estimator), "seconds", "proposed by", "pipeline"]
    rows = [
        (t.number, mean_score(t), t.cost, t.origin, describe_pipeline(t))
        for t in complete[:_N_TRIALS]
    ]
    return table(columns, rows)


def _failures(history: "History") -> str:
    """Count the trials without a score by status and cause."""
    failures: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for trial in history:
        if trial.status not in ("ok", "stopped", "skipped"):
            failures[trial.status, trial.cause[:300]][trial.configuration.structure[-1]] += 1
    if not failures:
        return ""
    rows = [
        (algorithms.total(), *key, ", ".join(name for name, _ in algorithms.most_common(3)))
        for key, algorithms in sorted(failures.items(), key=lambda item: -item[1].total())
    ]
    columns = ["trials", "status", "error", "most frequent algorithms"]
    return "<h3>Trials without a score</h3>" + table(columns, rows)


def _ensemble(estimator: Any) -> str:
    weights = estimator.member_weights_
    trials = [estimator.history_[number] for number in weights]
    rows = [
        (t.number, bar(weights[t.number]), mean_score(t), t.cost, describe_pipeline(t))
        for t in trials
    ]
    columns = ["trial", "weight", score_name(estimator), "seconds", "pipeline"]
    disagreement = getattr(estimator.ensemble_, "disagreement_", None)
    sentence = "The probabilities of the members are averaged by these weights."
    if disagreement is not None and len(weights) > 1:
        sentence += f" On average two members label {disagreement:.1%} of the rows differently."
    return f"<p>{sentence}</p>{table(columns, rows)}{_best_pipeline(estimator)}"


def _best_pipeline(estimator: Any) -> str:
    if estimator.best_params_ is None:
        return ""
    rows = []
    for step, settings in estimator.best_params_.items():
        if settings["name"] != "none":
            values = [
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                for key, value in settings.items()
                if key != "name"
            ]
            rows.append((step, settings["name"], ", ".join(values)))
    return "<h3>Best pipeline</h3>" + table(["step", "algorithm", "hyper-parameters"], rows)


def _predictions(estimator: Any, importance: Any) -> str:
    known = Predictions.out_of_fold(estimator)
    if known is None:
        return "<p>The out-of-fold predictions of the members were not kept.</p>"
    note = (
        '<p class="muted">Weighted mean of the out-of-fold predictions of the members. The '
        "ensemble was selected on these predictions, so the scores are slightly optimistic. "
        "Sample weights are not used.</p>"
    )
    drawn = note + known.scores() + known.figures()
    if importance is None:
        return drawn
    n_repeats = importance.importances.shape[1]
    where = f"on the validation rows of each fold ({n_repeats} permutations)"
    return drawn + _importance(estimator, importance, where)


def _held_out(estimator: Any, X: Any, y: Any) -> str:
    y = np.asarray(y)
    known = Predictions.held_out(estimator, X, y)
    scored = f"<p>{text(score_name(estimator))}: {estimator.score(X, y):.4g}.</p>"
    rows = np.arange(len(y))
    if len(rows) > _MAX_ROWS_PERMUTED:
        rows = check_random_state(0).choice(rows, _MAX_ROWS_PERMUTED, replace=False)
    result = permutation_importance(
        estimator, take_rows(X, rows), y[rows], n_repeats=_N_REPEATS, random_state=0
    )
    where = f"on {len(rows)} held-out rows ({_N_REPEATS} permutations)"
    return scored + known.scores() + known.figures() + _importance(estimator, result, where)


def _importance(estimator: Any, result: Any, where: str) -> str:
    """Draw the permutation importance of the columns; `where` ends the caption."""
    display = PermutationImportanceDisplay.from_result(estimator, result)
    n_shown = min(_N_IMPORTANT, len(display.frame))

    def draw(drawn: "Figure") -> None:
        display.plot(ax=drawn.subplots(), max_columns=n_shown)

    caption = f"Permutation importance: loss of score when a column is permuted, {where}"
    return figure(draw, caption, height=0.9 + 0.22 * n_shown)


def _limits(estimator: Any) -> str:
    parts = []
    if hasattr(estimator, "constraint_values_"):
        parts.append(
            frame_table(estimator.constraint_values_)
            + '<p class="muted">value, error: mean over the folds and its standard error. fitted: '
            "value of the refitted model. bound: value compared with the limit.</p>"
        )
    if len(quantities(estimator.history_)) > 1 and any(t.ok for t in estimator.history_):
        parts.append(
            figure(
                lambda drawn: ParetoFrontDisplay.from_estimator(estimator, ax=drawn.subplots()),
                "Trials by two of the objectives and constraints",
            )
        )
    return "".join(parts)


def _repeat(estimator: Any) -> str:
    call = estimator.__repr__(N_CHAR_MAX=10**6)
    code = f"{_imports(estimator)}\n\nclf = {call}\nclf.fit(X, y)"
    why = []
    if not isinstance(estimator.random_state, int | np.integer):
        why.append("random_state is not an integer")
    if estimator.time_limit is not None:
        why.append("time_limit depends on the machine")
    note = "On the same data and versions this gives the same model."
    if why:
        note = f"Another run can give another model: {' and '.join(why)}."
    versions = [("Python", platform.python_version())]
    for name in _PACKAGES:
        try:
            versions.append((name, version(name)))
        except PackageNotFoundError:
            versions.append((name, "not installed"))
    shown = table(["package", "version"], versions)
    return f"<pre>{text(code)}</pre><p>{note}</p><h3>Versions</h3>{shown}"


def _imports(estimator: Any) -> str:
    """Write the imports of the classes of skauto in the settings of an estimator."""
    settings = [
        part
        for value in estimator.get_params(deep=False).values()
        for part in (value if isinstance(value, list | tuple) else [value])
    ]
    names: dict[str, set[str]] = {"skauto": {type(estimator).__name__}}
    for cls in map(type, settings):
        parts = [part for part in cls.__module__.split(".") if not part.startswith("_")]
        if parts and parts[0] == "skauto":
            room = "skauto" if parts[1:] == ["estimators"] else ".".join(parts)
            names.setdefault(room, set()).add(cls.__name__)
    return "\n".join(
        f"from {room} import {', '.join(sorted(names[room]))}" for room in sorted(names)
    )
