"""What every evaluation engine promises, and which one `make_engine` chooses."""

import inspect
import os
import sys
import threading

import joblib
import pytest
import sklearn
import threadpoolctl
from joblib import delayed, parallel_config
from joblib.parallel import ParallelBackendBase

from skauto.engines import JoblibEngine, ProcessEngine, SerialEngine, make_engine
from tests.polling import drain


class Task:
    """Does what it is told; the class lives here so that forked workers inherit it."""

    def __call__(self, what, *args):
        return getattr(self, what)(*args)

    def give(self, value):
        return value

    def divide(self, a, b):
        return a / b

    def lack_memory(self):
        raise MemoryError("no room")

    def lock(self):
        return threading.Lock()

    def hide(self):
        class Shy(Exception):
            def __reduce__(self):
                raise TypeError("not me")

            def __str__(self):
                raise RuntimeError("no words")

        raise Shy

    def leave(self):
        sys.exit(7)

    def parallel(self):
        """Numbers of threads and jobs that libraries would use, and the scikit-learn config."""
        threads = {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
        config = sklearn.get_config()["assume_finite"]
        return threads, joblib.effective_n_jobs(-1), config


def make_threads(function):
    with parallel_config("threading", n_jobs=2):
        return JoblibEngine(function)


ENGINES = {
    "serial": SerialEngine,
    "process": lambda function: ProcessEngine(function, 2),
    "threads": make_threads,
}


@pytest.fixture(params=ENGINES)
def engine(request):
    with ENGINES[request.param](Task()) as engine:
        yield engine


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


def test_cancelled_tasks_never_come_back(engine):
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_workers": 0}, "n_workers must be an integer >= 1. Got 0"),
        ({"memory_limit": -5}, "memory_limit must be a positive number of bytes.*Got -5"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        ProcessEngine(abs, **arguments)


class TestMakeEngine:
    def choose(self, **arguments):
        with make_engine(abs, **arguments) as engine:
            return type(engine).__name__, engine.n_workers

    def test_one_job_stays_in_this_process(self):
        assert self.choose() == ("SerialEngine", 1)
        assert self.choose(n_jobs=1) == ("SerialEngine", 1)

    def test_more_jobs_and_limits_take_processes(self):
        assert self.choose(n_jobs=3) == ("ProcessEngine", 3)
        assert self.choose(isolate=True) == ("ProcessEngine", 1)
        assert self.choose(memory_limit=10**9) == ("ProcessEngine", 1)

    def test_all_cores_means_those_of_this_process(self):
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, [min(cores)])
        try:
            assert self.choose(n_jobs=-1) == ("SerialEngine", 1)
        finally:
            os.sched_setaffinity(0, cores)

    def test_parallel_config_gives_jobs_and_backend(self):
        with parallel_config(n_jobs=2):
            assert self.choose() == ("ProcessEngine", 2)
        with parallel_config("loky", n_jobs=2):
            assert self.choose() == ("ProcessEngine", 2)
        with parallel_config("threading", n_jobs=2):
            assert self.choose() == ("JoblibEngine", 2)
            assert self.choose(n_jobs=3) == ("JoblibEngine", 3)
            with pytest.warns(UserWarning, match="memory_limit cannot be enforced"):
                assert self.choose(memory_limit=10**9) == ("JoblibEngine", 2)
        with parallel_config("threading"):
            assert self.choose() == ("SerialEngine", 1)
            assert self.choose(isolate=True) == ("ProcessEngine", 1)

    def test_another_registered_backend_is_used(self):
        class Renamed(type(joblib.parallel.BACKENDS["threading"]())):
            pass

        assert issubclass(Renamed, ParallelBackendBase)
        with parallel_config(Renamed(), n_jobs=2), make_engine(Task()) as engine:
            assert type(engine) is JoblibEngine
            engine.submit(0, ("give", 5))
            assert drain(engine)[0].value == 5

    def test_a_loky_worker_keeps_to_itself(self):
        # By value: the workers of loky cannot import this module.
        namespace = {}
        exec(inspect.getsource(_choices), namespace)
        [names] = joblib.Parallel(n_jobs=2, backend="loky")([delayed(namespace["_choices"])()])
        assert names == ["SerialEngine", "ProcessEngine", "ProcessEngine"]

    def test_a_thread_of_a_parallel_job_keeps_to_itself(self):
        with pytest.warns(UserWarning, match="nested below threads, setting n_jobs=1"):
            [names] = joblib.Parallel(n_jobs=2, backend="threading")([delayed(_choices)()])
        assert names == ["SerialEngine", "ProcessEngine", "SerialEngine"]

    def test_a_daemonic_worker_cannot_have_children(self):
        with ProcessEngine(_daemonic_choices) as engine:
            engine.submit(0)
            value = drain(engine)[0].value
        assert value == (
            ["SerialEngine", "SerialEngine", "JoblibEngine"],
            ["Limits of time and memory cannot be enforced in a daemonic process."],
        )


def _choices():
    """Choose under n_jobs=None, isolation and an explicit number of jobs."""
    from skauto.engines import make_engine

    names = []
    for arguments in ({}, {"isolate": True}, {"n_jobs": 2}):
        with make_engine(abs, **arguments) as engine:
            engine.submit(0, (-3,))
            assert engine.wait()[0][1].value == 3
            names.append(type(engine).__name__)
    return names


def _daemonic_choices():
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names = [
            type(make_engine(abs, **arguments)).__name__ for arguments in ({}, {"isolate": True})
        ]
        with parallel_config("threading", n_jobs=2), make_engine(abs) as engine:
            names.append(type(engine).__name__)
    return names, [str(warning.message) for warning in caught]
