"""The process engine survives whatever one task does, and leaves nothing behind."""

import contextlib
import ctypes
import gc
import logging
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import psutil
import pytest
from joblib.externals.loky import get_reusable_executor
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from skauto.engines import ProcessEngine, SerialEngine, make_engine
from skauto.engines._worker import Mapped
from tests.polling import PATIENCE, drain, wait_until
from tests.process_state import belongings

MEMORY_LIMIT = 200 * 2**20
TIME_LIMIT = 0.2


class BadOnArrival:
    def __reduce__(self):
        return _refuse, ()


def _refuse():
    raise ValueError("cannot be rebuilt")


class Wordless(Exception):
    def __init__(self):
        super().__init__(threading.Lock())

    def __str__(self):
        raise RuntimeError

    def __reduce__(self):
        raise TypeError


class Misbehavior:
    """One method for each fault."""

    def __init__(self, folder=None):
        self.folder = folder

    def __call__(self, kind):
        return getattr(self, kind)()

    def score(self):
        return 0.25

    def raise_error(self):
        raise ValueError("bad hyper-parameter")

    def raise_unpicklable(self):
        raise Wordless

    def raise_without_end(self):
        raise ValueError("x" * 10**7)

    def recurse(self):
        return self.recurse()

    def exit_python(self):
        sys.exit("enough")

    def interrupt(self):
        raise KeyboardInterrupt

    def return_unpicklable(self):
        return threading.Lock()

    def return_bad_on_arrival(self):
        return BadOnArrival()

    def raise_memory_error(self):
        raise MemoryError

    def ask_for_too_much(self):
        return np.ones(10**10)

    def grow(self):
        blocks = []
        while True:
            blocks.append(np.ones(10**5))
            time.sleep(0.001)

    def grow_in_a_child(self):
        code = "import time; block = b'x' * (150 << 20); time.sleep(600)"
        children = [subprocess.Popen([sys.executable, "-S", "-c", code]) for _ in range(2)]
        children[0].wait()

    def loop(self):
        while True:
            pass

    def hold_the_gil(self):
        ctypes.PyDLL(None).sleep(600)

    def ignore_signals(self):
        for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        self.loop()

    def stop(self):
        os.kill(os.getpid(), signal.SIGSTOP)

    def print_without_end(self):
        while True:
            print("x" * 10_000)
            os.write(2, b"x" * 10_000)

    def warn_without_end(self):
        while True:
            warnings.warn(f"now {time.time()}", stacklevel=1)
            logging.getLogger("skauto.test").error("now %s", time.time())

    def segfault(self):
        ctypes.string_at(0)

    def abort(self):
        os.abort()

    def exit_with_success(self):
        os._exit(0)

    def be_killed(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def be_terminated(self):
        os.kill(os.getpid(), signal.SIGTERM)

    def close_everything(self):
        os.closerange(0, 1000)

    def write_into_the_channel(self):
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:"):
                    with socket.socket(fileno=os.dup(descriptor)) as copy:
                        if copy.family == socket.AF_UNIX:
                            copy.send(b"\xff" * 100, socket.MSG_DONTWAIT)

    def leave_a_child_and_die(self):
        child = os.fork()
        if child == 0:
            time.sleep(600)
        Path(self.folder, str(child)).touch()
        os._exit(1)

    def come_back_twice(self):
        os.fork()
        return 0.25

    def disturb(self):
        """Change what the next task of the same worker relies on."""
        os.environ["OMP_NUM_THREADS"] = "7"
        warnings.simplefilter("error")
        sys.setrecursionlimit(300)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.alarm(1000)
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        return 0.25


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


@pytest.fixture(scope="module", autouse=True)
def no_loky():
    """End the workers of joblib that earlier tests left: they come and go as they like."""
    get_reusable_executor().shutdown(wait=True, kill_workers=True)
    belongings()  # the first look opens descriptors of its own


@pytest.fixture(autouse=True)
def nothing_left_behind():
    before = belongings()
    yield
    assert belongings() == before


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


def test_time_limits_hold_while_nobody_waits():
    with ProcessEngine(Misbehavior()) as engine:
        engine.submit("stuck", ("hold_the_gil",), 0.2)
        pid = busy_worker(engine)
        wait_until(lambda: is_gone(pid))  # nobody calls a method of the engine
        outcome = drain(engine)["stuck"]
    assert outcome.status == "timeout"
    assert "The time limit of 0.2 s was exceeded." in outcome.error
    assert "in hold_the_gil" in outcome.error


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


def test_limits_are_for_single_tasks_not_for_what_came_before():
    """Memory that a worker keeps after a task is not held against the next one."""

    kept = []

    def keep(n_megabytes):
        kept.append(np.ones(n_megabytes * 2**17))
        return os.getpid()

    with ProcessEngine(keep, memory_limit=MEMORY_LIMIT) as engine:
        pids = []
        for _ in range(4):
            engine.submit(0, (90,))
            pids.append(drain(engine)[0].value)
    assert len(set(pids)) == 4
    with ProcessEngine(keep, memory_limit=MEMORY_LIMIT) as engine:
        pids = []
        for _ in range(4):
            engine.submit(0, (1,))
            pids.append(drain(engine)[0].value)
    assert len(set(pids)) == 1


def test_inherited_data_does_not_count():
    data = np.ones(30 * 2**20)  # 240 MiB
    with ProcessEngine(lambda: float(data.sum()), memory_limit=MEMORY_LIMIT) as engine:
        engine.submit(0)
        assert drain(engine)[0].value == data.size


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


def test_a_fork_inherits_the_function_instead_of_pickling_it():
    class Unpicklable:
        def __call__(self, value):
            return value + 1

        def __reduce__(self):
            raise TypeError("not to be pickled")

    with ProcessEngine(Unpicklable(), start_method="fork") as engine:
        engine.submit(0, (1,))
        assert drain(engine)[0].value == 2


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


def test_ctrl_c_in_the_serial_engine_drops_the_running_task():
    with SerialEngine(Misbehavior()) as engine:
        engine.submit(0, ("interrupt",))
        engine.submit(1, ("score",))
        with pytest.raises(KeyboardInterrupt):
            engine.wait()
        assert [key for key, _ in engine.wait()] == [1]


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


def test_a_worker_that_runs_the_main_script_is_stopped(monkeypatch):
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(RuntimeError, match="runs the main script again.*__main__"):
        make_engine(Misbehavior())


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


def test_openmp_after_a_fork():
    """libgomp hangs in a forked child that asks for threads after its parent has used them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = X[:, 0] > 0
    models = [
        LGBMClassifier(n_estimators=5, n_jobs=2, verbose=-1, random_state=0),
        HistGradientBoostingClassifier(max_iter=5, random_state=0),
        KNeighborsClassifier(),
    ]

    def fit(number):
        n_threads = psutil.Process().num_threads()
        score = models[number].fit(X, y).score(X, y)
        return score > 0.8, psutil.Process().num_threads() - n_threads

    # The threads of these fits race for the filters of warnings, and may leave a copy behind.
    with threadpool_limits(2), warnings.catch_warnings():
        assert all(fit(number)[0] for number in range(3))
    with ProcessEngine(fit) as engine:
        for number in range(3):
            engine.submit(number, (number,), PATIENCE)
        outcomes = drain(engine)
    assert [outcomes[number].value for number in range(3)] == 3 * [(True, 0)]


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


def test_no_descriptor_reaches_a_program_that_a_task_starts():
    def count():
        code = "import os; print(len(os.listdir('/proc/self/fd')))"
        text = subprocess.run(
            [sys.executable, "-S", "-c", code], capture_output=True, text=True, close_fds=False
        ).stdout
        return int(text)

    before = count()
    with ProcessEngine(count) as engine:
        engine.submit(0)
        assert drain(engine)[0].value == before


def test_a_worker_that_is_gone_when_it_is_looked_up(monkeypatch):
    """A worker can end between its message and the look at its process."""
    lost = []

    class Vanishing(psutil.Process):
        def __init__(self, pid=None, *args):
            if pid not in (None, os.getpid()) and not lost:
                lost.append(pid)
                raise psutil.NoSuchProcess(pid)
            super().__init__(pid, *args)

    monkeypatch.setattr(psutil, "Process", Vanishing)
    with ProcessEngine(abs) as engine:
        engine.submit("one", (-1,))
        assert drain(engine)["one"].value == 1
    assert lost


def test_no_process_can_be_started(monkeypatch):
    def refuse(*args):
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr("skauto.engines._processes.start_worker", refuse)
    with ProcessEngine(abs) as engine, pytest.raises(RuntimeError, match="ulimit.*n_jobs=None"):
        engine.submit("one", (-1,))


def test_a_program_that_closed_the_standard_descriptors(tmp_path):
    script = tmp_path / "closed.py"
    script.write_text(
        "import os, sys\n"
        "from skauto.engines import ProcessEngine\n"
        "for descriptor in (0, 1, 2):\n"
        "    os.close(descriptor)\n"
        "with ProcessEngine(abs) as engine:\n"
        "    engine.submit('one', (-1,))\n"
        "    [(key, outcome)] = engine.wait()\n"
        "open(sys.argv[1], 'w').write(f'{outcome.status} {outcome.value}')\n"
    )
    subprocess.run([sys.executable, script, tmp_path / "result"], check=True, timeout=60)
    assert (tmp_path / "result").read_text() == "ok 1"
