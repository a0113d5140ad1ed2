"""Evaluate configurations by a Python callable, for ``minimize``."""

import inspect
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from skauto.engines import Outcome
from skauto.history import History, Proposal, Trial
from skauto.space import Configuration


@dataclass(frozen=True)
class ObjectiveEvaluator:
    """Evaluate configurations by a Python callable, see ``minimize``."""

    objective: Callable[..., Any]
    objectives: tuple[str, ...]
    constraints: tuple[str, ...]
    trial_time_limit: float | None = None

    @property
    def function(self) -> Callable[[Configuration, float], Any]:
        """The function that engines call."""
        takes_fidelity = "fidelity" in inspect.signature(self.objective).parameters
        return partial(_call, self.objective, takes_fidelity)

    def open(self, proposal: Proposal, history: History) -> "ObjectiveJob":
        """Begin a trial."""
        return ObjectiveJob(self, proposal)


def _call(
    objective: Callable[..., Any],
    takes_fidelity: bool,
    configuration: Configuration,
    fidelity: float,
) -> Any:
    return objective(configuration, **({"fidelity": fidelity} if takes_fidelity else {}))


@dataclass
class ObjectiveJob:
    """A running trial whose only part is one call of the objective."""

    evaluator: ObjectiveEvaluator
    proposal: Proposal
    outcome: Outcome | None = None

    def next_parts(self) -> list[tuple[Hashable, tuple[Configuration, float], float | None]]:
        """Return the call: key, arguments of the engine's function, maximum seconds."""
        args = self.proposal.configuration, self.proposal.fidelity
        return [(0, args, self.evaluator.trial_time_limit)]

    def receive(self, part: Hashable, outcome: Outcome, seconds_left: float) -> None:
        self.outcome = outcome

    @property
    def done(self) -> bool:
        return self.outcome is not None

    def trial(self, number: int, started: float, ended: float) -> Trial:
        """Return the trial; its status is "failed" if a value is missing or not a number."""
        assert self.outcome is not None, "the call has not returned yet"
        status, error = self.outcome.status, self.outcome.error
        names = self.evaluator.objectives
        losses = (math.inf,) * len(names)
        constraints: dict[str, float] = {}
        if status == "ok":
            value = self.outcome.value
            values = value if isinstance(value, Mapping) else {names[0]: value}
            try:
                losses = tuple(float(values[name]) for name in names)
                constraints = {name: float(values[name]) for name in self.evaluator.constraints}
            except (KeyError, TypeError, ValueError) as exc:
                status, error = "failed", f"The objective returned {value!r}: {exc!r}"
            else:
                if any(math.isnan(loss) for loss in losses):
                    status, error = "failed", f"The objective returned {value!r}."
        return Trial(
            number=number,
            configuration=self.proposal.configuration,
            status=status,
            losses=losses,
            fidelity=self.proposal.fidelity,
            constraints=constraints,
            cost=self.outcome.seconds,
            started=started,
            ended=ended,
            error=error,
            fit_times=(self.outcome.seconds,),
            origin=self.proposal.origin,
            info=self.proposal.info,
        )
