"""The leaderboard: the ensemble, then the trials, as one table."""

import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np

from skauto.display._base import defined_scores, mean_score
from skauto.display._words import describe_pipeline, status_of
from skauto.history import History, Trial

if TYPE_CHECKING:
    import pandas as pd

# Columns that every leaderboard begins with.
_FIRST = ("model", "score", "std", "fit_seconds", "predict_seconds", "size", "pipeline")


def leaderboard_frame(estimator: Any) -> "pd.DataFrame":
    """Tabulate the ensemble and the trials of a fitted estimator, see `leaderboard`."""
    import pandas as pd

    history, weights = estimator.history_, estimator.member_weights_
    sizes = _member_sizes(estimator)
    rows = [_ensemble_row(estimator)] if weights else []
    for trial in sorted(history, key=lambda t: (t.status != "ok", t.losses)):
        rows.append({**_trial_row(trial, history), "weight": weights.get(trial.number, 0.0)})
        rows[-1]["size"] = sizes.get(trial.number, math.nan)
        if trial.number in estimator._refit_errors:
            rows[-1]["error"] = f"on all rows: {estimator._refit_errors[trial.number]}"
    constraints = dict.fromkeys(name for trial in history for name in trial.constraints)
    feasible = ["feasible"] if history.goal.limits else []
    others = ["trial", "share_of_rows", *feasible, *history.goal.objectives, *constraints]
    columns = [*_FIRST, "weight", "status", *dict.fromkeys(others), "error"]
    return pd.DataFrame(rows, columns=columns).astype({"trial": "Int64"})


def _ensemble_row(estimator: Any) -> dict[str, Any]:
    members = [estimator.history_[number] for number in estimator.member_weights_]
    folds = np.array([score for score in estimator._fold_scores if not math.isnan(score)])
    n = len(members)
    return {
        "model": "ensemble",
        "score": estimator.ensemble_score_,
        "std": float(folds.std()) if folds.size > 1 else math.nan,
        "fit_seconds": sum(trial.mean_fit_time for trial in members),
        "predict_seconds": sum(_predict_seconds(trial) for trial in members),
        "size": float(len(pickle.dumps(estimator.ensemble_, pickle.HIGHEST_PROTOCOL))),
        "pipeline": f"weighted mean of {n} pipeline{'s' if n > 1 else ''}",
        "weight": 1.0,
        "status": "ok",
        "share_of_rows": 1.0,
        "feasible": getattr(estimator, "feasible_", True),
        "error": "",
    }


def _trial_row(trial: Trial, history: History) -> dict[str, Any]:
    scores = defined_scores(trial)
    return {
        "model": f"trial {trial.number}",
        "score": mean_score(trial),
        "std": float(np.std(scores)) if len(scores) > 1 else math.nan,
        "fit_seconds": trial.mean_fit_time,
        "predict_seconds": _predict_seconds(trial),
        "pipeline": describe_pipeline(trial),
        "status": status_of(trial),
        "trial": trial.number,
        "share_of_rows": trial.fidelity,
        "feasible": history.feasible(trial),
        **dict(zip(history.goal.objectives, trial.losses, strict=True)),
        **trial.constraints,
        "error": trial.error,
    }


def _predict_seconds(trial: Trial) -> float:
    """Mean seconds of predicting and scoring the validation rows of a fold."""
    return float(np.mean(trial.score_times)) if trial.score_times else math.nan


def _member_sizes(estimator: Any) -> dict[int, float]:
    """Bytes of the fitted models of each member of the ensemble, by trial number."""
    numbers, pipelines = list(estimator.member_weights_), list(estimator.ensemble_.pipelines)
    if not numbers or len(pipelines) % len(numbers):
        return {}
    n_each = len(pipelines) // len(numbers)
    return {
        number: float(
            len(pickle.dumps(pipelines[n_each * i : n_each * (i + 1)], pickle.HIGHEST_PROTOCOL))
        )
        for i, number in enumerate(numbers)
    }
