"""Limits on threads that several threads of a process share."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skauto.utils import single_blas_thread, single_thread


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.parametrize("limit", [single_thread, single_blas_thread])
def test_the_last_of_overlapping_callers_restores_the_threads(limit):
    before = blas_threads()
    first, second = limit(), limit()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_a_caller_is_limited_although_other_code_has_lifted_the_limit():
    with single_blas_thread(), threadpool_limits(2, user_api="blas"):
        assert blas_threads() == {2}
        with single_blas_thread():
            assert blas_threads() == {1}


def test_an_error_restores_the_threads():
    before = blas_threads()
    with pytest.raises(KeyError), single_thread():
        raise KeyError
    assert blas_threads() == before


def test_many_threads_leave_the_limit_as_it_was():
    before = blas_threads()

    def enter():
        for _ in range(50):
            with single_thread():
                pass

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blas_threads() == before
