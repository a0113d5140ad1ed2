"""Quantities that a search minimizes or limits: objectives and constraints."""

from collections.abc import Iterable, Sequence

import numpy as np

from skauto.display._words import as_written
from skauto.history import History, Trial
from skauto.utils import FloatArray


def quantities(history: History) -> list[str]:
    """Names of the objectives, then those of the constraints, each once."""
    measured = (name for trial in history for name in trial.constraints)
    return list(dict.fromkeys((*history.goal.objectives, *history.goal.limits, *measured)))


def readable(name: str) -> str:
    """Name of a quantity as an axis label."""
    return as_written(name.replace("_", " ").replace("(", " ("))


def values_of(history: History, trials: Iterable[Trial], names: Sequence[str]) -> FloatArray:
    """Tabulate quantities of trials, (n_trials, n_names); infinite where nothing was measured."""
    rows = [
        {**trial.constraints, **dict(zip(history.goal.objectives, trial.losses, strict=True))}
        for trial in trials
    ]
    table = [[row.get(name, np.inf) for name in names] for row in rows]
    return np.nan_to_num(np.array(table, dtype=float).reshape(-1, len(names)), nan=np.inf)
