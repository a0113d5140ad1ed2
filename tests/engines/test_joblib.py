"""Trials on the joblib backend of the user's choice, above all on a dask cluster."""

import subprocess
import sys
import threading
import time
import warnings

import pytest
from joblib import parallel_config

from skauto.engines import JoblibEngine
from tests.polling import PATIENCE, drain


def test_tasks_that_are_given_up_keep_their_workers_until_they_end():
    with parallel_config("threading", n_jobs=2), JoblibEngine(time.sleep) as engine:
        engine.submit("long", (0.5,), 0.05)
        assert [(key, outcome.status) for key, outcome in engine.wait()] == [("long", "timeout")]
        for key in range(3):
            engine.submit(key, (0.01,))
        assert {outcome.status for outcome in drain(engine).values()} == {"ok"}
        assert engine.n_running == 0


def test_threads_leave_the_filters_of_warnings_as_they_were():
    def change():
        with warnings.catch_warnings(record=True) as caught:
            warnings.warn("unseen", stacklevel=1)
        warnings.simplefilter("error")
        return caught

    before = list(warnings.filters)
    with parallel_config("threading", n_jobs=2), JoblibEngine(change) as engine:
        engine.submit("key")
        assert drain(engine)["key"].value == []
        assert warnings.filters == before
        engine.submit("key")
    assert warnings.filters == before


class BadOnArrival:
    def __reduce__(self):
        return int, ("cannot be rebuilt",)


def answer(what):
    """Look for a value, or fail."""
    return {"good": 1, "lock": threading.Lock(), "bad_on_arrival": BadOnArrival()}[what]


def test_outcomes_cross_the_border_of_processes():
    with parallel_config("multiprocessing", n_jobs=2), JoblibEngine(answer) as engine:
        for what in ("unknown", "lock", "bad_on_arrival", "good"):
            engine.submit(what, (what,))
        outcomes = drain(engine)
    assert outcomes.pop("good").value == 1
    assert {outcome.status for outcome in outcomes.values()} == {"failed"}


LOKY_SCRIPT = """
import os

def task(what):
    if what == "exit":
        os._exit(1)
    return what

def drain(engine):
    outcomes = {}
    while engine.n_running:
        outcomes.update(engine.wait(60))
    return outcomes

if __name__ == "__main__":  # idle workers import neither
    from joblib import parallel_config
    from skauto.engines import JoblibEngine

    with parallel_config("loky", n_jobs=2), JoblibEngine(task) as engine:
        for key in ("exit", "good"):
            engine.submit(key, (key,))
            print(drain(engine)[key].status)
"""


def test_loky_workers_that_die(tmp_path, engines_only):
    """loky cannot tell who killed a pool; tasks after that run in a new one."""
    script = tmp_path / "script.py"
    script.write_text(LOKY_SCRIPT, encoding="utf-8")
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=engines_only,
    )
    assert finished.stdout.split() == ["crashed", "ok"], finished.stderr


def test_one_job_is_refused():
    with (
        parallel_config("threading", n_jobs=1),
        pytest.raises(ValueError, match="at least 2 jobs.*Got n_jobs=1"),
    ):
        JoblibEngine(abs)
