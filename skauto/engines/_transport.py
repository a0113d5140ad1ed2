"""What connects the `JoblibEngine` with the workers of a backend, and the call in a worker."""

import pickle
from collections.abc import Callable
from typing import Any, Protocol

from skauto.engines._base import Outcome, call, describe, dumps, task_context

MAX_RETRIES = 2  # of a task lost together with others, or of a copy that a worker could not load


class Resubmit(Exception):
    """A task must be sent again: it was lost, and may not have caused the loss."""


class Transport(Protocol):
    """Sends tasks to the workers of a backend and collects their outcomes."""

    n_workers: int

    def has_room(self) -> bool:
        """Whether a worker is free."""

    def send(self, number: int, args: tuple[Any, ...]) -> None:
        """Start a task on a free worker."""

    def collect(self, pause: float) -> list[tuple[int, Callable[[], Outcome]]]:
        """Wait until a task ends; return ended tasks, each with a function that reads it."""

    def kill(self, number: int) -> None:
        """Stop a task if the backend supports it."""

    def close(self) -> None:
        """Release all resources."""


def loads(content: bytes) -> Outcome:
    """Unpickle an outcome; one that cannot be unpickled is a failure of its task."""
    try:
        return pickle.loads(content)
    except Exception as exception:
        return Outcome("failed", None, describe(exception))


def run_in_worker(
    function: Callable[..., Any], args: tuple[Any, ...], config: dict[str, Any], pickled: bool
) -> Any:
    """Run one task in a worker of the backend."""
    with task_context(config):
        try:
            outcome = call(function, args)
        except KeyboardInterrupt as exception:
            outcome = Outcome("failed", error=describe(exception))
    if not pickled:
        return outcome
    try:
        return dumps(outcome)
    except Exception as exception:
        return dumps(Outcome("failed", error=describe(exception), seconds=outcome.seconds))
