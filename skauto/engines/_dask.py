"""Tasks of the `JoblibEngine` on a cluster of dask."""

import asyncio
import concurrent.futures
import contextlib
import math
import operator
import os
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import sklearn

from skauto.engines._base import Outcome, describe
from skauto.engines._transport import MAX_RETRIES, Resubmit, loads, run_in_worker

POLL = 0.005  # seconds between two checks of dask's futures
CLUSTER_TICK = 0.25  # seconds between two updates of the list of dask workers
KILL_TICK = 2.0  # seconds between two requests to a nanny to kill its worker
MAX_SILENCE = 10.0  # seconds to wait for an answer of the scheduler
MAX_WORKERLESS = 300.0  # seconds that a cluster may have no worker


@dataclass
class _Host:
    """A dask worker and its copy of the function."""

    n_threads: int
    copy: concurrent.futures.Future[Any]
    n_failures: int = 0
    kill: concurrent.futures.Future[Any] | None = None

    @property
    def is_dying(self) -> bool:
        return self.kill is not None and not self.kill.done()

    def data(self) -> Any:
        """Return the handle of the copy while the worker has it and is not killed, else None."""
        if (
            self.is_dying
            or not self.copy.done()
            or self.copy.cancelled()
            or self.copy.exception() is not None
        ):
            return None
        handle = self.copy.result()
        return handle if handle.status == "finished" else None


@dataclass
class _Sent:
    """A task that was sent to a dask worker."""

    address: str
    future: Any
    result: concurrent.futures.Future[Any]
    next_kill: float = float("inf")


class DaskTransport:
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
        config = sklearn.get_config()
        self.function = partial(run_in_worker, function, config=config, pickled=True)
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
            if host.copy.done() and host.data() is None and not host.is_dying:
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
        return await self.client.scatter(self.function, workers=[address], hash=False)

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
            raise Resubmit
        data = self.hosts[address].data()
        future = self.client.submit(operator.call, data, args, pure=False, workers=[address])
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
                reader = partial(self.read, sent.result)
            elif dead.count(sent.address) == 1:
                reader = partial(Outcome, "crashed", None, f"The worker at {sent.address} died.")
            elif sent.address in dead:
                reader = partial(
                    _resubmit, f"The worker at {sent.address} died, with other tasks."
                )
            elif sent.future.status in ("lost", "cancelled"):
                reader = partial(_resubmit, "The data of the task was lost with dead workers.")
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
        return loads(result.result())

    def kill(self, number: int) -> None:
        """Kill the worker once it runs only tasks beyond their limits; its nanny replaces it."""
        address = self.sent[number].address
        self.sent[number].next_kill = time.monotonic() + KILL_TICK
        host = self.hosts.get(address)
        tasks = [sent for sent in self.sent.values() if sent.address == address]
        if host is None or host.is_dying or any(sent.next_kill == math.inf for sent in tasks):
            return
        copies = [] if host.data() is None else [host.data()]
        futures = [sent.future for sent in tasks]
        host.kill = self._start(_kill_host(self.client, address, futures, copies))

    def close(self) -> None:
        # Wait for pending kills, which need the client.
        kills = [host.kill for host in self.hosts.values() if host.kill is not None]
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


async def _kill_host(client: Any, address: str, tasks: list[Any], copies: list[Any]) -> None:
    """Kill the worker at the address if it has a nanny and runs no task of others.

    Its tasks and its copy are canceled before: the scheduler logs lost data as an error.
    """
    keys = {task.key for task in tasks}
    pids = await client.run(_worker_pid, address, workers=[address], nanny=True)
    if not pids.get(address) or not set() < await _running(client, address) <= keys:
        return
    await client.cancel([*tasks, *copies], asynchronous=True)
    while await _running(client, address) & keys:
        await asyncio.sleep(POLL)
    await client.run(os.kill, pids[address], signal.SIGKILL, workers=[address], nanny=True)
    await asyncio.sleep(CLUSTER_TICK)  # until the scheduler no longer lists the worker


async def _running(client: Any, address: str) -> set[Any]:
    [keys] = (await client.processing(workers=[address])).values()
    return set(keys)


def _worker_pid(address: str, dask_worker: Any) -> int | None:
    """Return the process of a nanny's worker; called in the nanny's process.

    None if it starts: a nanny stops when a worker dies during its start.
    """
    running = dask_worker.process.status.name == "running"
    return dask_worker.pid if running and dask_worker.worker_address == address else None


def _resubmit(reason: str) -> Outcome:
    raise Resubmit(reason)
