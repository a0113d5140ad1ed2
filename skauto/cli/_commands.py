"""The three commands: fit, predict, report."""

import contextlib
import math
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skauto.cli._folder import (
    MODEL,
    REPORT,
    SUMMARY,
    as_json,
    load_model,
    new_folder,
    save_model,
    save_summary,
)
from skauto.cli._messages import (
    CommandError,
    check_column,
    listed,
    note,
    refusals_as_errors,
    warnings_as_notes,
)
from skauto.cli._tables import format_of, read_parts, read_table, write_table
from skauto.data._training import plain_labels
from skauto.display._base import columns_read, score_name
from skauto.display._words import count, describe_pipeline
from skauto.estimators import AutoClassifier

if TYPE_CHECKING:
    import pandas as pd

# Seconds of `fit` without a limit.
DEFAULT_TIME_LIMIT = 60.0
# Rows that `predict` reads at once, which bounds its memory.
_N_ROWS_AT_ONCE = 50_000


def fit(arguments: Namespace) -> None:
    """Fit a model to a table and write its folder."""
    table = read_table(arguments.table)
    X, y = _split(table, arguments)
    estimator = _estimator(arguments, list(X.columns))
    folder: Path = arguments.out
    with new_folder(folder, arguments.overwrite), warnings_as_notes() as notes:
        with refusals_as_errors(), contextlib.redirect_stdout(sys.stderr):
            estimator.fit(X, y)
        if estimator.interrupted_ and len(estimator.history_):
            note("The search was interrupted. The model is made of the trials until then.")
        save_model(folder, estimator)
        summary = {
            **_summary(estimator),
            "target": arguments.target,
            "rows": len(X),
            "columns": X.shape[1],
            "dropped": arguments.drop,
            "read_as_text": _text_columns(table),
            "model": str(folder / MODEL),
            "report": None,
            "summary": str(folder / SUMMARY),
            "notes": notes,
            "versions": {name: version(name) for name in ("skauto", "scikit-learn", "numpy")},
        }
        save_summary(folder, summary)  # first: the model can be used if no report can be drawn
        try:
            summary["report"] = _write_report(estimator, folder / REPORT, X)
        except CommandError as error:
            note(f"No report is written: {error}")
        save_summary(folder, summary)
    print(as_json(summary) if arguments.json else _as_text(score_name(estimator), summary))


def predict(arguments: Namespace) -> None:
    """Predict the rows of a table, in their order."""
    import pandas as pd

    if arguments.out is not None:
        format_of(arguments.out)
        if arguments.out.resolve() == arguments.table.resolve():
            raise CommandError("--out must not be the table itself; name another file.")
    estimator, summary = load_model(arguments.model)
    answers: list[pd.DataFrame] = []
    with warnings_as_notes(), refusals_as_errors():
        for table in read_parts(arguments.table, summary["read_as_text"], _N_ROWS_AT_ONCE):
            X = _known_columns(table, estimator, summary, tell=not answers)
            if summary["target"] in table.columns and not answers:
                note(f"The target {summary['target']!r} is in the table and is not used.")
            answers.append(_answers(estimator, X, arguments.proba))
    write_table(pd.concat(answers, ignore_index=True), arguments.out)


def _answers(estimator: Any, X: "pd.DataFrame", proba: bool) -> "pd.DataFrame":
    """Predictions of rows, with the probabilities of the classes if these are asked for."""
    import pandas as pd

    answers = {"prediction": estimator.predict(X)}
    if proba:
        probabilities = estimator.predict_proba(X).T
        for label, column in zip(estimator.classes_, probabilities, strict=True):
            answers[f"probability_{label}"] = column
    return pd.DataFrame(answers)


def report(arguments: Namespace) -> None:
    """Write a report with the scores on the rows of a table."""
    estimator, summary = load_model(arguments.model)
    table = read_table(arguments.table, summary["read_as_text"])
    check_column(summary["target"], table.columns, "The table must hold the target of the model.")
    path = arguments.out or arguments.model / f"report_{arguments.table.name.split('.')[0]}.html"
    y, kept = _classes(table[summary["target"]])
    X = _known_columns(table, estimator, summary)[kept]
    with warnings_as_notes() as notes, refusals_as_errors():
        scores = estimator.score_report(X, y)
        _write_report(estimator, path, X, y)
    held_out = scores.loc["ensemble"]
    result = {
        "scoring": estimator.scoring or "accuracy",
        "score": _number(held_out["held_out"]),
        "interval": [_number(held_out["held_out_low"]), _number(held_out["held_out_high"])],
        "majority_score": _number(scores.loc["majority class", "held_out"]),
        "rows": len(X),
        "report": str(path),
        "notes": notes,
    }
    if arguments.json:
        print(as_json(result))
    else:
        name = score_name(estimator)
        rows = count(len(X), "row")
        print(f"{_score_line(name, result, f'{rows} of the table')}\nreport: {path}")


def _split(table: "pd.DataFrame", arguments: Namespace) -> tuple["pd.DataFrame", "pd.Series"]:
    """Columns and classes of the rows that have a class."""
    check_column(arguments.target, table.columns, "--target must name a column of the table.")
    for name in arguments.drop:
        check_column(name, table.columns, "--drop must name a column of the table.")
    if arguments.target in arguments.drop:
        raise CommandError(f"--drop must not name the target. Got {arguments.target!r}.")
    y, kept = _classes(table[arguments.target])
    if y.nunique() == 1:
        raise CommandError(
            f"The target {arguments.target!r} must hold at least two classes. Got only "
            f"{y.iloc[0]!r}, in {len(y)} rows."
        )
    if y.nunique() > len(y) / 2:
        raise CommandError(
            f"The target {arguments.target!r} must hold classes, each in several rows. Got "
            f"{y.nunique()} different values in {len(y)} rows, such as {listed(y.unique()[:3])}; "
            "make a few classes of them, or name another column."
        )
    X = table.loc[kept].drop(columns=[arguments.target, *arguments.drop])
    if not X.shape[1]:
        raise CommandError("The table must hold a column besides the target and those of --drop.")
    return X, y


def _classes(labels: "pd.Series") -> tuple["pd.Series", "pd.Series"]:
    """Classes of the rows that have one, and a mask of these rows."""
    kept = labels.notna()
    n_missing = int((~kept).sum())
    if n_missing == len(labels):
        raise CommandError(f"The target {labels.name!r} has no value in any row.")
    if n_missing:
        note(
            f"{n_missing} of {len(labels)} rows are left out, because their {labels.name!r} is "
            "empty or a word for a missing value, such as NA or None. Rename the word if it is a "
            "class."
        )
    known = labels[kept].infer_objects()
    with refusals_as_errors():
        plain_labels(known)
    if known.dtype.kind == "f":
        fractions = known[known % 1 != 0]
        if len(fractions):
            raise CommandError(
                f"The target {labels.name!r} must hold classes. Got numbers with fractions, such "
                f"as {fractions.iloc[0]}; make classes of them, for instance with pandas.cut."
            )
        known = known.astype("int64")
    return _without_spaces(known), kept


def _without_spaces(labels: "pd.Series") -> "pd.Series":
    """Classes without spaces around their names; a note if these made two classes of one."""
    words = labels.map(lambda label: label.strip() if isinstance(label, str) else label)
    if words.nunique() < labels.nunique():
        changed = labels[labels != words]
        note(
            f"Classes of {labels.name!r} that differ only by spaces around them are one class, "
            f"such as {changed.iloc[0]!r} and {words[changed.index[0]]!r}."
        )
    return words


def _estimator(arguments: Namespace, columns: Sequence[str]) -> AutoClassifier:
    kinds = dict(arguments.column_kind)
    for name in kinds:
        check_column(name, columns, "--column-kind must name a column of the table.")
    unlimited = arguments.time_limit is None and arguments.max_evals is None
    return AutoClassifier(
        scoring=arguments.scoring,
        time_limit=DEFAULT_TIME_LIMIT if unlimited else arguments.time_limit,
        max_evals=arguments.max_evals,
        column_kinds=kinds or None,
        verbose=int(sys.stderr.isatty()),
        n_jobs=arguments.jobs,
        random_state=arguments.seed,
    )


def _text_columns(table: "pd.DataFrame") -> list[str]:
    """Names of the columns that hold strings, which look like numbers in some other file."""
    from pandas.api.types import is_string_dtype

    return [name for name in table.columns if is_string_dtype(table[name].dropna())]


def _known_columns(
    table: "pd.DataFrame", estimator: Any, summary: Mapping[str, Any], *, tell: bool = True
) -> "pd.DataFrame":
    """Columns of the model, in its order; an error if some that it reads are missing."""
    names = list(estimator.feature_names_in_)
    read = [names[j] for j in columns_read(estimator.reader_)]
    missing = [name for name in read if name not in table.columns]
    if missing:
        raise CommandError(
            f"The table must hold the {len(read)} columns that the model reads. Got none named "
            f"{listed(missing)}; the columns are {listed(table.columns)}."
        )
    known = {*names, *summary["dropped"], summary["target"]}
    unknown = [name for name in table.columns if name not in known]
    if unknown and tell:
        note(f"Columns that the model does not know are not used: {listed(unknown)}.")
    return table.reindex(columns=names)


def _write_report(estimator: Any, path: Path, X: Any, y: Any = None) -> str:
    """Write a report and return its path; an error if a package or the folder is missing."""
    try:
        estimator.save_report(path, X=X, y=y)
    except ImportError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"The report {str(path)!r} cannot be written: {error}.") from error
    return str(path)


def _summary(estimator: Any) -> dict[str, Any]:
    best = estimator.best_trial_
    return {
        "scoring": estimator.scoring or "accuracy",
        "score": _number(estimator.ensemble_score_),
        "interval": [_number(bound) for bound in estimator.ensemble_score_interval_],
        "majority_score": _number(estimator.majority_score_),
        "classes": estimator.classes_.tolist(),
        "trials": len(estimator.history_),
        "members": len(estimator.member_weights_),
        "best_pipeline": None if best is None else describe_pipeline(best),
        "seconds": round(estimator.search_time_, 2),
    }


def _number(value: float) -> float | None:
    """Return a number that JSON has: None for NaN."""
    return None if math.isnan(value) else float(value)


def _score_line(name: str, result: Mapping[str, Any], rows: str) -> str:
    """Write the score of the ensemble, its interval, what guessing gives, and on which rows."""
    if result["score"] is None:
        return f"{name} is not known: no pipeline was fitted in time"
    low, high = ("?" if bound is None else f"{bound:.4g}" for bound in result["interval"])
    line = f"{name} {result['score']:.4g} (95% interval {low} to {high})"
    if result["majority_score"] is not None:
        line += f"; always answering the most frequent class: {result['majority_score']:.4g}"
    return f"{line}, on {rows}"


def _as_text(name: str, summary: Mapping[str, Any]) -> str:
    lines = [
        _score_line(name, summary, "out-of-fold predictions"),
        f"{count(summary['trials'], 'trial')} in {summary['seconds']:.0f} s; pipelines in the "
        f"ensemble: {summary['members']}; the best one: {summary['best_pipeline'] or 'none'}",
        f"model: {summary['model']}",
    ]
    if summary["report"]:
        lines.append(f"report: {summary['report']}")
    return "\n".join(lines)
