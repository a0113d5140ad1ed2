"""Propose smaller variants of accurate trials that exceed a limit on seconds or bytes."""

import math
from collections.abc import Sequence

import numpy as np

from skauto.constraints._base import Constraint, limited_resources
from skauto.history import History, Trial
from skauto.space import Configuration, Parameter, SearchSpace
from skauto.space._parameter import is_number

# A variant is predicted to have this fraction of the limit, because measured seconds vary.
_SHARE_OF_LIMIT = 0.9


class SmallerVariants:
    """Propose variants of trials that are too slow or too large, with fewer trees or rounds.

    A trial qualifies if its loss is lower than that of all trials that keep the limits, and it
    keeps all limits but those on additive constraints that grow. Its value is assumed to be the
    smallest value of all trials plus a part in proportion to the ``size_parameter`` of its
    classifier. Boosting with fewer rounds gets a learning rate that is larger in the same
    proportion, within its range.
    A trial whose size parameter is inactive or not a positive number, such as None for no bound,
    has no variant.

    Calling it with the history returns the variant of the best of these trials, or None. There is
    one for each trial, so that a variant that still exceeds a limit has a smaller variant itself.
    """

    def __init__(self, space: SearchSpace, constraints: Sequence[Constraint]) -> None:
        self.space = space
        self.limits = {c.key: c.limit for c in limited_resources(constraints)}
        self._n_read = 0
        self._open: list[Trial] = []  # exceed a limit and had no variant yet
        self._least = dict.fromkeys(self.limits, math.inf)  # smallest value of each constraint
        self._best_loss = math.inf  # of the trials that keep the limits

    def __call__(self, history: History) -> Configuration | None:
        """Return the next variant; None if there is none now."""
        if not self.limits:
            return None
        self._read(history)
        for i, trial in enumerate(self._open):
            variant = self._variant(trial)
            if variant is not None and all(t.configuration != variant for t in history):
                del self._open[i]
                return variant
        return None

    def _read(self, history: History) -> None:
        """Take note of the new trials."""
        others = {k: v for k, v in history.goal.search_limits.items() if k not in self.limits}
        for trial in history[self._n_read :]:
            values = {key: trial.constraints.get(key, math.nan) for key in self.limits}
            judged = trial.status in ("ok", "stopped") and trial.fidelity == 1.0
            if not (judged and np.isfinite([*values.values()]).all()):
                continue
            self._least = {key: min(self._least[key], values[key]) for key in self.limits}
            if any(not trial.constraints.get(k, math.nan) <= v for k, v in others.items()):
                continue
            if all(values[key] <= limit for key, limit in self.limits.items()):
                self._best_loss = min(self._best_loss, trial.loss)
            else:
                self._open.append(trial)
        better = (trial for trial in self._open if trial.loss < self._best_loss)
        self._open = sorted(better, key=lambda trial: (trial.loss, trial.tie_break))
        self._n_read = len(history)

    def _variant(self, trial: Trial) -> Configuration | None:
        """Return a smaller variant; None if there is none in the space."""
        step, name = trial.configuration.components[-1]
        component = self.space.component(step, name)
        key = component.size_parameter
        if key not in component.parameters:
            return None
        values = trial.configuration.parameters(step)
        rounds = trial.rounds if key == "max_rounds" else ()
        size = float(np.mean(rounds)) if rounds else values.get(key)
        if not is_number(size) or not 0 < size < math.inf:
            return None
        smaller = _largest_up_to(component.parameters[key], size * self._share(trial))
        if smaller is None:
            return None
        values[key] = smaller
        rate = values.get("learning_rate")
        if rounds and is_number(rate) and rate > 0:
            larger = rate * size / smaller
            values["learning_rate"] = _largest_up_to(component.parameters["learning_rate"], larger)
        filled = {key: values.get(key, p.default) for key, p in component.parameters.items()}
        active = {key: filled[key] for key in component.active(filled)}
        settings = trial.configuration.to_dict() | {step: {"name": name, **active}}
        return Configuration.from_dict(settings)

    def _share(self, trial: Trial) -> float:
        """Fraction of the size of a trial at which it is predicted to keep the limits."""
        shares = []
        for key, limit in self.limits.items():
            value, least = trial.constraints[key], self._least[key]
            if value > limit:
                own = value - least  # what grows with the size
                shares.append((_SHARE_OF_LIMIT * limit - least) / own if own > 0 else 0.0)
        return max(0.0, min(shares))


def _largest_up_to(parameter: Parameter, most: float) -> float | None:
    """Largest positive value of a hyper-parameter that is at most `most`; None without one."""
    if parameter.n_choices is None:
        low, high = parameter.from_unit([0.0, 1.0])
        nearest = type(low)(min(most, high))  # integers are rounded down
        return None if nearest < low else parameter.from_unit(parameter.to_unit([nearest]))[0]
    return max((n for n in parameter.values() if is_number(n) and 0 < n <= most), default=None)
