"""Base class of the engines, the outcome of a task, and the call of a task.

An engine runs one function, which holds the data. A task is a key and the arguments of one call.
The engine returns an `Outcome` for every task, also if the call fails or its worker dies.
"""

import contextlib
import pickle
import time
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import cloudpickle
import joblib
import numpy as np
import sklearn

from skauto.utils import single_thread

MAX_ERROR_LINES = 30
MAX_ERROR_CHARACTERS = 4000
MAX_TIME_LIMIT = 1e8  # seconds; timers accept no more, and longer limits count as None

Status = Literal["ok", "failed", "timeout", "memout", "crashed"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of one task.

    "failed" is an exception (or a result that cannot be sent back), "timeout" and "memout" are the
    limits, "crashed" is a worker process that died. The error is the end of the traceback, or a
    sentence on how the worker ended.
    """

    status: Status
    value: Any = None  # that the function returned
    error: str = ""
    seconds: float = 0.0  # of the call
    ended: float = field(default_factory=time.time, compare=False)  # machines share this clock


@dataclass
class Task:
    """A call of the function of an engine; the times are those of `time.monotonic()`."""

    key: Hashable
    args: Any  # a tuple, or a pickled message to a worker process
    time_limit: float | None = None
    started: float = 0.0
    deadline: float = float("inf")
    n_retries: int = 0

    def start(self, grace: float = 0.0) -> None:
        self.started = time.monotonic()
        if self.time_limit is not None:
            self.deadline = self.started + self.time_limit + grace


class Engine(ABC):
    """Run one function many times, asynchronously and isolated from failures of single calls.

    Engines are context managers; `close` releases all resources. An engine may only be used in the
    thread and process that created it.

    The function that every task calls holds the data, and is sent to each worker once. At most
    `n_workers` tasks run at the same time. `memory_limit` is the maximum number of bytes of one
    worker and its child processes, beyond those of a fresh worker.
    """

    def __init__(
        self, function: Callable[..., Any], n_workers: int = 1, memory_limit: int | None = None
    ) -> None:
        self.function = function
        self.n_workers = n_workers
        self.memory_limit = memory_limit
        self._closed = False
        self._queue: deque[Task] = deque()
        self._finished: list[tuple[Hashable, Outcome]] = []

    @property
    def n_running(self) -> int:
        """Number of tasks submitted and not yet returned by `wait`."""
        return len(self._keys())

    def _running(self) -> Iterable[Task]:
        return ()

    def _keys(self) -> list[Hashable]:
        """Return the keys of the tasks submitted and not yet returned by `wait`."""
        unfinished = [task.key for task in (*self._queue, *self._running())]
        return [*unfinished, *(key for key, _ in self._finished)]

    @abstractmethod
    def _submit(self, task: Task) -> None:
        """Queue a task whose key has been checked."""

    def _take_finished(self) -> list[tuple[Any, Outcome]]:
        finished = list(self._finished)
        del self._finished[: len(finished)]
        return finished

    @abstractmethod
    def wait(self, timeout: float | None = None) -> list[tuple[Any, Outcome]]:
        """Return the keys and outcomes of the tasks that ended since the last call, in this order.

        It waits for at least one task: at most `timeout` seconds, or as long as any task is
        running. The list is empty after `timeout`, or if nothing is running.
        """

    def cancel(self, keys: Collection[Hashable] | None = None) -> None:
        """Kill running tasks and drop queued ones; `wait` will not return them.

        Keys of tasks that already ended are ignored; None cancels all tasks.
        """
        kept = set() if keys is None else {key for key in self._keys() if key not in keys}
        self._queue = deque(task for task in self._queue if task.key in kept)
        self._finished[:] = [item for item in self._finished if item[0] in kept]

    def close(self) -> None:
        """Cancel all tasks and release all resources. A second call does nothing."""
        self._closed = True
        self.cancel()

    def submit(
        self, key: Hashable, args: tuple[Any, ...] = (), time_limit: float | None = None
    ) -> None:
        """Queue the call `function(*args)`.

        The key identifies the outcome. It must differ from the keys of all tasks that `wait` has
        not returned yet. The time limit in seconds is counted from the start of the call in the
        worker; at 0 or below the task ends with a "timeout" almost at once.
        """
        if self._closed:
            raise RuntimeError("This engine is closed; make a new one to run more tasks.")
        if key in self._keys():
            raise ValueError(f"A task with the key {key!r} is still running.")
        if time_limit is not None:  # the timer takes no float32
            time_limit = float(time_limit) if time_limit <= MAX_TIME_LIMIT else None
        self._submit(Task(key, args, time_limit))

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def call(function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    """Call the function and return its value or exception as an Outcome."""
    start = time.perf_counter()
    try:
        value = function(*args)
    except KeyboardInterrupt:
        raise  # only the engine knows whether the user or the function caused it
    except BaseException as exception:
        seconds = time.perf_counter() - start
        status: Status = "memout" if _is_memory_error(exception) else "failed"
        return Outcome(status, None, describe(exception), seconds)
    return Outcome("ok", value, "", time.perf_counter() - start)


def _is_memory_error(exception: BaseException) -> bool:
    """Recognize memory errors, also those that C++ libraries wrap in another exception."""
    if isinstance(exception, MemoryError):
        return True
    try:
        return "bad_alloc" in str(exception)
    except BaseException:
        return False


def describe(exception: BaseException) -> str:
    """Return the last lines of the exception's traceback."""
    try:
        text = "".join(traceback.format_exception(exception))
    except BaseException:
        text = f"{type(exception).__name__} (its text cannot be formatted)"
    lines = text[-MAX_ERROR_CHARACTERS:].rstrip().splitlines()
    return "\n".join(lines[-MAX_ERROR_LINES:])


def dumps(item: Any, buffer_callback: Callable[[pickle.PickleBuffer], Any] | None = None) -> bytes:
    """Pickle an object; use cloudpickle if it cannot be pickled by reference."""
    try:
        return pickle.dumps(item, protocol=5, buffer_callback=buffer_callback)
    except Exception:
        return cloudpickle.dumps(item, protocol=5, buffer_callback=buffer_callback)


@contextlib.contextmanager
def task_context(config: dict[str, Any]) -> Iterator[None]:
    """Run a task on one thread, without nested parallelism, under a scikit-learn configuration.

    The OpenMP limit applies to the current thread, the BLAS limit to the process.
    """
    with (
        single_thread(),
        joblib.parallel_config(backend="sequential", n_jobs=1),
        sklearn.config_context(**config),
        np.errstate(),  # restores what the task sets
    ):
        yield
