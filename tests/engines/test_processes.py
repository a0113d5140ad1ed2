"""The process engine survives whatever one task does, and leaves nothing behind."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import psutil
import pytest

from skauto.engines import ProcessEngine
from skauto.engines._worker import Mapped
from tests.engines.faults import MEMORY_LIMIT, Misbehavior, _refuse
from tests.polling import PATIENCE, drain, wait_until

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


TIME_LIMIT = 0.2
FAULTS = {
    "raise_error": ("failed", "ValueError: bad hyper-parameter"),
    "raise_unpicklable": ("failed", "Wordless"),
    "raise_without_end": ("failed", "xxxxx"),
    "recurse": ("failed", "RecursionError"),
    "exit_python": ("failed", "SystemExit: enough"),
    "interrupt": ("failed", "KeyboardInterrupt"),
    "return_unpicklable": ("failed", "cannot pickle"),
    "return_bad_on_arrival": ("failed", "cannot be rebuilt"),
    "raise_memory_error": ("memout", "MemoryError"),
    "ask_for_too_much": ("memout", "Unable to allocate"),
    "grow": ("memout", "more than memory_limit=209715200 bytes"),
    "grow_in_a_child": ("memout", "more than memory_limit=209715200 bytes"),
    "loop": ("timeout", f"The time limit of {TIME_LIMIT} s was exceeded."),
    "hold_the_gil": ("timeout", f"The time limit of {TIME_LIMIT} s was exceeded."),
    "ignore_signals": ("timeout", f"The time limit of {TIME_LIMIT} s was exceeded."),
    "stop": ("timeout", f"The time limit of {TIME_LIMIT} s was exceeded."),
    "print_without_end": ("timeout", f"The time limit of {TIME_LIMIT} s was exceeded."),
    "warn_without_end": ("timeout", f"The time limit of {TIME_LIMIT} s was exceeded."),
    "segfault": ("crashed", "ended by signal 11 (SIGSEGV)"),
    "abort": ("crashed", "in abort"),
    "exit_with_success": ("crashed", "ended with exit code 0"),
    "be_killed": ("crashed", "ended by signal 9 (SIGKILL)"),
    "be_terminated": ("crashed", "ended by signal 15 (SIGTERM)"),
    "close_everything": ("crashed", "The worker process"),
    "write_into_the_channel": ("crashed", "closed its connection"),
    "leave_a_child_and_die": ("crashed", "ended with exit code 1"),
    "come_back_twice": ("ok", ""),
    "disturb": ("ok", ""),
}

N_TASKS = 40


def time_limit(kind):
    """Only those that shall run into the limit are judged by the clock of a busy machine."""
    return TIME_LIMIT if FAULTS.get(kind, ("ok",))[0] == "timeout" else PATIENCE


def is_gone(pid):
    """Tell whether a process has ended, reaped or not."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def busy_worker(engine):
    """Wait until the first worker has a task; return its pid."""
    wait_until(lambda: engine.wait(0) == [] and engine._workers[0].task is not None)
    return engine._workers[0].pid


def test_fault_table(tmp_path):
    """Each fault among 40 tasks: all accounted for, the rest scored, no process left."""
    kinds = [*FAULTS, *["score"] * (N_TASKS - len(FAULTS))]
    kinds = np.random.default_rng(0).permutation(kinds).tolist()
    filters = list(warnings.filters)  # pytest has its own for each phase of a test
    with ProcessEngine(Misbehavior(tmp_path), 2, memory_limit=MEMORY_LIMIT) as engine:
        for number, kind in enumerate(kinds):
            engine.submit((number, kind), (kind,), time_limit(kind))
        outcomes = drain(engine)
    assert list(warnings.filters) == filters
    assert set(outcomes) == set(enumerate(kinds))
    for (_, kind), outcome in outcomes.items():
        status, words = FAULTS.get(kind, ("ok", ""))
        assert (kind, outcome.status) == (kind, status), outcome.error
        assert words in outcome.error, kind
        assert len(outcome.error) < 10_000
        assert outcome.value == (0.25 if status == "ok" else None)
    [orphan] = tmp_path.iterdir()
    wait_until(lambda: is_gone(int(orphan.name)))


def test_a_time_limit_may_be_a_float_of_numpy():
    with ProcessEngine(abs) as engine:
        engine.submit("key", (-1,), np.float32(60))
        assert drain(engine)["key"].value == 1


def test_time_limits_hold_while_nobody_waits():
    with ProcessEngine(Misbehavior()) as engine:
        engine.submit("stuck", ("hold_the_gil",), 0.2)
        pid = busy_worker(engine)
        wait_until(lambda: is_gone(pid))  # nobody calls a method of the engine
        outcome = drain(engine)["stuck"]
    assert outcome.status == "timeout"
    assert "The time limit of 0.2 s was exceeded." in outcome.error
    assert "in hold_the_gil" in outcome.error


def test_a_child_with_a_session_of_its_own_ends_at_the_time_limit_of_its_task(tmp_path):
    with ProcessEngine(Misbehavior(tmp_path)) as engine:
        engine.submit(0, ("stay_with_a_child_in_a_session_of_its_own",), 1.0)
        assert drain(engine)[0].status == "timeout"
        [child] = tmp_path.iterdir()
        wait_until(lambda: is_gone(int(child.name)))


def test_a_worker_killed_from_outside_costs_its_task_only():
    with ProcessEngine(time.sleep, 2) as engine:
        engine.submit("victim", (600,))
        engine.submit("other", (0.1,))
        wait_until(lambda: len(engine.wait(0.01)) == 1)
        victim, idle = sorted(engine._workers, key=lambda worker: worker.task is None)
        os.kill(victim.pid, signal.SIGKILL)
        os.kill(idle.pid, signal.SIGKILL)
        engine.submit("next", (0,))
        outcomes = drain(engine)
    assert outcomes["victim"].status == "crashed"
    assert outcomes["next"].status == "ok"


def test_large_results_come_while_others_are_killed():
    def work(size):
        return np.arange(size) if size else os._exit(1)

    with ProcessEngine(work, 2) as engine:
        for key in range(6):
            engine.submit(key, (1_000_000 if key % 2 else 0,), 60)
        outcomes = drain(engine)
    for key, outcome in outcomes.items():
        assert outcome.status == ("ok" if key % 2 else "crashed")
        assert not key % 2 or outcome.value[-1] == 999_999


def test_arguments_that_cannot_be_sent_are_a_failure_of_their_task():
    with ProcessEngine(Misbehavior()) as engine:
        engine.submit("bad", (threading.Lock(),))
        engine.submit("good", ("score",))
        outcomes = drain(engine)
    assert outcomes["bad"].status == "failed"
    assert "cannot pickle" in outcomes["bad"].error
    assert outcomes["good"].value == 0.25


def test_cancelling_kills_the_worker_and_the_rest_goes_on():
    with ProcessEngine(Misbehavior(), 2) as engine:
        for key in ("a", "b"):
            engine.submit(key, ("loop",))
        wait_until(lambda: engine.wait(0.01) == [] and all(w.task for w in engine._workers))
        pids = [worker.pid for worker in engine._workers]
        engine.submit("c", ("score",))
        engine.cancel(["a"])
        assert [key for key, _ in engine.wait()] == ["c"]
        wait_until(lambda: sum(is_gone(pid) for pid in pids) == 1)
        engine.cancel()
        wait_until(lambda: all(is_gone(pid) for pid in pids))
        assert engine.n_running == 0


@pytest.mark.parametrize("kind", ["loop", "score"])
def test_ctrl_c_in_wait_leaves_a_usable_engine(kind):
    with ProcessEngine(Misbehavior(), 2) as engine:
        engine.submit("first", ("loop",))
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            while True:  # without end also where the work is done in no time
                if not engine.wait(0.001) and kind == "score":
                    engine.submit(time.monotonic(), (kind,))
        timer.join()
        assert engine.n_running >= 1
        engine.cancel()
        engine.submit("next", ("score",))
        assert drain(engine)["next"].value == 0.25


def test_an_engine_nobody_closes_ends_with_its_last_reference():
    engine = ProcessEngine(Misbehavior(), 2)
    engine.submit(0, ("ignore_signals",))
    pid = busy_worker(engine)
    del engine
    gc.collect()
    assert is_gone(pid)


def test_two_engines_at_once_do_not_meddle():
    with ProcessEngine(Misbehavior(), 2) as one, ProcessEngine(Misbehavior(), 2) as two:
        one.submit(0, ("score",))
        two.submit(0, ("loop",))
        assert drain(one)[0].value == 0.25
        one.close()
        two.cancel()
        two.submit(1, ("score",))
        assert drain(two)[1].value == 0.25


def test_a_forked_child_does_not_end_the_workers_of_its_parent():
    with ProcessEngine(time.sleep) as engine:
        engine.submit(0, (1.0,))
        busy_worker(engine)
        child = os.fork()
        if child == 0:
            try:
                engine.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert drain(engine)[0].status == "ok"


def test_a_function_that_cannot_be_loaded_is_an_error_not_a_loop():
    with contextlib.closing(Mapped(len)) as source, ProcessEngine(len) as engine:
        source.load = _refuse
        engine._source = source
        engine.submit(0, ("score",))
        with pytest.raises(RuntimeError, match=r"cannot be loaded in a worker:(.|\n)*rebuilt"):
            engine.wait()


PROGRAM = """
import ctypes, mmap, multiprocessing, os, subprocess, sys
import numpy as np
from skauto.engines import make_engine

class Work:
    def __init__(self):
        self.data = np.ones((1000, 1000))

    def __getstate__(self):
        print("pickled")
        return self.__dict__

    def __call__(self, what):
        return getattr(self, what)()

    def add(self):
        base = self.data
        while isinstance(base, np.ndarray):
            base = base.base
        self.data[0, 0] = 5  # in a private copy of one page
        mapped = base is not None and isinstance(base.obj, mmap.mmap)
        return mapped, float(self.data[0].sum()), os.environ["OMP_NUM_THREADS"]

    def stick(self):
        child = subprocess.Popen(["sleep", "600"])
        with open(f"{folder}/{os.getpid()}", "w") as file:
            file.write(str(child.pid))
        ctypes.PyDLL(None).sleep(600)

method, folder, n_jobs = sys.argv[1:]
if method != "fork":
    multiprocessing.set_start_method(method)
with make_engine(Work(), n_jobs=int(n_jobs), isolate=True) as engine:
    for number in range(6):
        engine.submit(number, ("add",))
    values = set()
    while engine.n_running:
        values |= {outcome.value for _, outcome in engine.wait()}
    print(engine.start_method, values, flush=True)
    for number in range(int(n_jobs)):
        engine.submit(number, ("stick",))
    engine.wait()
"""


@pytest.mark.parametrize(
    ("method", "n_jobs", "expected"),
    [
        ("fork", 2, "fork {(False, 1004.0, '1')}\n"),
        ("forkserver", 1, "pickled\nforkserver {(True, 1004.0, '1')}\n"),
        ("spawn", 1, "pickled\nspawn {(True, 1004.0, '1')}\n"),
    ],
)
def test_programs_that_are_killed(method, n_jobs, expected, tmp_path, engines_only):
    """Each start method, without a file or a guard of `__main__`, until a `kill -9`.

    Data reaches the workers once: inherited or mapped. Workers and what they started die with the
    program, although they hold the GIL.
    """

    def pids():
        files = [path for path in tmp_path.iterdir() if path.read_text()]
        return [int(text) for path in files for text in (path.name, path.read_text())]

    command = [sys.executable, "-c", PROGRAM, method, str(tmp_path), str(n_jobs)]
    settings = {
        "stdout": subprocess.PIPE,
        "text": True,
        "cwd": tmp_path.parent,  # first in the path of the program
        "env": {**engines_only, "OMP_NUM_THREADS": "2"},  # workers have one all the same
    }
    with subprocess.Popen(command, **settings) as program:
        try:
            wait_until(lambda: len(pids()) == 2 * n_jobs or program.poll() is not None)
            assert not any(is_gone(pid) for pid in pids())
        finally:
            program.kill()
        assert program.stdout.read() == expected
        assert len(pids()) == 2 * n_jobs
    wait_until(lambda: all(is_gone(pid) for pid in pids()))


def test_no_process_can_be_started(monkeypatch):
    def refuse(*args):
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr("skauto.engines._processes.start_worker", refuse)
    with ProcessEngine(abs) as engine, pytest.raises(RuntimeError, match="ulimit.*n_jobs=None"):
        engine.submit("one", (-1,))
