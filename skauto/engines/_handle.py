"""A worker process of the `ProcessEngine`, as seen by its parent."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import socket
import time
import warnings
import weakref
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.context import BaseContext
from typing import Any

import psutil

from skauto.engines._base import MAX_ERROR_LINES, Task
from skauto.engines._worker import FRAME, Source, work

MAX_HEADER = 1 << 20
# How a traceback names the module that calls the tasks.
_BASE = f'{os.path.join("engines", "_base.py")}"'

# The parent's ends of all pipes in this process. Forked children close their copies at once,
# because an open copy would keep the workers alive after the parent has ended.
_OWN_ENDS: "weakref.WeakSet[Any]" = weakref.WeakSet()


def _close_own_ends() -> None:
    for end in list(_OWN_ENDS):
        end.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_own_ends)


@dataclass
class WorkerHandle:
    """A worker process as seen by its parent."""

    process: multiprocessing.process.BaseProcess
    channel: socket.socket
    lifeline: connection.Connection
    report: connection.Connection
    started: float
    pid: int = 0
    ready: bool = False
    task: Task | None = None
    received: bytearray = field(default_factory=bytearray)
    unread: bool = False  # it died before it had read its task
    handle: psutil.Process | None = None
    fresh_memory: int = 0
    last_memory: int = 0
    children: set[psutil.Process] = field(default_factory=set)  # also those of ended parents

    def read(self) -> bool:
        """Receive what has arrived on the channel; False when it is closed."""
        try:
            while part := self.channel.recv(1 << 20):
                self.received += part
        except BlockingIOError:
            return True
        except ConnectionResetError:
            self.unread = True
        except OSError:
            pass
        return False

    def message(self) -> tuple[tuple[Any, ...], memoryview] | None:
        """Return the header and the pickled value of an outcome, if it is complete."""
        if len(self.received) < FRAME.size:
            return None
        n_header, n_value = FRAME.unpack_from(self.received)
        if n_header > MAX_HEADER:
            raise ValueError("The channel holds something that is not a message of a worker.")
        end = FRAME.size + n_header
        if len(self.received) < end + n_value:
            return None
        content = memoryview(self.received)
        self.received = bytearray()
        return pickle.loads(content[FRAME.size : end]), content[end : end + n_value]

    def send(self, message: bytes) -> bool:
        """Send a task; False if the worker has died or does not receive."""
        try:
            self.channel.settimeout(10.0)
            self.channel.sendall(message)
        except OSError:
            return False
        finally:
            self.channel.setblocking(False)
        return True

    def measure(self) -> int:
        """Bytes that the worker and its children hold beyond those of the fresh worker."""
        total = -self.fresh_memory
        for process in (self.handle, *self.children):
            if process is None:
                continue
            with contextlib.suppress(psutil.Error):
                total += private_memory(process)
        self.last_memory = total
        return total

    def last_traceback(self) -> str:
        """Return the traceback written when a signal ended the worker, innermost call first."""
        os.set_blocking(self.report.fileno(), False)
        try:
            text = os.read(self.report.fileno(), 1 << 16).decode(errors="replace")
        except OSError:
            return ""
        lines = text.partition("\nExtension modules:")[0].strip().splitlines()
        own = [n for n, line in enumerate(lines) if _BASE in line]
        return "\n".join(lines[: min([MAX_ERROR_LINES, *own])])

    def kill(self) -> None:
        """Kill the worker, its process group and its other descendants."""
        descendants = self.children
        if self.handle is not None:
            with contextlib.suppress(psutil.Error):
                descendants = descendants.union(self.handle.children(recursive=True))
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.kill()
        for process in descendants:
            with contextlib.suppress(psutil.Error):
                process.kill()

    def release(self) -> None:
        """Close the pipes; this also ends the worker."""
        for end in (self.channel, self.lifeline, self.report):
            end.close()


def private_memory(process: psutil.Process) -> int:
    """Resident bytes, without shared pages (libraries, mapped data) if the system reports them."""
    info = process.memory_info()
    return info.rss - getattr(info, "shared", 0)


def _open_standard_descriptors() -> None:
    """Open those of the descriptors 0 to 2 that the program has closed.

    Otherwise pipes would get these numbers, and the worker replaces these descriptors.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def start_worker(
    context: BaseContext, source: Source, config: dict[str, Any], limit: int | None
) -> WorkerHandle:
    """Start a worker; see `work` for the function, the configuration and the memory limit."""
    _open_standard_descriptors()
    channel, their_channel = socket.socketpair()
    their_lifeline, lifeline = multiprocessing.Pipe(duplex=False)
    report, their_report = multiprocessing.Pipe(duplex=False)
    own, theirs = (channel, lifeline, report), (their_channel, their_lifeline, their_report)
    _OWN_ENDS.update(own)
    process = context.Process(  # type: ignore[attr-defined]
        target=work, args=(*theirs, source, config, limit), name="skauto-worker", daemon=True
    )
    try:
        with warnings.catch_warnings():
            # Python >= 3.12 warns of threads at every fork; see ProcessEngine for the reasons.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
    except BaseException:
        for end in own:
            end.close()
        raise
    finally:
        for end in theirs:
            end.close()
    channel.setblocking(False)
    return WorkerHandle(process, *own, time.monotonic(), process.pid)
