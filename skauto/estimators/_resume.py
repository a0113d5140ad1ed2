"""Searches that go on: with the trials of a checkpoint, or with those of the last ``fit``."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import joblib

from skauto.data._splits import Split
from skauto.data._training import ReadTable
from skauto.history import Checkpoint, Goal, History, Trial
from skauto.space import SearchSpace
from skauto.utils import fingerprint


@dataclass(frozen=True, eq=False)
class LastSearch:
    """Trials, seed and folds of a search, and the facts by which it is recognized."""

    history: History
    seed: int
    splits: list[Split]
    facts: Mapping[str, str]

    def check(self, facts: Mapping[str, str]) -> None:
        """Raise a ValueError if a fact of the new search differs."""
        differing = [name for name in facts if facts[name] != self.facts[name]]
        if differing:
            raise ValueError(
                f"With 'warm_start', fit continues the last search: {', '.join(differing)} "
                "differ. Call fit as before, or set warm_start=False to start anew."
            )


def warm_start_facts(
    cv: Any, scoring: Any, table: ReadTable, space: SearchSpace
) -> dict[str, str]:
    """Facts that a warm start and the last search must have in common."""
    return {
        "cv": joblib.hash(cv) if isinstance(cv, list | tuple) else str(cv),
        "groups": joblib.hash(table.groups),
        **_common_facts(scoring, table),
        "space": space.fingerprint(),
    }


def checkpoint_facts(
    seed: int, scoring: Any, table: ReadTable, splits: list[Split], goal: Goal
) -> dict[str, Any]:
    """Facts that a checkpoint and the search that resumes it must have in common.

    The space is not among them, because the checkpoint adds it.
    """
    return {
        "seed": seed,
        **_common_facts(scoring, table),
        "folds": joblib.hash(splits),
        "objectives": ", ".join(goal.objectives),
    }


def _common_facts(scoring: Any, table: ReadTable) -> dict[str, str]:
    return {
        "data": joblib.hash((table.Z, table.y, table.classes, table.sample_weight)),
        "sensitive_features": joblib.hash(table.sensitive_features),
        "scoring": fingerprint(scoring),
    }


def resumed_history(
    checkpoint: Checkpoint,
    facts: Mapping[str, Any],
    space: SearchSpace,
    goal: Goal,
) -> tuple[History, list[Trial]]:
    """History and known trials of a search that goes on with those of a checkpoint.

    They count for ``max_evals``. Under a time limit, the history holds them. Without one, the
    search repeats its proposals, so that it ends as if it had not been interrupted.
    """
    history, trials = History(goal), checkpoint.resume(facts, space)
    if goal.time_limit is None:
        return history, trials
    for number, trial in enumerate(trials):
        history.append(replace(trial, number=number))
    return _with_more_time(history, goal), []


def longer_history(last: LastSearch, goal: Goal) -> History:
    """History with the trials of the last search, to which the goal adds more.

    Raises a ValueError if the objectives differ.
    """
    history = last.history
    if history.goal.objectives != goal.objectives:
        raise ValueError(
            "With 'warm_start', the search must go on with the objectives "
            f"{history.goal.objectives}. Got {goal.objectives} instead; set warm_start=False to "
            "start anew."
        )
    if goal.max_evals is not None:
        goal = replace(goal, max_evals=len(history) + goal.max_evals)
    return _with_more_time(history, goal)


def _with_more_time(history: History, goal: Goal) -> History:
    if goal.time_limit is not None:
        goal = replace(goal, time_limit=history.elapsed + goal.time_limit)
    return history.with_goal(goal)
