"""The clock of a search."""

import math

import pytest

from skauto.utils import Budget


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by its only element."""
    now = [100.0]
    monkeypatch.setattr("skauto.utils._budget.time.monotonic", lambda: now[0])
    return now


def test_seconds_left_and_seconds_beyond_the_limit(clock):
    budget = Budget(10.0)
    assert (budget.elapsed, budget.remaining, budget.overrun) == (0.0, 10.0, 0.0)
    clock[0] += 4.0
    assert (budget.elapsed, budget.remaining, budget.overrun) == (4.0, 6.0, 0.0)
    clock[0] += 8.0
    assert (budget.elapsed, budget.remaining, budget.overrun) == (12.0, 0.0, 2.0)


def test_without_a_limit(clock):
    budget = Budget()
    clock[0] += 5.0
    assert (budget.remaining, budget.overrun) == (math.inf, 0.0)


def test_phases_add_up(clock):
    budget = Budget()
    for name, seconds in (("read", 2.0), ("search", 5.0), ("refit", 1.0)):
        clock[0] += seconds
        budget.end_phase(name)
    assert budget.phases == {"read": 2.0, "search": 5.0, "refit": 1.0}
