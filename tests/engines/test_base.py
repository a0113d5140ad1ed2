"""Contract tests of every evaluation engine."""

import numpy as np
import pytest
import sklearn
import threadpoolctl

from tests.engines.tasks import ENGINES, Task
from tests.polling import drain


def test_every_task_comes_back_once(engine):
    for key in range(20):
        engine.submit(key, ("give", {"square": key**2}))
    assert engine.n_running == 20
    outcomes = drain(engine)
    assert {key: outcome.value["square"] for key, outcome in outcomes.items()} == {
        key: key**2 for key in range(20)
    }
    assert all(outcome.status == "ok" and outcome.error == "" for outcome in outcomes.values())
    assert all(outcome.seconds > 0 for outcome in outcomes.values())
    assert engine.wait() == []


@pytest.mark.parametrize(
    ("call", "status", "words"),
    [
        (("divide", 1, 0), "failed", "ZeroDivisionError"),
        (("divide", 1), "failed", "missing 1 required positional argument"),
        (("lack_memory",), "memout", "no room"),
        (("hide",), "failed", "Shy"),
        (("leave",), "failed", "SystemExit: 7"),
    ],
)
def test_exceptions_are_outcomes_with_the_end_of_the_traceback(engine, call, status, words):
    engine.submit("bad", call)
    engine.submit("good", ("give", 1))
    outcomes = drain(engine)
    assert outcomes["bad"].status == status
    assert outcomes["bad"].value is None
    assert words in outcomes["bad"].error
    assert f"in {call[0]}" in outcomes["bad"].error or "TypeError" in outcomes["bad"].error
    assert outcomes["good"].value == 1


def test_keys_are_any_hashable_and_unique_while_running(engine):
    engine.submit(("a", 1), ("give", 1))
    with pytest.raises(ValueError, match="key .'a', 1. is still running"):
        engine.submit(("a", 1), ("give", 2))
    assert drain(engine)[("a", 1)].value == 1
    engine.submit(("a", 1), ("give", 3))
    assert drain(engine)[("a", 1)].value == 3


def test_canceled_tasks_never_come_back(engine):
    for key in range(10):
        engine.submit(key, ("give", key))
    engine.cancel([0, 3, 9, "unknown"])
    assert engine.n_running == 7
    assert sorted(drain(engine)) == [1, 2, 4, 5, 6, 7, 8]
    engine.submit(0, ("give", 0))
    engine.cancel()
    assert engine.n_running == 0
    assert engine.wait() == []
    engine.submit(0, ("give", "again"))
    assert drain(engine)[0].value == "again"


def test_a_closed_engine_takes_nothing(engine):
    engine.submit(0, ("give", 0))
    engine.close()
    engine.close()
    assert engine.n_running == 0
    assert engine.wait() == []
    with pytest.raises(RuntimeError, match="closed"):
        engine.submit(1, ("give", 1))


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_tasks_run_on_one_thread_with_the_config_of_the_caller(make):
    with threadpoolctl.threadpool_limits(2):
        before = threadpoolctl.threadpool_info()
        assert {pool["num_threads"] for pool in before} == {2}
        with sklearn.config_context(assume_finite=True):
            configured = make(Task())
        with configured:
            configured.submit(0, ("parallel",))
            assert drain(configured)[0].value == ({1}, 1, True)
        assert threadpoolctl.threadpool_info() == before


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_what_a_task_does_to_the_error_states_of_numpy_ends_with_it(make):
    before = np.geterr()
    with make(Task()) as engine:
        for key in range(4):
            engine.submit(key, ("raise_errors",))
        assert [outcome.value for outcome in drain(engine).values()] == [before] * 4
    assert np.geterr() == before
