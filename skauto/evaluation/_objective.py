"""Evaluate configurations by a Python callable, for ``minimize``."""

import inspect
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from skauto.engines import Outcome
from skauto.history import Goal, History, Proposal, Trial
from skauto.space import Configuration


@dataclass(frozen=True)
class ObjectiveEvaluator:
    """Evaluate configurations by a Python callable, see ``minimize``."""

    objective: Callable[..., Any]
    goal: Goal
    trial_time_limit: float | None = None

    @property
    def function(self) -> Callable[[Configuration, float], Any]:
        """The function that engines call."""
        takes_fidelity = "fidelity" in inspect.signature(self.objective).parameters
        return partial(_call, self.objective, takes_fidelity)

    def open(self, proposal: Proposal, history: History) -> "CallJob":
        """Begin a trial."""
        args = proposal.configuration, proposal.fidelity
        return CallJob(proposal, args, self._fields, self.trial_time_limit)

    def _fields(self, outcome: Outcome) -> dict[str, Any]:
        """Fields of the trial; it has failed if a value is missing or not a number."""
        infinite = (math.inf,) * len(self.goal.objectives)
        if outcome.status != "ok":
            return {"status": outcome.status, "losses": infinite, "error": outcome.error}
        value = outcome.value
        values = value if isinstance(value, Mapping) else {self.goal.objectives[0]: value}
        error = f"The objective returned {value!r}"
        failed = {"status": "failed", "losses": infinite}
        try:
            losses = tuple(float(values[name]) for name in self.goal.objectives)
            constraints = {name: float(values[name]) for name in self.goal.limits}
        except (KeyError, TypeError, ValueError) as exc:
            return {**failed, "error": f"{error}: {exc!r}"}
        if any(math.isnan(loss) for loss in losses):
            return {**failed, "losses": losses, "constraints": constraints, "error": f"{error}."}
        return {"losses": losses, "constraints": constraints}


def _call(
    objective: Callable[..., Any],
    takes_fidelity: bool,
    configuration: Configuration,
    fidelity: float,
) -> Any:
    return objective(configuration, **({"fidelity": fidelity} if takes_fidelity else {}))


@dataclass
class CallJob:
    """A running trial whose only part is one call of a function.

    `args` are the arguments of the function, and ``fields(outcome)`` returns fields of the trial
    that this class does not know, or knows less well.
    """

    proposal: Proposal
    args: tuple[Any, ...]
    fields: Callable[[Outcome], Mapping[str, Any]]
    time_limit: float | None = None
    outcome: Outcome | None = None

    def next_parts(
        self, seconds_left: float = math.inf
    ) -> list[tuple[Hashable, tuple[Any, ...], float | None]]:
        """Return the call: key, arguments of the engine's function, maximum seconds."""
        return [(0, self.args, self.time_limit)]

    def receive(self, part: Hashable, outcome: Outcome, seconds_left: float) -> None:
        """Store the outcome of the call."""
        self.outcome = outcome

    @property
    def done(self) -> bool:
        """Whether the function has returned."""
        return self.outcome is not None

    def trial(self, number: int, started: float, ended: float) -> Trial:
        """Return the trial."""
        assert self.outcome is not None, "the call has not returned yet"
        proposal, seconds = self.proposal, self.outcome.seconds
        known: dict[str, Any] = {
            "fidelity": proposal.fidelity,
            "cost": seconds,
            "started": started,
            "ended": ended,
            "fit_times": (seconds,),
            "origin": proposal.origin,
            "info": proposal.info,
        }
        known |= self.fields(self.outcome)
        return Trial(number=number, configuration=proposal.configuration, **known)
