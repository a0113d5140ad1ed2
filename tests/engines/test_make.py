"""Which engine is chosen, and the engine that stays in this process."""

import inspect
import multiprocessing
import os
import subprocess
import sys
import threading
import warnings

import joblib
import pytest
from joblib import delayed, parallel_config
from joblib.parallel import ParallelBackendBase

from skauto.engines import JoblibEngine, ProcessEngine, SerialEngine, make_engine
from tests.engines.faults import Misbehavior
from tests.engines.tasks import Task
from tests.polling import PATIENCE, drain


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

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names = [
            type(make_engine(abs, **arguments)).__name__ for arguments in ({}, {"isolate": True})
        ]
        with parallel_config("threading", n_jobs=2), make_engine(abs) as engine:
            names.append(type(engine).__name__)
    return names, [str(warning.message) for warning in caught]


@pytest.mark.usefixtures("nothing_left_behind")
def test_ctrl_c_in_the_serial_engine_drops_the_running_task():
    with SerialEngine(Misbehavior()) as engine:
        engine.submit(0, ("interrupt",))
        engine.submit(1, ("score",))
        with pytest.raises(KeyboardInterrupt):
            engine.wait()
        assert [key for key, _ in engine.wait()] == [1]


@pytest.mark.usefixtures("nothing_left_behind")
def test_a_worker_that_runs_the_main_script_is_stopped(monkeypatch):
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(RuntimeError, match="runs the main script again.*__main__"):
        make_engine(Misbehavior())


@pytest.mark.usefixtures("nothing_left_behind")
def test_spawn_without_main_guard_is_explained(tmp_path, engines_only):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "import multiprocessing\n"
        "multiprocessing.set_start_method('spawn')\n"
        "from skauto.engines import make_engine\n"
        "with make_engine(abs, isolate=True) as engine:\n"
        "    engine.submit(0, (1,))\n"
        "    engine.wait()\n"
    )
    finished = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=engines_only
    )
    assert finished.returncode == 1
    error = finished.stderr.splitlines()[-1]
    assert "Worker processes cannot be started" in error
    assert "__main__" in error


@pytest.mark.usefixtures("nothing_left_behind")
def test_an_engine_made_in_a_thread():
    results = []

    def use():
        with make_engine(Misbehavior(), n_jobs=2) as engine:
            engine.submit(0, ("loop",), 0.2)
            engine.submit(1, ("score",), PATIENCE)
            results.append({key: outcome.status for key, outcome in drain(engine).items()})

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert results == [{0: "timeout", 1: "ok"}]
