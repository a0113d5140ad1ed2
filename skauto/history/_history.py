"""The append-only list of the trials of a search, shared by all its parts."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from skauto.history._goal import Goal
from skauto.history._trial import Trial
from skauto.space import Configuration
from skauto.utils import FloatArray, non_dominated

if TYPE_CHECKING:
    import pandas as pd


class History(Sequence[Trial]):
    """Append-only sequence of trials, with the goal of the search.

    Parameters
    ----------
    goal : Goal or sequence of str, default=("loss",)
        The goal of the search, or the names of its objectives.
    **settings : object
        Other fields of the `Goal`, if objectives were passed.

    Examples
    --------
    >>> from skauto.history import History, Trial
    >>> from skauto.space import Configuration
    >>> history = History(max_evals=3)
    >>> for number, loss in enumerate([0.3, 0.1, 0.2]):
    ...     configuration = Configuration({"classifier": ("knn", {"n_neighbors": number + 1})})
    ...     history.append(Trial(number=number, configuration=configuration, losses=(loss,)))
    >>> history.incumbent.number
    1
    """

    def __init__(self, goal: Goal | Sequence[str] = ("loss",), **settings: Any) -> None:
        self.goal = goal if isinstance(goal, Goal) else Goal(goal, **settings)
        self._trials: list[Trial] = []

    def with_goal(self, goal: Goal) -> "History":
        """Return a copy with another goal of the same objectives, for a search that is resumed."""
        history = History(goal)
        history._trials = list(self._trials)
        return history

    def under_search_limits(self) -> "History":
        """Return a copy without the limits that decision thresholds keep after the search."""
        return self.under(self.goal.search_limits)

    def under(self, limits: Mapping[str, float]) -> "History":
        """Return a copy with other limits."""
        return self.with_goal(replace(self.goal, limits=limits))

    def __len__(self) -> int:
        return len(self._trials)

    def __getitem__(self, index: Any) -> Any:
        return self._trials[index]

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials)

    def __repr__(self) -> str:
        best = self.incumbent
        loss = "none yet" if best is None else f"{best.loss:.6g}"
        return f"History({len(self)} trials, best loss {loss})"

    def append(self, trial: Trial) -> None:
        """Add a trial, whose number must be the current length of the history."""
        if trial.number != len(self._trials):
            raise ValueError(
                f"The number of the 'trial' must be {len(self._trials)}, the next position. "
                f"Got {trial.number} instead."
            )
        if len(trial.losses) != len(self.goal.objectives):
            raise ValueError(
                f"The 'trial' must have one loss for each of {self.goal.objectives}. "
                f"Got {trial.losses} instead."
            )
        self._trials.append(trial)

    @property
    def remaining_evals(self) -> int | None:
        """Number of trials left; None without a limit."""
        return None if self.goal.max_evals is None else max(0, self.goal.max_evals - len(self))

    @property
    def elapsed(self) -> float:
        """Seconds from the start of the search to the end of its last trial."""
        return max((trial.ended for trial in self._trials), default=0.0)

    @property
    def share_of_time(self) -> float:
        """Share of the time limit that has elapsed; 0 without a limit."""
        return 0.0 if self.goal.time_limit is None else self.elapsed / self.goal.time_limit

    @property
    def losses(self) -> FloatArray:
        """Losses, shape (n_trials, n_objectives); infinite for trials that are not ok."""
        losses = np.full((len(self), len(self.goal.objectives)), np.inf)
        for row, trial in zip(losses, self._trials, strict=True):
            if trial.ok:
                row[:] = trial.losses
        return losses

    def violation(self, trial: Trial) -> float:
        """Sum of the constraint violations of a trial, each relative to its limit.

        It is 0 if the trial is feasible, and infinite if a constraint was not measured.
        """
        total = 0.0
        for name, limit in self.goal.limits.items():
            value = trial.constraints.get(name, math.inf)
            if not value <= limit:
                total += (value - limit) / (abs(limit) or 1.0) if value == value else math.inf
        return total

    def feasible(self, trial: Trial) -> bool:
        """Return whether every constraint of a trial was measured and is within its limit."""
        return self.violation(trial) == 0.0

    @property
    def incumbent(self) -> Trial | None:
        """Best feasible trial that was completed at full fidelity; None if there is none."""
        candidates = [t for t in self._complete() if self.feasible(t)]
        return min(candidates, key=lambda t: (t.loss, t.tie_break), default=None)

    @property
    def least_violating(self) -> Trial | None:
        """The first trial by `preference` among those completed at full fidelity."""
        return min(self._complete(), key=self.preference, default=None)

    def preference(self, trial: Trial) -> tuple[float, float, float]:
        """Return a key that sorts trials by violation, then loss, then tie break."""
        return self.violation(trial), trial.loss, trial.tie_break

    def front(self) -> list[Trial]:
        """Pareto front of the feasible trials completed at full fidelity, by the first loss."""
        candidates = [t for t in self._complete() if self.feasible(t)]
        if not candidates:
            return []
        keep = non_dominated(np.array([t.losses for t in candidates]))
        front = [t for t, kept in zip(candidates, keep, strict=True) if kept]
        return sorted(front, key=lambda t: t.losses)

    def counts(self) -> dict[str, int]:
        """Count the trials of each status, in the order of first occurrence."""
        return dict(Counter(trial.status for trial in self._trials))

    def without_data(self, keep: Collection[int] = ()) -> "History":
        """Return a copy for the fitted estimator, without arrays of the size of the data.

        The trials with the numbers `keep` keep their predictions. Targets and weights are kept too
        if there are such trials. The ensemble loss is not kept.
        """
        goal = replace(self.goal, ensemble_loss=None)
        if not len(keep):
            goal = replace(goal, targets=None, sample_weight=None)
        history = History(goal)
        history._trials = [
            t if t.predictions is None or t.number in keep else replace(t, predictions=None)
            for t in self._trials
        ]
        return history

    def to_frame(self) -> "pd.DataFrame":
        """Return a table with one row per trial, in order of evaluation (needs pandas).

        The columns are number, status, losses, constraints, cost, times, the algorithm of each
        step, hyper-parameters as ``step__name``, fidelity, origin and error.
        """
        import pandas as pd

        columns = (
            None if self._trials else ["trial", "status", *self.goal.objectives, "cost", "error"]
        )
        return pd.DataFrame([self._row(trial) for trial in self._trials], columns=columns)

    def to_cv_results(self) -> dict[str, Any]:
        """Return the results in the format of ``GridSearchCV.cv_results_``, as arrays (n_trials,).

        The keys are ``mean_fit_time``, ``std_fit_time``, ``mean_score_time``, ``std_score_time``,
        ``params``, ``param_<step>`` and ``param_<step>__<name>`` (masked arrays),
        ``split<i>_test_<scorer>``, ``mean_test_<scorer>``, ``std_test_<scorer>``,
        ``rank_test_<scorer>`` and ``status``. A single scorer is named "score".
        """
        results: dict[str, Any] = {}
        for key, times in (
            ("fit_time", [t.fit_times for t in self._trials]),
            ("score_time", [t.score_times for t in self._trials]),
        ):
            results[f"mean_{key}"] = np.array([np.mean(t) if t else np.nan for t in times])
            results[f"std_{key}"] = np.array([np.std(t) if t else np.nan for t in times])
        params = [_flat(t.configuration) for t in self._trials]
        for name in dict.fromkeys(name for row in params for name in row):
            column = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
            for i, row in enumerate(params):
                if name in row:
                    column[i] = row[name]
            results[f"param_{name}"] = column
        results["params"] = params
        scorers = list(dict.fromkeys(name for t in self._trials for name in t.fold_scores))
        n_folds = max((len(s) for t in self._trials for s in t.fold_scores.values()), default=0)
        for scorer in scorers:
            folds = np.full((len(self), n_folds), np.nan)
            for of_trial, trial in zip(folds, self._trials, strict=True):
                scores = trial.fold_scores.get(scorer, ())
                of_trial[: len(scores)] = scores
            complete = np.array([t.ok for t in self._trials], dtype=bool)
            complete &= ~np.isnan(folds).all(axis=1)  # the score may be undefined on every fold
            mean = np.full(len(self), np.nan)
            std = mean.copy()
            if complete.any():
                mean[complete] = np.nanmean(folds[complete], axis=1)
                std[complete] = np.nanstd(folds[complete], axis=1)
            suffix = "score" if len(scorers) == 1 else scorer
            for i in range(n_folds):
                results[f"split{i}_test_{suffix}"] = folds[:, i]
            results[f"mean_test_{suffix}"] = mean
            results[f"std_test_{suffix}"] = std
            results[f"rank_test_{suffix}"] = rankdata(
                -np.nan_to_num(mean, nan=-np.inf), method="min"
            ).astype(np.int32)
        results["status"] = np.array([t.status for t in self._trials])
        return results

    def _complete(self) -> Iterator[Trial]:
        return (t for t in self._trials if t.complete)

    def _row(self, trial: Trial) -> dict[str, Any]:
        return {
            "trial": trial.number,
            "status": trial.status,
            **dict(zip(self.goal.objectives, trial.losses, strict=True)),
            **trial.constraints,
            **({"feasible": self.feasible(trial)} if self.goal.limits else {}),
            "cost": trial.cost,
            "started": trial.started,
            "ended": trial.ended,
            **_flat(trial.configuration),
            "fidelity": trial.fidelity,
            "origin": trial.origin,
            "error": trial.error,
        }


def _flat(configuration: Configuration) -> dict[str, Any]:
    """Flatten a configuration: {step: algorithm, step__name: value}."""
    flat: dict[str, Any] = {}
    for step, component in configuration.components:
        flat[step] = component
        for name, value in configuration.parameters(step).items():
            flat[f"{step}__{name}"] = value
    return flat
