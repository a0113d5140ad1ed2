"""Choose the engine that runs the tasks."""

import multiprocessing
import os
from collections.abc import Callable
from typing import Any

import joblib
import sklearn

from skauto.engines._base import Engine, Outcome, Task, call, task_context
from skauto.engines._joblib import JoblibEngine, chosen_backend, in_parallel_call
from skauto.engines._processes import ProcessEngine
from skauto.utils import warn


class SerialEngine(Engine):
    """Run the tasks in this process, one in each call of `wait`.

    Calls cannot be interrupted: time limits are not enforced, and a crash of the function crashes
    the process. A `KeyboardInterrupt` drops the running task.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._config = sklearn.get_config()

    def _submit(self, task: Task) -> None:
        self._queue.append(task)

    def wait(self, timeout: float | None = None) -> list[tuple[Any, Outcome]]:
        """Run the oldest task to its end and return it; the timeout is ignored."""
        if not self._queue:
            return []
        task = self._queue.popleft()
        with task_context(self._config):
            return [(task.key, call(self.function, task.args))]


def make_engine(
    function: Callable[..., Any],
    *,
    n_jobs: int | None = None,
    isolate: bool = False,
    memory_limit: int | None = None,
    survives_fork: bool = True,
) -> Engine:
    """Return the engine for a number of jobs, the limits, and the active joblib backend.

    - Under `joblib.parallel_config` with a backend other than joblib's own process pools (such as
      threading), a `JoblibEngine` on that backend.
    - With more than one job, `isolate` or a `memory_limit`, a `ProcessEngine` of killable
      local workers.
    - Otherwise a `SerialEngine`; also for `n_jobs=None` inside a worker of another parallel job,
      and always in daemonic processes, which may not have children.

    `n_jobs` is as in joblib: None means 1 unless `joblib.parallel_config` sets it, -1 means all
    cores that this process may use. A function that does not survive a fork is called in workers
    that are started by "forkserver" in place of "fork". The caller closes the engine.

    Examples
    --------
    >>> from skauto.engines import make_engine
    >>> with make_engine(pow, n_jobs=2) as engine:
    ...     for exponent in range(3):
    ...         engine.submit(exponent, (2, exponent), time_limit=60)
    ...     values = {}
    ...     while engine.n_running:
    ...         values.update((key, outcome.value) for key, outcome in engine.wait())
    >>> [values[exponent] for exponent in range(3)]
    [1, 2, 4]
    """
    _check_main_guard()
    isolate = isolate or memory_limit is not None
    backend = None if in_parallel_call() else chosen_backend()
    # A backend with a single local worker has no advantage over this process. Remote ones, such as
    # dask, use all their workers by default.
    if backend is not None and (
        backend.default_n_jobs == -1 or joblib.effective_n_jobs(n_jobs) > 1
    ):
        if memory_limit is not None:
            _warn_of_limits("memory_limit", "on the joblib backend that parallel_config chose")
        return JoblibEngine(function, n_jobs)
    n_workers = _n_local_workers(n_jobs)
    if n_workers == 1 and not isolate:
        return SerialEngine(function)
    if multiprocessing.current_process().daemon:
        if isolate:
            _warn_of_limits("Limits of time and memory", "in a daemonic process")
        return SerialEngine(function)
    if os.name == "posix":
        start_method = None if survives_fork else "forkserver"
        return ProcessEngine(function, n_workers, memory_limit, start_method)
    if isolate:
        _warn_of_limits("Limits of time and memory", "on this operating system")
    if n_workers == 1:
        return SerialEngine(function)
    with joblib.parallel_config("loky"):
        return JoblibEngine(function, n_workers)


def _n_local_workers(n_jobs: int | None) -> int:
    """Resolve `n_jobs` for processes on this machine."""
    if n_jobs is None and (in_parallel_call() or multiprocessing.parent_process() is not None):
        return 1
    if in_parallel_call():  # do not use the backend of the outer call
        with joblib.parallel_config("loky"):
            return joblib.effective_n_jobs(n_jobs)
    return joblib.effective_n_jobs(n_jobs)


def _warn_of_limits(what: str, where: str) -> None:
    warn(f"{what} cannot be enforced {where}.")


def _check_main_guard() -> None:
    """Raise in a worker that runs the main script again because it has no main guard."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "A worker process is being started and runs the main script again. With the start "
            'methods "spawn" and "forkserver" a script must run its code under '
            '`if __name__ == "__main__":`.'
        )
