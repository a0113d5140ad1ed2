"""Base class of the engines, the outcome of a task, and the call of a task.

An engine runs one function, which holds the data. A task is a key and the arguments of one call.
The engine returns an `Outcome` for every task, also if the call fails or its worker dies.
"""

import contextlib
import pickle
import sys
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import cloudpickle
import joblib
import sklearn
from threadpoolctl import ThreadpoolController

MAX_ERROR_LINES = 30
MAX_ERROR_CHARACTERS = 4000
MAX_TIME_LIMIT = 1e8  # seconds; timers accept no more, and longer limits count as None

Status = Literal["ok", "failed", "timeout", "memout", "crashed"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of one task.

    Attributes
    ----------
    status : {"ok", "failed", "timeout", "memout", "crashed"}
        "failed" is an exception (or a result that cannot be sent back), "timeout" and "memout" are
        the limits, "crashed" is a worker process that died.
    value : object
        Return value of the function; None unless the status is "ok".
    error : str
        Last lines of the traceback, or a sentence on how the worker ended.
    seconds : float
        Duration of the call.
    ended : float
        Time of its end by `time.time()`, a clock that machines share.
    """

    status: Status
    value: Any = None
    error: str = ""
    seconds: float = 0.0
    ended: float = field(default_factory=time.time, compare=False)


class Engine(ABC):
    """Run one function many times, asynchronously and isolated from failures of single calls.

    Engines are context managers; `close` releases all resources. An engine may only be used in the
    thread and process that created it.

    Parameters
    ----------
    function : callable
        Function that every task calls. It holds the data and is sent to each worker once.
    n_workers : int, default=1
        Number of tasks that run at the same time.
    memory_limit : int, default=None
        Maximum bytes of one worker and its child processes, beyond those of a fresh worker.
    """

    def __init__(
        self, function: Callable[..., Any], n_workers: int = 1, memory_limit: int | None = None
    ) -> None:
        if n_workers < 1:
            raise ValueError(f"n_workers must be an integer >= 1. Got {n_workers!r} instead.")
        if memory_limit is not None and memory_limit <= 0:
            raise ValueError(
                "memory_limit must be a positive number of bytes, or None for no limit. "
                f"Got {memory_limit!r} instead."
            )
        self.function = function
        self.n_workers = n_workers
        self.memory_limit = memory_limit
        self._closed = False

    @property
    def n_running(self) -> int:
        """Number of tasks submitted and not yet returned by `wait`."""
        return len(self._keys())

    @abstractmethod
    def _keys(self) -> Collection[Hashable]:
        """Return the keys of the tasks submitted and not yet returned by `wait`."""

    @abstractmethod
    def _submit(self, key: Hashable, args: tuple[Any, ...], time_limit: float | None) -> None:
        """Queue a task whose key has been checked."""

    @abstractmethod
    def wait(self, timeout: float | None = None) -> list[tuple[Any, Outcome]]:
        """Return the keys and outcomes of the tasks that ended since the last call, in this order.

        It waits for at least one task: at most `timeout` seconds, or as long as any task is
        running. The list is empty after `timeout`, or if nothing is running.
        """

    @abstractmethod
    def cancel(self, keys: Collection[Hashable] | None = None) -> None:
        """Kill running tasks and drop queued ones; `wait` will not return them.

        Keys of tasks that already ended are ignored; None cancels all tasks.
        """

    @abstractmethod
    def close(self) -> None:
        """Cancel all tasks and release all resources. A second call does nothing."""

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
        if time_limit is not None and time_limit > MAX_TIME_LIMIT:
            time_limit = None
        self._submit(key, args, time_limit)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def call(function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    """Call the function and return its value or exception as an Outcome.

    KeyboardInterrupt is re-raised: only the engine knows whether the user or the function caused
    it.
    """
    start = time.perf_counter()
    try:
        value = function(*args)
    except KeyboardInterrupt:
        raise
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


class _Libraries:
    """The thread pools of the libraries that this process has loaded."""

    controller: ThreadpoolController | None = None
    n_modules = 0


def thread_pools() -> ThreadpoolController:
    """Return the controller of the BLAS and OpenMP thread pools that are loaded.

    Libraries are searched again only after new modules were imported: a search takes 10 ms.
    """
    if _Libraries.controller is None or _Libraries.n_modules != len(sys.modules):
        _Libraries.n_modules = len(sys.modules)
        _Libraries.controller = ThreadpoolController()
    return _Libraries.controller


@contextlib.contextmanager
def single_thread(config: dict[str, Any]) -> Iterator[None]:
    """Run a task on one thread, without nested parallelism, under a scikit-learn configuration.

    The OpenMP limit applies to the current thread, the BLAS limit to the process. If several
    threads use this context at once, limit BLAS around all of them.
    """
    with (
        thread_pools().limit(limits=1),
        joblib.parallel_config(backend="sequential", n_jobs=1),
        sklearn.config_context(**config),
    ):
        yield
