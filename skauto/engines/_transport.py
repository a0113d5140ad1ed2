"""The call of a task in a worker of the `JoblibEngine`, and its outcome."""

import pickle
from collections.abc import Callable
from typing import Any

from skauto.engines._base import Outcome, call, describe, dumps, task_context

MAX_RETRIES = 2  # of a task lost together with others, or of a copy that a worker could not load


class Resubmit(Exception):
    """A task must be sent again: it was lost, and may not have caused the loss."""


def loads(content: bytes) -> Outcome:
    """Unpickle an outcome; one that cannot be unpickled is a failure of its task."""
    try:
        return pickle.loads(content)
    except Exception as exception:
        return Outcome("failed", None, describe(exception))


def run_in_worker(
    function: Callable[..., Any], args: tuple[Any, ...], config: dict[str, Any], pickled: bool
) -> Any:
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
