"""Limits on the threads of BLAS and OpenMP that several threads of a process can share."""

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from threadpoolctl import ThreadpoolController


def thread_pools() -> ThreadpoolController:
    """Return the controller of the BLAS and OpenMP thread pools that are loaded."""
    return _thread_pools(len(sys.modules))


@functools.lru_cache(maxsize=1)  # a search of the loaded libraries takes 10 ms
def _thread_pools(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()


class _SharedLimit:
    """Limit BLAS to one thread while at least one caller asks for it.

    The number of BLAS threads belongs to the process. The first caller stores the number of each
    library, and the last caller restores it, whatever the order in which callers end.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the callers: threads of the parent do not run in a forked process."""
        self._lock = threading.Lock()
        self._callers: dict[str, int] = {}  # by file of the library
        self._before: dict[str, int] = {}

    def acquire(self) -> list[Any]:
        """Limit the libraries that are loaded, and return them."""
        libraries = thread_pools().select(user_api="blas").lib_controllers
        with self._lock:
            for library in libraries:
                name = library.filepath
                if not self._callers.get(name):
                    self._before[name] = library.num_threads
                library.set_num_threads(1)  # other code may have changed the number since
                self._callers[name] = self._callers.get(name, 0) + 1
        return list(libraries)

    def release(self, libraries: list[Any]) -> None:
        """Restore the libraries that no other caller limits."""
        with self._lock:
            for library in libraries:
                name = library.filepath
                if name not in self._callers:  # the process was forked in between
                    continue
                self._callers[name] -= 1
                if not self._callers[name]:
                    library.set_num_threads(self._before.pop(name))
                    del self._callers[name]


_BLAS = _SharedLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BLAS.reset)


@contextlib.contextmanager
def single_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; concurrent callers share the limit."""
    libraries = _BLAS.acquire()
    try:
        yield
    finally:
        _BLAS.release(libraries)


@contextlib.contextmanager
def single_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread; concurrent callers share the limit.

    The OpenMP limit applies to the current thread only, the BLAS limit to the process.
    """
    with single_blas_thread(), thread_pools().limit(limits=1, user_api="openmp"):
        yield
