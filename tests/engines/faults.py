"""A function that does anything that a task must not do."""

import contextlib
import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

MEMORY_LIMIT = 200 * 2**20


class BadOnArrival:
    def __reduce__(self):
        return _refuse, ()


def _refuse():
    raise ValueError("cannot be rebuilt")


class Wordless(Exception):
    def __init__(self):
        super().__init__(threading.Lock())

    def __str__(self):
        raise RuntimeError

    def __reduce__(self):
        raise TypeError


class Misbehavior:
    """One method for each fault."""

    def __init__(self, folder=None):
        self.folder = folder

    def __call__(self, kind):
        return getattr(self, kind)()

    def score(self):
        return 0.25

    def raise_error(self):
        raise ValueError("bad hyper-parameter")

    def raise_unpicklable(self):
        raise Wordless

    def raise_without_end(self):
        raise ValueError("x" * 10**7)

    def recurse(self):
        return self.recurse()

    def exit_python(self):
        sys.exit("enough")

    def interrupt(self):
        raise KeyboardInterrupt

    def return_unpicklable(self):
        return threading.Lock()

    def return_bad_on_arrival(self):
        return BadOnArrival()

    def raise_memory_error(self):
        raise MemoryError

    def ask_for_too_much(self):
        return np.ones(10**10)

    def grow(self):
        blocks = []
        while True:
            blocks.append(np.ones(10**5))
            time.sleep(0.001)

    def grow_in_a_child(self):
        code = "import time; block = b'x' * (150 << 20); time.sleep(600)"
        children = [subprocess.Popen([sys.executable, "-S", "-c", code]) for _ in range(2)]
        children[0].wait()

    def loop(self):
        while True:
            pass

    def hold_the_gil(self):
        ctypes.PyDLL(None).sleep(600)

    def ignore_signals(self):
        for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        self.loop()

    def stop(self):
        os.kill(os.getpid(), signal.SIGSTOP)

    def print_without_end(self):
        while True:
            print("x" * 10_000)
            os.write(2, b"x" * 10_000)

    def warn_without_end(self):
        while True:
            warnings.warn(f"now {time.time()}", stacklevel=1)
            logging.getLogger("skauto.test").error("now %s", time.time())

    def segfault(self):
        ctypes.string_at(0)

    def abort(self):
        os.abort()

    def exit_with_success(self):
        os._exit(0)

    def be_killed(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def be_terminated(self):
        os.kill(os.getpid(), signal.SIGTERM)

    def close_everything(self):
        os.closerange(0, 1000)

    def write_into_the_channel(self):
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:"):
                    with socket.socket(fileno=os.dup(descriptor)) as copy:
                        if copy.family == socket.AF_UNIX:
                            copy.send(b"\xff" * 100, socket.MSG_DONTWAIT)

    def leave_a_child_and_die(self):
        child = os.fork()
        if child == 0:
            time.sleep(600)
        Path(self.folder, str(child)).touch()
        os._exit(1)

    def stay_with_a_child_in_a_session_of_its_own(self):
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        Path(self.folder, str(child.pid)).touch()
        time.sleep(600)

    def come_back_twice(self):
        os.fork()
        return 0.25

    def disturb(self):
        """Change what the next task of the same worker relies on."""
        os.environ["OMP_NUM_THREADS"] = "7"
        warnings.simplefilter("error")
        sys.setrecursionlimit(300)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.alarm(1000)
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        return 0.25
