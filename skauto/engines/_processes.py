"""Local worker processes that are killed at their time and memory limits, and replaced.

How the engine works. The parent starts no threads: all work is done in calls of its methods.

- A worker leads its own process group. It gets one task at a time over a socket pair. The parent
  reads without blocking, so that no worker can block it.
- Time limit: the kernel's timer (SIGALRM) ends the worker at the limit, also while the parent is
  busy. The parent kills a worker that still lives 0.1 s later.
- Memory limit: the parent polls the resident memory of the process tree. A limit on the data
  segment makes a single large allocation fail at once.
- The end of the parent, for any reason, closes a pipe, and the kernel then kills all groups.
- Replacement is lazy: the next task that needs a worker starts one.
"""

import contextlib
import multiprocessing
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator
from multiprocessing import connection
from multiprocessing.util import Finalize
from typing import Any

import cloudpickle
import psutil
import sklearn

from skauto.engines._base import Engine, Outcome, Task, describe, dumps
from skauto.engines._handle import WorkerHandle, private_memory, start_worker
from skauto.engines._worker import FRAME, Mapped, Source

GRACE = 0.1  # seconds between the worker's own timer and the parent's
TICK = 0.25  # seconds between two checks for dead workers
MEMORY_TICK = 0.05  # seconds between two checks of memory
STALL_LIMIT = 30.0  # seconds past the deadline that a worker may take to send its outcome
START_LIMIT = 120.0  # seconds until a new worker must be ready
MAX_FAILED_STARTS = 3
# A worker that still holds this share of the memory limit after a task is replaced.
MAX_KEPT_MEMORY = 0.25


class ProcessEngine(Engine):
    """Run the tasks in local worker processes that can be killed.

    Each failure is the outcome of its task only: an exception or a result that cannot be pickled
    is "failed", a dead worker is "crashed", exceeded limits are "timeout" and "memout". A dead
    worker is replaced. Workers write no output, show no warnings, ignore Ctrl-C and run
    single-threaded. They die with this process, even if it is killed.

    Under "fork" workers inherit the function; otherwise it is pickled once into an unnamed
    temporary file, from which workers map large arrays. Workers are started when they are needed.

    The `start_method` None takes the one that `multiprocessing.set_start_method` set, unless it is
    Python's default; else "fork" on Linux and Python's default elsewhere. Under "fork" a script
    needs no ``if __name__ == "__main__"``, nothing is pickled, and a worker is replaced within
    some hundredths of a second. OpenMP, which must not be used before and after a fork, is limited
    to one thread in workers. Choose "spawn" (or, if it is not Python's default, "forkserver") if
    the process runs threads of libraries that do not survive a fork.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        n_workers: int = 1,
        memory_limit: int | None = None,
        start_method: str | None = None,
    ) -> None:
        super().__init__(function, n_workers, memory_limit)
        self._context = multiprocessing.get_context(start_method or _default_start_method())
        self.start_method = self._context.get_start_method()
        self._config = sklearn.get_config()
        self._source: Source
        if self.start_method == "fork":
            self._source, self._dumps = function, dumps
        else:
            # cloudpickle also pickles functions of notebooks and of scripts read from a pipe.
            self._source, self._dumps = Mapped(function), cloudpickle.dumps
        self._workers: list[WorkerHandle] = []
        self._dying: list[WorkerHandle] = []
        self._n_failed_starts = 0
        self._has_started = False  # a worker was ready
        self._next_memory_check = 0.0
        self._next_children_check = 0.0
        # Runs on `close`, on garbage collection and at the end of the interpreter.
        self._shut_down = Finalize(
            self, _shut_down, (self._workers, self._dying, self._source), exitpriority=100
        )

    def _running(self) -> list[Task]:
        return [worker.task for worker in self._workers if worker.task is not None]

    def _submit(self, task: Task) -> None:
        try:
            content = self._dumps((self._dumps(task.args), task.time_limit))
        except Exception as exception:
            self._finished.append((task.key, Outcome("failed", error=describe(exception))))
            return
        task.args = FRAME.pack(len(content), 0) + content
        with _defer_interrupts():
            self._queue.append(task)
            self._advance()

    def wait(self, timeout: float | None = None) -> list[tuple[Any, Outcome]]:
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            with _defer_interrupts():
                self._advance()
                channels = [worker.channel for worker in self._workers]
                sentinels = [worker.process.sentinel for worker in self._workers]
                pause = self._pause(end)
            if self._finished or pause <= 0 or not self.n_running:
                return self._take_finished()
            connection.wait([*channels, *sentinels], pause)

    def cancel(self, keys: Collection[Hashable] | None = None) -> None:
        with _defer_interrupts():
            for worker in list(self._workers):
                if worker.task is not None and (keys is None or worker.task.key in keys):
                    self._discard(worker)
            super().cancel(keys)

    def close(self) -> None:
        self._closed = True
        with _defer_interrupts():
            self._queue.clear()
            self._finished.clear()
            self._shut_down()

    def _advance(self) -> None:
        """Receive outcomes, enforce the limits, and assign queued tasks to idle workers."""
        self._find_children()
        for worker in list(self._workers):
            self._receive_from(worker)
        self._enforce_time_limits()
        self._enforce_memory_limit()
        self._assign_tasks()
        for worker in list(self._dying):
            if worker.process.exitcode is not None:
                self._dying.remove(worker)
                worker.process.close()

    def _receive_from(self, worker: WorkerHandle) -> None:
        dead = worker.process.exitcode is not None
        open_ = worker.read()  # after the exit code: the last message of a dead worker has arrived
        try:
            message = worker.message()
        except Exception:  # the task wrote into the channel
            message, open_ = None, False
        if message is not None:
            self._receive(worker, *message)
        if dead or not open_:
            self._handle_death(worker)

    def _receive(self, worker: WorkerHandle, header: tuple[Any, ...], content: memoryview) -> None:
        status, has_value, error, seconds = header
        if status == "broken":
            raise RuntimeError(
                f"The function of the engine cannot be loaded in a worker:\n{error}"
            )
        if status == "ready":
            worker.ready = True
            self._n_failed_starts = 0
            with contextlib.suppress(psutil.Error):  # it may have died since
                worker.handle = psutil.Process(worker.pid)
                if self.memory_limit is not None:
                    worker.fresh_memory = private_memory(worker.handle)
            self._has_started = True
            return
        value = None
        if has_value:
            try:
                value = pickle.loads(content)
            except Exception as exception:
                status, error = "failed", describe(exception)
        self._finish(worker, Outcome(status, value, error, seconds))
        if self.memory_limit is not None and (
            status == "memout" or worker.measure() > MAX_KEPT_MEMORY * self.memory_limit
        ):
            self._discard(worker)

    def _finish(self, worker: WorkerHandle, outcome: Outcome) -> None:
        assert worker.task is not None
        self._finished.append((worker.task.key, outcome))
        worker.task = None

    def _discard(self, worker: WorkerHandle) -> None:
        """Kill a worker whose task has been finished or canceled."""
        self._workers.remove(worker)
        self._dying.append(worker)
        worker.kill()
        worker.release()

    def _handle_death(self, worker: WorkerHandle) -> None:
        """Record the outcome of a worker that died or closed its end of the channel."""
        if worker not in self._workers:
            return
        worker.process.join(0.2)
        exitcode = worker.process.exitcode
        trace = worker.last_traceback()
        self._discard(worker)
        if worker.task is not None and worker.unread:
            self._queue.appendleft(worker.task)
        elif worker.task is not None:
            self._finish(worker, self._outcome_of_death(worker, exitcode, trace))
        elif not worker.ready:
            self._n_failed_starts += 1
            # The main module of a script that lacks the guard fails at every start.
            by_main = self.start_method != "fork" and not self._has_started
            if self._n_failed_starts >= (1 if by_main and exitcode == 1 else MAX_FAILED_STARTS):
                raise RuntimeError(self._start_error(exitcode, trace))

    def _outcome_of_death(self, worker: WorkerHandle, exitcode: int | None, trace: str) -> Outcome:
        assert worker.task is not None
        seconds = time.monotonic() - worker.task.started
        limit = worker.task.time_limit
        # The exit code is unknown if a signal handler of the program waits for all children.
        by_timer = exitcode in (-signal.SIGALRM, None)
        if by_timer and limit is not None and seconds >= 0.99 * limit:
            return Outcome("timeout", None, _timeout_text(limit, trace), limit)
        if self.memory_limit is not None and worker.last_memory > self.memory_limit:
            return Outcome("memout", None, self._memory_text(worker), seconds)
        if exitcode is None:
            text = "The worker process closed its connection."
        elif exitcode < 0:
            text = f"The worker process was ended by {_signal_name(-exitcode)}."
        else:
            text = f"The worker process ended with exit code {exitcode}."
        return Outcome("crashed", None, f"{text}\n{trace}".strip(), seconds)

    def _start_error(self, exitcode: int | None, trace: str) -> str:
        hint = ""
        if self.start_method != "fork":
            hint = (
                f' With the start method "{self.start_method}" a script must run its code '
                'under `if __name__ == "__main__":`.'
            )
        return (
            f"Worker processes cannot be started: {self._n_failed_starts} in a row ended (the "
            f"last with exit code {exitcode}) before they were ready.{hint} Set n_jobs=None and "
            f"no limits to evaluate in this process instead.\n{trace}"
        ).strip()

    def _enforce_time_limits(self) -> None:
        now = time.monotonic()
        for worker in list(self._workers):
            task = worker.task
            # A worker that is already sending its outcome ended in time.
            stall = STALL_LIMIT if worker.received else 0.0
            if task is not None and now > task.deadline + stall:
                assert task.time_limit is not None
                text = _timeout_text(task.time_limit, worker.last_traceback())
                self._discard(worker)
                self._finish(worker, Outcome("timeout", None, text, task.time_limit))
            elif not worker.ready and now > worker.started + START_LIMIT:
                worker.kill()

    def _enforce_memory_limit(self) -> None:
        now = time.monotonic()
        if self.memory_limit is None or now < self._next_memory_check:
            return
        self._next_memory_check = now + MEMORY_TICK
        for worker in list(self._workers):
            if worker.task is not None and worker.measure() > self.memory_limit:
                self._discard(worker)
                seconds = now - worker.task.started
                self._finish(worker, Outcome("memout", None, self._memory_text(worker), seconds))

    def _find_children(self) -> None:
        """Add the descendants of this process to the workers they come from, once in a TICK.

        They are not found when the worker has ended: at its time limit it ends itself.
        """
        now = time.monotonic()
        if now < self._next_children_check or not any(
            now - task.started >= TICK for task in self._running()
        ):
            return
        self._next_children_check = now + TICK
        members = {worker.pid: worker for worker in self._workers}
        descendants = psutil.Process().children(recursive=True)
        for process in descendants:  # parents come before their children
            if process.pid in members:
                continue
            with contextlib.suppress(psutil.Error):
                parent = members.get(process.ppid())
                if parent is not None:
                    members[process.pid] = parent
                    parent.children.add(process)

    def _memory_text(self, worker: WorkerHandle) -> str:
        return (
            f"The worker process took {worker.last_memory / 2**20:.0f} MiB, more than "
            f"memory_limit={self.memory_limit} bytes allows."
        )

    def _assign_tasks(self) -> None:
        idle = [worker for worker in self._workers if worker.ready and worker.task is None]
        while self._queue and idle:
            worker = idle.pop()
            if not worker.send(self._queue[0].args):
                self._discard(worker)
                continue
            worker.task = self._queue.popleft()
            worker.task.start(GRACE)
        n_starting = sum(not worker.ready for worker in self._workers)
        n_wanted = min(len(self._queue) - n_starting, self.n_workers - len(self._workers))
        for _ in range(n_wanted):
            try:
                self._workers.append(
                    start_worker(self._context, self._source, self._config, self.memory_limit)
                )
            except OSError as exc:  # out of memory, processes or descriptors: continue with fewer
                if not self._workers:
                    raise RuntimeError(
                        f"No worker process can be started: {exc}. Close other programs, or raise "
                        "the limits of processes and open files (ulimit -u, -n). Set n_jobs=None "
                        "and no limits to evaluate in this process instead."
                    ) from exc
                break

    def _pause(self, end: float) -> float:
        """Return the seconds until the next check is due, at most until `end`."""
        now = time.monotonic()
        moments = [end, now + TICK, *(task.deadline for task in self._running())]
        if self.memory_limit is not None:
            moments.append(now + MEMORY_TICK)
        return max(min(moments), min(end, now + 1e-3)) - now


def _default_start_method() -> str:
    """Return the method that the user set, unless it is Python's default or a method of loky.

    Python's default ("forkserver" on Linux since Python 3.14) may have been set by joblib, which
    sets it on first use.
    """
    chosen = multiprocessing.get_start_method(allow_none=True)
    default, *others = multiprocessing.get_all_start_methods()
    if chosen in others and chosen in ("fork", "forkserver", "spawn"):
        return chosen
    return "fork" if sys.platform == "linux" else default


def _shut_down(workers: list[WorkerHandle], dying: list[WorkerHandle], source: Source) -> None:
    for worker in workers:
        worker.kill()
        worker.release()
    for worker in [*workers, *dying]:
        worker.process.join(10.0)
        if worker.process.exitcode is not None:
            worker.process.close()
    workers.clear()
    dying.clear()
    if isinstance(source, Mapped):
        source.close()


def _timeout_text(limit: float, trace: str) -> str:
    return f"The time limit of {limit:.3g} s was exceeded.\n{trace}".strip()


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


@contextlib.contextmanager
def _defer_interrupts() -> Iterator[None]:
    """Defer Ctrl-C while the engine's state changes; it is raised at the end."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    arrived: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *arguments: arrived.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if arrived:
        handler(*arrived[0])
