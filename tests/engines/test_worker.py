"""What a worker process inherits, keeps and is limited to."""

import os
import warnings

import numpy as np
import psutil
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from skauto.engines import ProcessEngine
from tests.engines.faults import MEMORY_LIMIT
from tests.polling import PATIENCE, drain

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def test_limits_are_for_single_tasks_not_for_what_came_before():
    """Memory that a worker keeps after a task is not held against the next one."""

    kept = []

    def keep(n_megabytes):
        kept.append(np.ones(n_megabytes * 2**17))
        return os.getpid()

    with ProcessEngine(keep, memory_limit=MEMORY_LIMIT) as engine:
        pids = []
        for _ in range(4):
            engine.submit(0, (90,))
            pids.append(drain(engine)[0].value)
    assert len(set(pids)) == 4
    with ProcessEngine(keep, memory_limit=MEMORY_LIMIT) as engine:
        pids = []
        for _ in range(4):
            engine.submit(0, (1,))
            pids.append(drain(engine)[0].value)
    assert len(set(pids)) == 1


def test_inherited_data_does_not_count():
    data = np.ones(30 * 2**20)  # 240 MiB
    with ProcessEngine(lambda: float(data.sum()), memory_limit=MEMORY_LIMIT) as engine:
        engine.submit(0)
        assert drain(engine)[0].value == data.size


def test_a_fork_inherits_the_function_instead_of_pickling_it():
    class Unpicklable:
        def __call__(self, value):
            return value + 1

        def __reduce__(self):
            raise TypeError("not to be pickled")

    with ProcessEngine(Unpicklable(), start_method="fork") as engine:
        engine.submit(0, (1,))
        assert drain(engine)[0].value == 2


def test_openmp_after_a_fork():
    """libgomp hangs in a forked child that asks for threads after its parent has used them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = X[:, 0] > 0
    models = [
        LGBMClassifier(n_estimators=5, n_jobs=2, verbose=-1, random_state=0),
        HistGradientBoostingClassifier(max_iter=5, random_state=0),
        KNeighborsClassifier(),
    ]

    def fit(number):
        n_threads = psutil.Process().num_threads()
        score = models[number].fit(X, y).score(X, y)
        return score > 0.8, psutil.Process().num_threads() - n_threads

    # The threads of these fits race for the filters of warnings, and may leave a copy behind.
    with threadpool_limits(2), warnings.catch_warnings():
        assert all(fit(number)[0] for number in range(3))
    with ProcessEngine(fit) as engine:
        for number in range(3):
            engine.submit(number, (number,), PATIENCE)
        outcomes = drain(engine)
    assert [outcomes[number].value for number in range(3)] == 3 * [(True, 0)]
