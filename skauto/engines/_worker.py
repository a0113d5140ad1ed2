"""The main loop of a worker process of the `ProcessEngine`."""

import contextlib
import ctypes
import faulthandler
import gc
import logging
import mmap
import os
import pickle
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle
import joblib
import numpy as np
import psutil
import sklearn
from threadpoolctl import ThreadpoolController

from skauto.engines._base import Outcome, Status, call, describe, dumps

with contextlib.suppress(ImportError):  # Windows can import the package, but not run workers
    import fcntl
    import resource

FRAME = struct.Struct("!QQ")  # length of the header, length of the value
ALIGNMENT = 64
# Limit of the data segment as a multiple of the memory limit, in addition to the polling of
# resident memory. It is larger because part of the virtual memory is reserved but never used.
DATA_LIMIT_FACTOR = 1.25
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "LOKY_MAX_CPU_COUNT",  # number of cores for joblib and LightGBM
)


class Mapped:
    """The function of an engine, pickled once into an unnamed file that workers memory-map.

    Large arrays are stored out of band and mapped copy on write: workers share the memory and may
    still write to their own view, as under fork.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        buffers: list[pickle.PickleBuffer] = []
        stream = cloudpickle.dumps(function, protocol=5, buffer_callback=buffers.append)
        self.spans: list[tuple[int, int]] = []
        with contextlib.ExitStack() as stack:
            self.file = stack.enter_context(tempfile.TemporaryFile(prefix="skauto-"))
            for part in (stream, *(buffer.raw() for buffer in buffers)):
                start = -(-self.file.tell() // ALIGNMENT) * ALIGNMENT
                self.file.seek(start)
                self.file.write(part)
                self.spans.append((start, self.file.tell()))
            self.file.flush()
            stack.pop_all()

    def __getstate__(self) -> dict[str, Any]:
        return {"spans": self.spans, "descriptor": reduction.DupFd(self.file.fileno())}

    def load(self) -> Callable[..., Any]:
        """Return the function; called in a worker."""
        descriptor = self.__dict__.pop("descriptor").detach()
        mapping = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY))
        os.close(descriptor)
        stream, *buffers = (mapping[start:end] for start, end in self.spans)
        return pickle.loads(stream, buffers=buffers)

    def close(self) -> None:
        """Close the file; workers keep their mappings."""
        self.file.close()


# Forked workers inherit the function.
Source = Callable[..., Any] | Mapped


def work(
    channel: socket.socket,
    lifeline: Connection,
    report: Connection,
    source: Source,
    config: dict[str, Any],
    memory_limit: int | None,
) -> None:
    """Run tasks until the engine closes its end of the channel; the target of the process.

    `lifeline` carries no data: it closes when the engine's process ends. `report` receives the
    traceback when a signal kills this process. `memory_limit` is in bytes, beyond those of this
    process when it is ready.
    """
    _end_with_parent(lifeline)
    _reset_signals(report)
    _discard_output()
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))  # for libraries still to be loaded
    try:
        function = source.load() if isinstance(source, Mapped) else source
    except BaseException as exception:
        _send(channel, "broken", None, describe(exception), 0.0)
        os._exit(1)
    _forbid_threads()
    sklearn.set_config(**config)
    joblib.parallel_config(backend="sequential", n_jobs=1)
    gc.freeze()  # else the garbage collector would copy the pages of inherited objects
    _limit_memory(memory_limit)
    _send(channel, "ready", None, "", 0.0)
    while True:
        args, time_limit = receive(channel)
        _serve(channel, report, function, args, time_limit)
        del args


def _serve(
    channel: socket.socket,
    report: Connection,
    function: Callable[..., Any],
    args: bytes,
    time_limit: float | None,
) -> None:
    """Run one task and send its outcome. The limit includes the pickling of the value."""
    process = os.getpid()
    if time_limit is not None:
        # At the limit, faulthandler writes the traceback and the signal kills, also in C code.
        faulthandler.unregister(signal.SIGALRM)  # a task may have put its own handler there
        faulthandler.register(signal.SIGALRM, file=report, all_threads=False, chain=True)
        signal.setitimer(signal.ITIMER_REAL, max(time_limit, 1e-6))
    try:
        # Restore filters and error states that the task changes.
        with warnings.catch_warnings(), np.errstate():
            outcome = call(function, pickle.loads(args))
        value = None if outcome.status != "ok" else dumps(outcome.value)
    except BaseException as exception:
        status: Status = "memout" if isinstance(exception, MemoryError) else "failed"
        outcome, value = Outcome(status, error=describe(exception)), None
    finally:
        if os.getpid() != process:  # the task forked, and this is the copy
            os._exit(0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    _send(channel, outcome.status, value, outcome.error, outcome.seconds)


def _send(
    channel: socket.socket, status: str, value: bytes | None, error: str, seconds: float
) -> None:
    """Send an outcome: lengths, header, pickled value."""
    error = error.encode(errors="replace").decode()
    header = pickle.dumps((status, value is not None, error, seconds))
    try:
        channel.sendall(FRAME.pack(len(header), len(value or b"")) + header)
        if value:
            channel.sendall(value)
    except OSError:
        os._exit(1)


def receive(channel: socket.socket) -> Any:
    """Read one message of the engine; exit when the channel is closed."""
    try:
        n_bytes, _ = FRAME.unpack(_read(channel, FRAME.size))
        return pickle.loads(_read(channel, n_bytes))
    except OSError:
        os._exit(0)


def _read(channel: socket.socket, n_bytes: int) -> bytes:
    parts = bytearray()
    while len(parts) < n_bytes:
        part = channel.recv(min(n_bytes - len(parts), 1 << 20))
        if not part:
            raise ConnectionResetError
        parts += part
    return bytes(parts)


def _end_with_parent(lifeline: Connection) -> None:
    """Lead a new process group, which is killed when the engine's process ends."""
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    descriptor = lifeline.fileno()
    if hasattr(fcntl, "F_SETSIG"):
        # Linux: the kernel sends SIGKILL to the group, even while C code holds the GIL.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpgrp())
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | fcntl.FASYNC)
        if select.select([descriptor], [], [], 0)[0]:  # it has already ended
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _watch(lifeline: Connection) -> None:
    lifeline.poll(None)
    os.killpg(0, signal.SIGKILL)


def _reset_signals(report: Connection) -> None:
    """Reset the parent's signal handlers; ignore Ctrl-C, which the parent handles."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    faulthandler.enable(file=report, all_threads=False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _discard_output() -> None:
    """Discard all output, so that it cannot fill a pipe, a disk or a notebook."""
    devnull = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(devnull, descriptor)
    os.close(devnull)
    sys.stdin = open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")  # nobody could read them


def _forbid_threads() -> None:
    """Limit loaded libraries to one thread: `n_jobs` counts the workers.

    libgomp hangs in a forked process that starts a second thread after its parent has used one.
    With zero active parallel levels, even an explicit request for threads gets none.
    """
    controller = ThreadpoolController()
    controller.limit(limits=1)
    for library in controller.info():
        if library["user_api"] == "openmp":
            ctypes.CDLL(library["filepath"]).omp_set_max_active_levels(0)


def _limit_memory(memory_limit: int | None) -> None:
    """Make large allocations raise MemoryError, where the operating system supports it."""
    taken = getattr(psutil.Process().memory_info(), "data", None)
    if memory_limit is None or taken is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = taken + int(DATA_LIMIT_FACTOR * memory_limit)
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
