"""Run tasks on the joblib backend that the user has chosen: dask, ray, threading, ..."""

import asyncio
import concurrent.futures
import contextlib
import math
import os
import pickle
import queue
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import joblib
import sklearn
from joblib.parallel import (
    BACKENDS,
    BatchedCalls,
    ParallelBackendBase,
    SequentialBackend,
    get_active_backend,
)

from skauto.engines._base import (
    Engine,
    Outcome,
    call,
    describe,
    dumps,
    single_thread,
    thread_pools,
)
from skauto.utils import backend_of

POLL = 0.005  # seconds between two checks of dask's futures
CLUSTER_TICK = 0.25  # seconds between two updates of the list of dask workers
KILL_TICK = 2.0  # seconds between two requests to a nanny to kill its worker
MAX_SILENCE = 10.0  # seconds to wait for an answer of the scheduler
MAX_WORKERLESS = 300.0  # seconds that a cluster may have no worker
MAX_RETRIES = 2  # of a task lost together with others, or of a copy that a worker could not load


@dataclass
class _Task:
    key: Hashable
    args: tuple[Any, ...]
    time_limit: float | None
    started: float = 0.0
    deadline: float = float("inf")
    n_retries: int = 0


class _Resubmit(Exception):
    """A task must be sent again: it was lost, and may not have caused the loss."""


class JoblibEngine(Engine):
    """Run the tasks on the joblib backend that is active when the engine is created.

    There is no memory limit. Time limits are counted from the moment when a task is sent to a free
    worker. On dask, a task whose worker died is "crashed", and a worker that exceeds a time limit
    is restarted if it has a nanny and runs no other task. On other backends the outcome is
    "timeout" at once, but the worker is busy until the call ends.

    Parameters
    ----------
    function : callable
        Function that every task calls. dask sends it once to each worker; other backends with
        separate processes send it with each task.
    n_jobs : int, default=None
        Number of tasks at the same time. None takes the number of `joblib.parallel_config`, or
        else that of the backend.

    Examples
    --------
    >>> import joblib
    >>> from skauto.engines import JoblibEngine
    >>> with joblib.parallel_config("threading", n_jobs=2), JoblibEngine(abs) as engine:
    ...     engine.submit("a", (-1,))
    ...     engine.wait()[0][1].value
    1
    """

    def __init__(self, function: Callable[..., Any], n_jobs: int | None = None) -> None:
        backend, chosen_n_jobs = get_active_backend()
        n_jobs = chosen_n_jobs if n_jobs is None else n_jobs
        self._transport: _Transport
        if type(backend).__name__ == "DaskDistributedBackend":
            self._transport = _DaskTransport(function, n_jobs, backend)
        else:
            self._transport = _BackendTransport(function, n_jobs)
        super().__init__(function, self._transport.n_workers)
        self._queue: deque[_Task] = deque()
        self._in_flight: dict[int, _Task] = {}
        self._finished: list[tuple[Hashable, Outcome]] = []
        self._n_sent = 0

    def _keys(self) -> list[Hashable]:
        waiting = [task.key for task in (*self._queue, *self._in_flight.values())]
        return [*waiting, *(key for key, _ in self._finished)]

    def _submit(self, key: Hashable, args: tuple[Any, ...], time_limit: float | None) -> None:
        self._queue.append(_Task(key, args, time_limit))
        self._assign_tasks()

    def wait(self, timeout: float | None = None) -> list[tuple[Any, Outcome]]:
        """Return the tasks that ended since the last call; see `Engine.wait`."""
        end = float("inf") if timeout is None else time.monotonic() + timeout
        pause = 0.0
        while True:
            for number, read in self._transport.collect(pause):
                self._receive(number, read)
            self._enforce_time_limits()
            self._assign_tasks()
            now = time.monotonic()
            if self._finished or now >= end or not self.n_running:
                finished = list(self._finished)
                del self._finished[: len(finished)]
                return finished
            deadlines = (task.deadline for task in self._in_flight.values())
            pause = max(0.001, min(end, now + 1.0, *deadlines) - now)

    def _assign_tasks(self) -> None:
        while self._queue and self._transport.has_room():
            task = self._queue.popleft()
            task.started = time.monotonic()
            if task.time_limit is not None:
                task.deadline = task.started + task.time_limit
            self._n_sent += 1
            try:
                self._transport.send(self._n_sent, task.args)
            except _Resubmit:  # the last worker has just gone
                self._queue.appendleft(task)
                return
            self._in_flight[self._n_sent] = task

    def _receive(self, number: int, read: Callable[[], Outcome]) -> None:
        task = self._in_flight.pop(number, None)
        if task is None:
            return
        try:
            outcome = read()
        except _Resubmit as reason:
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
                self._drop(number, kill=True)
                text = f"The time limit of {task.time_limit:.3g} s was exceeded."
                self._finished.append((task.key, Outcome("timeout", None, text, task.time_limit)))

    def _drop(self, number: int, kill: bool) -> None:
        """Drop a task; its worker is busy until the call ends or is killed."""
        del self._in_flight[number]
        if kill:
            self._transport.kill(number)

    def cancel(self, keys: Collection[Hashable] | None = None) -> None:
        """Drop running and queued tasks; see `Engine.cancel`.

        Running calls continue to their end. If all tasks are cancelled, those on dask are killed.
        """
        chosen = set(self._keys() if keys is None else keys)
        self._queue = deque(task for task in self._queue if task.key not in chosen)
        self._finished[:] = [item for item in self._finished if item[0] not in chosen]
        for number, task in list(self._in_flight.items()):
            if task.key in chosen:
                self._drop(number, kill=keys is None)

    def close(self) -> None:
        """Cancel all tasks and release the backend. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self.cancel()
            self._transport.close()


class _Transport(Protocol):
    """Sends tasks to the workers of a backend and collects their outcomes."""

    n_workers: int

    def has_room(self) -> bool:
        """Whether a worker is free."""

    def send(self, number: int, args: tuple[Any, ...]) -> None:
        """Start a task on a free worker."""

    def collect(self, pause: float) -> list[tuple[int, Callable[[], Outcome]]]:
        """Wait until a task ends; return ended tasks, each with a function that reads it."""

    def kill(self, number: int) -> None:
        """Stop a task if the backend supports it."""

    def close(self) -> None:
        """Release all resources."""


class _BackendTransport:
    """Any backend, by the methods that joblib requires of backends."""

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
        if self.shares_memory:
            self.blas.enter_context(thread_pools().limit(limits=1, user_api="blas"))

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
        calls = BatchedCalls([(_remote, arguments, {})], nested)
        self.n_open += 1
        try:
            self.backend.submit(calls, callback=_Callback(self.arrived, number))
        except Exception:  # a process pool cannot be used after one of its workers died
            self._shut()
            self._open(joblib.Parallel(n_jobs=self.n_workers, backend=self.backend))
            self.backend.submit(calls, callback=_Callback(self.arrived, number))

    def collect(self, pause: float) -> list[tuple[int, Callable[[], Outcome]]]:
        ended: list[tuple[int, Callable[[], Outcome]]] = []
        with contextlib.suppress(queue.Empty):
            while True:
                number, result = self.arrived.get(timeout=0 if ended else pause)
                self.n_open -= 1
                ended.append((number, _Reader(self, result)))
        return ended

    def read(self, result: Any) -> Outcome:
        [outcome] = self.backend.retrieve_result_callback(result)
        return outcome if self.shares_memory else _loads(outcome)

    def kill(self, number: int) -> None:
        """Do nothing: joblib backends cannot stop a task."""

    def close(self) -> None:
        self._shut()
        self.blas.close()

    def _shut(self) -> None:
        if self.n_open:
            self.backend.abort_everything(ensure_ready=False)
        self.backend.stop_call()
        with contextlib.suppress(AttributeError):  # loky has nothing left after an abort
            self.parallel.__exit__(None, None, None)


@dataclass
class _Host:
    """A dask worker and its copy of the function."""

    n_threads: int
    copy: concurrent.futures.Future[Any]
    n_failures: int = 0

    def data(self) -> Any:
        """Return the handle of the copy once the worker has it, else None."""
        if not self.copy.done() or self.copy.cancelled() or self.copy.exception() is not None:
            return None
        handle = self.copy.result()
        return handle if handle.status == "finished" else None


@dataclass
class _Sent:
    """A task that was sent to a dask worker."""

    address: str
    future: Any
    result: concurrent.futures.Future[Any]
    kill: concurrent.futures.Future[Any] | None = None
    next_kill: float = float("inf")


class _DaskTransport:
    """Use the dask client: dask's joblib backend neither reports dead workers nor stops tasks.

    Each task is sent to a worker with a free thread. dask itself would queue tasks on busy
    workers, where they are lost when the worker dies, and would retry a task that kills its worker
    on other workers.

    A dying worker may answer late or never. Therefore all requests except the list of workers are
    coroutines on the client's event loop. The engine never waits for them, and drops those of a
    worker that the scheduler no longer lists.
    """

    def __init__(self, function: Callable[..., Any], n_jobs: int | None, backend: Any) -> None:
        self.client = backend.client
        # Workers may join later: the bound is n_jobs, not the current size of the cluster.
        self.max_tasks = math.inf if n_jobs is None or n_jobs < 1 else n_jobs
        self.n_workers = int(min(self.max_tasks, backend.effective_n_jobs(n_jobs)))
        self.holder = _Holder(function, sklearn.get_config())
        self.hosts: dict[str, _Host] = {}
        self.sent: dict[int, _Sent] = {}
        self.last_ready = time.monotonic()
        self._update_hosts()

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)

    def _update_hosts(self) -> None:
        """Update the list of workers; send the function to new ones."""
        now = time.monotonic()
        self.next_update = now + CLUSTER_TICK
        with contextlib.suppress(TimeoutError):  # a busy scheduler is asked again later
            threads = self.client.nthreads(callback_timeout=MAX_SILENCE)
            for address in self.hosts.keys() - threads.keys():
                self.hosts.pop(address).copy.cancel()
            for address, n_threads in threads.items():
                if address not in self.hosts:
                    self.hosts[address] = _Host(n_threads, self._start(self._copy(address)))
        for address, host in self.hosts.items():
            if host.copy.done() and host.data() is None:
                self._copy_again(address, host)
        if self._n_ready():
            self.last_ready = now
        elif now > self.last_ready + MAX_WORKERLESS:
            raise RuntimeError(
                f"The dask cluster has had no worker for {MAX_WORKERLESS:.0f} s: start some, or "
                "run without parallel_config to use this machine."
            )

    async def _copy(self, address: str) -> Any:
        """Send the function to a worker, which unpickles it before the first task."""
        return await self.client.scatter(self.holder, workers=[address], hash=False)

    def _copy_again(self, address: str, host: _Host) -> None:
        error = None if host.copy.cancelled() else host.copy.exception()
        if error is not None and not isinstance(error, OSError):
            host.n_failures += 1
            if host.n_failures > MAX_RETRIES:
                raise RuntimeError(
                    f"The function of the engine cannot be loaded in a worker of dask: {error}"
                ) from error
        host.copy = self._start(self._copy(address))

    def _n_ready(self) -> int:
        return sum(host.data() is not None for host in self.hosts.values())

    def _free_address(self) -> str | None:
        """Return the worker with the most free threads among those that have the function."""
        free = {
            address: host.n_threads
            for address, host in self.hosts.items()
            if host.data() is not None
        }
        for sent in self.sent.values():
            if sent.address in free:
                free[sent.address] -= 1
        address = max(free, key=lambda address: free[address], default=None)
        return address if address is not None and free[address] > 0 else None

    def has_room(self) -> bool:
        return len(self.sent) < self.max_tasks and self._free_address() is not None

    def send(self, number: int, args: tuple[Any, ...]) -> None:
        self._update_hosts()
        address = self._free_address()
        if address is None:
            raise _Resubmit
        data = self.hosts[address].data()
        future = self.client.submit(_remote_held, data, args, pure=False, workers=[address])
        self.sent[number] = _Sent(address, future, self._start(_result(future)))

    def collect(self, pause: float) -> list[tuple[int, Callable[[], Outcome]]]:
        end = time.monotonic() + pause
        n_ready = self._n_ready()
        while True:
            readers = list(self._ended())
            if readers or self._n_ready() > n_ready or time.monotonic() >= end:
                return readers
            time.sleep(POLL)

    def _ended(self) -> Iterator[tuple[int, Callable[[], Outcome]]]:
        lost = any(sent.future.status in ("lost", "cancelled") for sent in self.sent.values())
        if lost or time.monotonic() > self.next_update:
            self._update_hosts()
        dead = [sent.address for sent in self.sent.values() if sent.address not in self.hosts]
        for number, sent in list(self.sent.items()):
            if time.monotonic() > sent.next_kill:
                self.kill(number)
            reader: Callable[[], Outcome] | None = None
            if sent.result.done() and sent.future.status in ("finished", "error"):
                reader = _Reader(self, sent.result)
            elif dead.count(sent.address) == 1:
                reader = _NoOutcome("crashed", f"The worker at {sent.address} died.")
            elif sent.address in dead:
                reader = _NoOutcome(
                    "resubmit", f"The worker at {sent.address} died, with other tasks."
                )
            elif sent.future.status in ("lost", "cancelled"):
                reader = _NoOutcome("resubmit", "The data of the task was lost with dead workers.")
            if reader is not None:
                if not sent.result.done():
                    sent.result.cancel()
                    sent.future.cancel(force=True)
                del self.sent[number]
                yield number, reader

    def read(self, result: concurrent.futures.Future[Any]) -> Outcome:
        error = result.exception()
        if error is not None:
            return Outcome("crashed", None, describe(error))
        return _loads(result.result())

    def kill(self, number: int) -> None:
        """Ask the nanny to kill and replace the worker, unless it runs other tasks."""
        sent = self.sent[number]
        sent.next_kill = time.monotonic() + KILL_TICK
        if sent.kill is None or sent.kill.done():
            sent.kill = self._start(_kill_host(self.client, sent.address, sent.future.key))

    def close(self) -> None:
        # Wait for pending kills: whether a worker runs other tasks is checked before the task is
        # cancelled.
        kills = [sent.kill for sent in self.sent.values() if sent.kill is not None]
        concurrent.futures.wait(kills, MAX_SILENCE)
        copies = [data for host in self.hosts.values() if (data := host.data()) is not None]
        self.client.cancel([*(sent.future for sent in self.sent.values()), *copies])
        for host in self.hosts.values():
            host.copy.cancel()
        for sent in self.sent.values():
            sent.result.cancel()
        self.hosts.clear()
        self.sent.clear()


async def _result(future: Any) -> bytes:
    return await future


async def _kill_host(client: Any, address: str, key: Hashable) -> None:
    """Kill the worker at the address if it runs no other task."""
    [keys] = (await client.processing(workers=[address])).values()
    if list(keys) == [key]:
        await client.run(_kill_worker, address, workers=[address], nanny=True)


def _kill_worker(address: str, dask_worker: Any) -> None:
    """Kill the worker process of a nanny; called in the nanny's process.

    Its replacement must not be killed: a nanny stops when a worker dies during its start.
    """
    running = dask_worker.process.status.name == "running"
    if running and dask_worker.worker_address == address:
        os.kill(dask_worker.pid, signal.SIGKILL)


@dataclass(frozen=True)
class _Holder:
    """The function and configuration that a dask worker keeps."""

    function: Callable[..., Any]
    config: dict[str, Any]


class _Reader:
    """The outcome of a task, unpickled on demand."""

    def __init__(self, transport: Any, result: Any) -> None:
        self.transport = transport
        self.result = result

    def __call__(self) -> Outcome:
        return self.transport.read(self.result)


class _NoOutcome:
    """Outcome of a task whose worker returned none."""

    def __init__(self, status: Literal["crashed", "resubmit"], error: str) -> None:
        self.status: Literal["crashed", "resubmit"] = status
        self.error = error

    def __call__(self) -> Outcome:
        if self.status == "resubmit":
            raise _Resubmit(self.error)
        return Outcome(self.status, None, self.error)


class _Callback:
    """Put the result of a finished task into a queue."""

    def __init__(self, arrived: "queue.SimpleQueue[tuple[int, Any]]", number: int) -> None:
        self.arrived = arrived
        self.number = number

    def __call__(self, result: Any) -> None:
        self.arrived.put((self.number, result))


def _loads(content: bytes) -> Outcome:
    try:
        return pickle.loads(content)
    except Exception as exception:
        return Outcome("failed", None, describe(exception))


def _remote_held(holder: _Holder, args: tuple[Any, ...]) -> Any:
    return _remote(holder.function, args, holder.config, True)


def _remote(
    function: Callable[..., Any], args: tuple[Any, ...], config: dict[str, Any], pickled: bool
) -> Any:
    """Run one task in a worker of the backend."""
    with single_thread(config):
        try:
            outcome = call(function, args)
        except KeyboardInterrupt as exception:
            outcome = Outcome("failed", error=describe(exception))
    if not pickled:
        return outcome
    try:
        return dumps(outcome)
    except Exception as exception:
        return dumps(Outcome("failed", error=describe(exception), seconds=outcome.seconds))


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
