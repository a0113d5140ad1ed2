"""What a process holds and has set, to be compared before and after something."""

import contextlib
import gc
import logging
import os
import random
import signal
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
import psutil
import sklearn
from threadpoolctl import threadpool_info


def belongings() -> dict[str, object]:
    """Everything that must be the same after a search as before it."""
    gc.collect()
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    return {
        "children": psutil.Process().children(recursive=True),
        "threads": threading.enumerate(),
        "descriptors": _descriptors(),
        "temporary files": sorted(Path(tempfile.gettempdir()).glob("skauto*")),
        "environment": {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
        "directory": Path.cwd(),
        "warning filters": list(warnings.filters),
        "logging": (
            logging.root.manager.disable,
            {
                logger.name: (logger.level, logger.disabled, *logger.handlers)
                for logger in loggers
                if isinstance(logger, logging.Logger) and (logger.handlers or logger.level)
            },
        ),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "random state": (random.getstate(), np.random.get_state()[1].tolist()),
        "floating point": np.geterr(),
        "scikit-learn": sklearn.get_config(),
        "library threads": {i["filepath"]: i["num_threads"] for i in threadpool_info()},
    }


def _descriptors() -> dict[int, str]:
    """What each open descriptor is: files by name, sockets and pipes by number."""
    found = {}
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself
            found[int(number)] = os.readlink(f"/proc/self/fd/{number}")
    return found
