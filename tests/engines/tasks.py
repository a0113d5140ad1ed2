"""Functions that engines run."""

import sys
import threading

import joblib
import numpy as np
import sklearn
import threadpoolctl
from joblib import parallel_config

from skauto.engines import JoblibEngine, ProcessEngine, SerialEngine


class Task:
    """Does what it is told; the class lives here so that forked workers inherit it."""

    def __call__(self, what, *args):
        return getattr(self, what)(*args)

    def give(self, value):
        return value

    def divide(self, a, b):
        return a / b

    def lack_memory(self):
        raise MemoryError("no room")

    def lock(self):
        return threading.Lock()

    def hide(self):
        class Shy(Exception):
            def __reduce__(self):
                raise TypeError("not me")

            def __str__(self):
                raise RuntimeError("no words")

        raise Shy

    def leave(self):
        sys.exit(7)

    def raise_errors(self):
        """Return the error states of NumPy, and change them."""
        return np.seterr(all="raise")

    def parallel(self):
        """Numbers of threads and jobs that libraries would use, and the scikit-learn config."""
        threads = {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
        config = sklearn.get_config()["assume_finite"]
        return threads, joblib.effective_n_jobs(-1), config


def make_threads(function):
    with parallel_config("threading", n_jobs=2):
        return JoblibEngine(function)


ENGINES = {
    "serial": SerialEngine,
    "process": lambda function: ProcessEngine(function, 2),
    "threads": make_threads,
}
