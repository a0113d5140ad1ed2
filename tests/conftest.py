"""What all tests share."""

import os
import signal

import numpy as np
import pytest

os.environ.setdefault("MPLBACKEND", "Agg")  # no window, also in the doctests


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with the same numbers in every test."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_interrupts():
    """Ctrl-C raises KeyboardInterrupt also where a shell started the tests in the background."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
