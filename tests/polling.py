"""Waiting for what other processes do, but not for ever."""

import time
from collections.abc import Callable, Hashable

from skauto.engines import Engine, Outcome

PATIENCE = 120  # seconds after which a test that waits for another process fails


def wait_until(condition: Callable[[], object]) -> None:
    """Return when the condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def drain(engine: Engine) -> dict[Hashable, Outcome]:
    """Outcomes of all running tasks of an engine, each of which comes once."""
    outcomes: dict[Hashable, Outcome] = {}
    end = time.monotonic() + PATIENCE
    while engine.n_running:
        finished = engine.wait(end - time.monotonic())
        assert finished, f"{engine.n_running} tasks did not end within {PATIENCE} s"
        for key, outcome in finished:
            assert key not in outcomes
            outcomes[key] = outcome
    return outcomes
