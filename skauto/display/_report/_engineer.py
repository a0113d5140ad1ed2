"""What an engineer needs: trials, members, seconds, failures, settings and versions."""

import platform
from collections import Counter, defaultdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from skauto.display._base import mean_score, score_name
from skauto.display._words import INTENDED, describe_pipeline, status_of

if TYPE_CHECKING:
    from skauto.history import History

# Rows of the leaderboard, and characters of an error.
_N_TRIALS, _N_CHARACTERS = 10, 300
_SHOWN = ["model", "score", "std", "fit_seconds", "predict_seconds", "size", "weight", "pipeline"]
_PACKAGES = ("skauto", "scikit-learn", "numpy", "scipy", "lightgbm", "imbalanced-learn", "pandas")


def engineering(estimator: Any) -> dict[str, Any]:
    """Facts of the search and of the model, and the code that repeats it."""
    history = estimator.history_
    best = estimator.leaderboard()
    best = best[best["status"] == "ok"].head(_N_TRIALS + 1)[_SHOWN]
    columns = estimator.table_report()
    return {
        "score_name": score_name(estimator),
        "strategy": type(estimator.strategy_).__name__,
        "n_trials": len(history),
        "converged": estimator.converged_,
        "statuses": dict(Counter(map(status_of, history))),
        "leaderboard": best.to_dict("records"),
        "members": members(estimator),
        "disagreement": getattr(estimator.ensemble_, "disagreement_", None),
        "best_pipeline": _best_pipeline(estimator),
        "seconds": _seconds(estimator),
        "failures": _failures(history),
        "columns": columns.astype(object).where(columns.notna(), None).to_dict("records"),
        "code": code(estimator),
        "repeats": _repeats(estimator),
        "versions": _versions(),
    }


def members(estimator: Any) -> list[dict[str, Any]]:
    """Trials of the members of the ensemble, the largest weight first."""
    return [
        {
            "trial": number,
            "weight": weight,
            "score": mean_score(estimator.history_[number]),
            "seconds": estimator.history_[number].cost,
            "pipeline": describe_pipeline(estimator.history_[number]),
        }
        for number, weight in estimator.member_weights_.items()
    ]


def _best_pipeline(estimator: Any) -> list[dict[str, Any]]:
    steps = {step: dict(settings) for step, settings in (estimator.best_params_ or {}).items()}
    named = [(step, settings.pop("name"), settings) for step, settings in steps.items()]
    return [
        {"step": step, "algorithm": name, "settings": settings}
        for step, name, settings in named
        if name != "none"
    ]


def _seconds(estimator: Any) -> dict[str, Any]:
    """Seconds of the fit, and those of the trials by algorithm and by share of the rows."""
    by_algorithm: defaultdict[str, list[float]] = defaultdict(list)
    for trial in estimator.history_:
        by_algorithm[trial.configuration.algorithm].append(trial.cost)
    rows = [
        {"algorithm": name, "trials": len(costs), "seconds": sum(costs)}
        for name, costs in by_algorithm.items()
    ]
    shares = estimator.cost_report().reset_index().rename(columns={"fidelity": "share_of_rows"})
    return {
        "fit": estimator.search_time_,
        "phases": [{"phase": n, "seconds": s} for n, s in estimator.seconds_.items()],
        "trials": sum(row["seconds"] for row in rows),
        "by_algorithm": sorted(rows, key=lambda row: -row["seconds"]),
        "by_share_of_rows": shares.to_dict("records"),
    }


def _failures(history: "History") -> list[dict[str, Any]]:
    """Count the trials without a score by status and cause."""
    failures: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for trial in history:
        if trial.status not in INTENDED:
            key = status_of(trial), trial.cause[:_N_CHARACTERS]
            failures[key][trial.configuration.algorithm] += 1
    return [
        {
            "trials": algorithms.total(),
            "status": status,
            "error": error,
            "algorithms": ", ".join(name for name, _ in algorithms.most_common(3)),
        }
        for (status, error), algorithms in sorted(
            failures.items(), key=lambda item: -item[1].total()
        )
    ]


def code(estimator: Any) -> str:
    """Write the code that fits the estimator."""
    call = estimator.__repr__(N_CHAR_MAX=10**6)
    return f"{_imports(estimator)}\n\nclf = {call}\nclf.fit(X, y)"


def _repeats(estimator: Any) -> str:
    why = []
    if not isinstance(estimator.random_state, int | np.integer):
        why.append("random_state is not an integer")
    if estimator.time_limit is not None:
        why.append("time_limit depends on the machine")
    if why:
        return f"Another run can give another model: {' and '.join(why)}."
    return "On the same data and versions this gives the same model."


def _versions() -> dict[str, str]:
    versions = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


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
            package = "skauto" if parts[1:] == ["estimators"] else ".".join(parts)
            names.setdefault(package, set()).add(cls.__name__)
    return "\n".join(
        f"from {package} import {', '.join(sorted(names[package]))}" for package in sorted(names)
    )
