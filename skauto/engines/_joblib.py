"""Run tasks on the joblib backend that the user has chosen, such as dask or threading."""

import contextlib
import queue
import sys
import time
import warnings
from collections.abc import Callable, Collection, Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import joblib
import sklearn
from joblib.parallel import (
    BACKENDS,
    BatchedCalls,
    ParallelBackendBase,
    SequentialBackend,
    get_active_backend,
)

from skauto.engines._base import Engine, Outcome, Task, describe
from skauto.engines._dask import DaskTransport
from skauto.engines._transport import MAX_RETRIES, Resubmit, loads, run_in_worker
from skauto.utils import backend_of, single_blas_thread


class JoblibEngine(Engine):
    """Run the tasks on the joblib backend that is active when the engine is created.

    There is no memory limit. Time limits are counted from the moment when a task is sent to a free
    worker. On dask, a task whose worker died is "crashed", and a worker that exceeds a time limit
    is restarted if it has a nanny and runs no other task. On other backends the outcome is
    "timeout" at once, but the worker is busy until the call ends.

    dask sends the function once to each worker; other backends with separate processes send it
    with each task. `n_jobs` is the number of tasks at the same time; None takes that of
    `joblib.parallel_config`, or else that of the backend.
    """

    def __init__(self, function: Callable[..., Any], n_jobs: int | None = None) -> None:
        backend, chosen_n_jobs = get_active_backend()
        n_jobs = chosen_n_jobs if n_jobs is None else n_jobs
        self._transport: DaskTransport | _BackendTransport
        if type(backend).__name__ == "DaskDistributedBackend":
            self._transport = DaskTransport(function, n_jobs, backend)
        else:
            self._transport = _BackendTransport(function, n_jobs)
        super().__init__(function, self._transport.n_workers)
        self._in_flight: dict[int, Task] = {}
        self._n_sent = 0

    def _running(self) -> Collection[Task]:
        return self._in_flight.values()

    def _submit(self, task: Task) -> None:
        self._queue.append(task)
        self._assign_tasks()

    def wait(self, timeout: float | None = None) -> list[tuple[Any, Outcome]]:
        end = float("inf") if timeout is None else time.monotonic() + timeout
        pause = 0.0
        while True:
            for number, read in self._transport.collect(pause):
                self._receive(number, read)
            self._enforce_time_limits()
            self._assign_tasks()
            now = time.monotonic()
            if self._finished or now >= end or not self.n_running:
                return self._take_finished()
            deadlines = (task.deadline for task in self._in_flight.values())
            pause = max(0.001, min(end, now + 1.0, *deadlines) - now)

    def _assign_tasks(self) -> None:
        while self._queue and self._transport.has_room():
            task = self._queue.popleft()
            task.start()
            self._n_sent += 1
            try:
                self._transport.send(self._n_sent, task.args)
            except Resubmit:  # the last worker has just gone
                self._queue.appendleft(task)
                return
            self._in_flight[self._n_sent] = task

    def _receive(self, number: int, read: Callable[[], Outcome]) -> None:
        task = self._in_flight.pop(number, None)
        if task is None:
            return
        try:
            outcome = read()
        except Resubmit as reason:
            if task.n_retries < MAX_RETRIES:
                task.n_retries += 1
                self._queue.appendleft(task)
                return
            outcome = Outcome("crashed", None, str(reason))
        except Exception as exception:
            outcome = Outcome("crashed", None, describe(exception))
        if outcome.status == "crashed":
            outcome = replace(outcome, seconds=time.monotonic() - task.started)
        self._finished.append((task.key, outcome))

    def _enforce_time_limits(self) -> None:
        now = time.monotonic()
        for number, task in list(self._in_flight.items()):
            if task.time_limit is not None and now > task.deadline:
                del self._in_flight[number]
                self._transport.kill(number)
                text = f"The time limit of {task.time_limit:.3g} s was exceeded."
                self._finished.append((task.key, Outcome("timeout", None, text, task.time_limit)))

    def cancel(self, keys: Collection[Hashable] | None = None) -> None:
        """Drop running and queued tasks; see `Engine.cancel`.

        Running calls continue to their end. If all tasks are canceled, those on dask are killed.
        """
        for number, task in list(self._in_flight.items()):
            if keys is None or task.key in keys:
                del self._in_flight[number]
                if keys is None:
                    self._transport.kill(number)
        super().cancel(keys)

    def close(self) -> None:
        if not self._closed:
            super().close()
            self._transport.close()


class _BackendTransport:
    """Tasks on any backend, by the methods that joblib requires of backends.

    `collect` waits until a task ends, and returns ended tasks, each with a function that reads it.
    """

    def __init__(self, function: Callable[..., Any], n_jobs: int | None) -> None:
        self._open(joblib.Parallel(n_jobs=n_jobs))
        if isinstance(self.backend, SequentialBackend):
            raise ValueError(
                "JoblibEngine needs a joblib backend with at least 2 jobs: choose one with "
                f"joblib.parallel_config(backend, n_jobs=...). Got n_jobs={n_jobs!r}."
            )
        self.n_workers = self.backend.effective_n_jobs(self.parallel.n_jobs)
        self.function = function
        self.config = sklearn.get_config()
        self.shares_memory = getattr(self.backend, "supports_sharedmem", False)
        self.arrived: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.n_open = 0
        self.blas = contextlib.ExitStack()
        self.quiet = contextlib.ExitStack()  # while tasks are open
        if self.shares_memory:
            self.blas.enter_context(single_blas_thread())

    def _open(self, parallel: joblib.Parallel) -> None:
        self.parallel = parallel
        self.parallel.__enter__()
        self.backend = backend_of(self.parallel)
        self.backend.start_call()

    def has_room(self) -> bool:
        return self.n_open < self.n_workers

    def send(self, number: int, args: tuple[Any, ...]) -> None:
        arguments = (self.function, args, self.config, not self.shares_memory)
        nested = SequentialBackend(nesting_level=1), 1
        calls = BatchedCalls([(run_in_worker, arguments, {})], nested)
        if self.shares_memory and not self.n_open:
            # Threads must not change the filters: one that ends last would restore wrong ones.
            self.quiet.enter_context(warnings.catch_warnings(action="ignore"))
        self.n_open += 1

        def arrive(result: Any) -> None:
            self.arrived.put((number, result))

        try:
            self.backend.submit(calls, callback=arrive)
        except Exception:  # a process pool cannot be used after one of its workers died
            self._shut()
            self._open(joblib.Parallel(n_jobs=self.n_workers, backend=self.backend))
            self.backend.submit(calls, callback=arrive)

    def collect(self, pause: float) -> list[tuple[int, Callable[[], Outcome]]]:
        ended: list[tuple[int, Callable[[], Outcome]]] = []
        with contextlib.suppress(queue.Empty):
            while True:
                number, result = self.arrived.get(timeout=0 if ended else pause)
                self.n_open -= 1
                if not self.n_open:
                    self.quiet.close()
                ended.append((number, partial(self.read, result)))
        return ended

    def read(self, result: Any) -> Outcome:
        [outcome] = self.backend.retrieve_result_callback(result)
        return outcome if self.shares_memory else loads(outcome)

    def kill(self, number: int) -> None:
        """Do nothing: joblib backends cannot stop a task."""

    def close(self) -> None:
        self._shut()
        self.quiet.close()
        self.blas.close()

    def _shut(self) -> None:
        if self.n_open:
            self.backend.abort_everything(ensure_ready=False)
        self.backend.stop_call()
        with contextlib.suppress(AttributeError):  # loky has nothing left after an abort
            self.parallel.__exit__(None, None, None)


def chosen_backend() -> ParallelBackendBase | None:
    """Return the backend that the user chose, unless it is a pool of local processes."""
    backend, _ = get_active_backend()
    local = [BACKENDS.get(name) for name in ("loky", "multiprocessing", "sequential")]
    return None if type(backend) in local else backend


def in_parallel_call() -> bool:
    """Whether joblib runs this code as one of several tasks."""
    backend, _ = get_active_backend()
    return (getattr(backend, "nesting_level", 0) or 0) > 0 or _inside_dask_worker()


def _inside_dask_worker() -> bool:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
