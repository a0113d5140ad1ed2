"""What all tests share."""

import gc
import os
import signal
import sys
import tempfile

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")  # no window, also in the doctests
# Tables are small, so that further threads of BLAS and OpenMP would mostly wait for each other.
# The libraries read this when they are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from tests.not_measured import NOT_MEASURED

# Without byte code, each program that a test starts would compile skauto again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what pytest-cov does not measure."""
    for item in items:
        if item.path.relative_to(config.rootpath).as_posix().startswith(NOT_MEASURED):
            item.add_marker("no_cover")


def pytest_collection_finish() -> None:
    """Spare the garbage collector what was imported and collected: it stays to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with the same numbers in every test."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def iris() -> tuple[np.ndarray, np.ndarray]:
    """150 rows of four columns, and their three classes."""
    # Not at the top: the process of pytest-xdist that only distributes the tests loads this file.
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_interrupts():
    """Ctrl-C raises KeyboardInterrupt also where a shell started the tests in the background."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.fixture(scope="session", autouse=True)
def own_temporary_files(tmp_path_factory):
    """Temporary files of this process: tests that run beside it must not see them come and go."""
    previous = tempfile.gettempdir(), os.environ.get("TMPDIR")
    tempfile.tempdir = os.environ["TMPDIR"] = str(tmp_path_factory.mktemp("tmp"))
    yield
    tempfile.tempdir = previous[0]
    if previous[1] is None:
        del os.environ["TMPDIR"]
    else:
        os.environ["TMPDIR"] = previous[1]
