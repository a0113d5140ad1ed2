"""Trials on a dask cluster."""

import logging
import os
import runpy
import signal
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib import parallel_config

from skauto.engines import JoblibEngine, make_engine
from tests.polling import PATIENCE, drain, wait_until


def make_task():
    """Return a function that workers get by value: they cannot import this module."""

    class Bad:
        def __reduce__(self):
            return int, ("cannot be rebuilt",)

    class Task:
        def __init__(self):
            self.data = np.ones(10**6)

        def __call__(self, what, *args):
            return getattr(self, what)(*args)

        def add(self, value):
            return float(self.data.sum()) + value

        def process(self):
            import os
            import time

            time.sleep(0.1)
            return os.getpid()

        def load_count(self):
            return self.n_loads

        def __setstate__(self, state):
            import builtins

            builtins.n_loads = getattr(builtins, "n_loads", 0) + 1
            self.__dict__ = {**state, "n_loads": builtins.n_loads}

        def fail(self):
            raise ValueError("no luck")

        def lock(self):

            return threading.Lock()

        def bad_on_arrival(self):
            return Bad()

        def exit(self):
            import os

            os._exit(3)

        def nap(self, seconds):
            import time

            time.sleep(seconds)
            return seconds

        def loop(self):
            while True:
                pass

        def parallel(self):
            import sklearn
            import threadpoolctl

            threads = {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
            return threads, joblib.effective_n_jobs(-1), sklearn.get_config()["assume_finite"]

    return Task()


@pytest.fixture(scope="module")
def forked_workers():
    """Workers of dask are forked from a process that has imported what they need."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        distributed.utils.get_mp_context().set_forkserver_preload(["distributed", "skauto"])
        yield


@pytest.fixture(scope="module")
def cluster(forked_workers):
    """Two workers."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster


class TestDask:
    @pytest.fixture
    def client(self, cluster):
        """A client of the cluster once both workers are there.

        Their nannies must know, too: they give up when a worker dies while it starts.
        """
        with cluster.get_client() as client:
            wait_until(lambda: self._running(cluster) == set(client.nthreads()))
            yield client

    def _running(self, cluster):
        nannies = cluster.workers.values()
        return {n.worker_address if n.process.status.name == "running" else None for n in nannies}

    @pytest.fixture
    def errors(self, caplog):
        """Errors in the log of dask, whose loggers do not propagate."""
        logger = logging.getLogger("distributed")
        logger.addHandler(caplog.handler)
        yield lambda: [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR]
        logger.removeHandler(caplog.handler)

    @pytest.fixture
    def engine(self, client):
        with parallel_config("dask"), make_engine(make_task()) as engine:
            assert type(engine) is JoblibEngine
            assert engine.n_workers == 2
            yield engine

    def test_outcomes(self, engine):
        for key in range(20):
            engine.submit(key, ("add", key))
        for what in ("fail", "lock", "bad_on_arrival"):
            engine.submit(what, (what,))
        outcomes = drain(engine)
        assert [outcomes.pop(key).value for key in range(20)] == [10**6 + k for k in range(20)]
        assert {outcome.status for outcome in outcomes.values()} == {"failed"}
        assert "ValueError: no luck" in outcomes["fail"].error
        assert "cannot pickle" in outcomes["lock"].error

    def test_both_workers_work_and_get_the_data_once(self, engine):
        for key in range(10):
            engine.submit(("process", key), ("process",))
            engine.submit(("count", key), ("load_count",))
        outcomes = drain(engine)
        pids = {outcome.value for key, outcome in outcomes.items() if key[0] == "process"}
        counts = {outcome.value for key, outcome in outcomes.items() if key[0] == "count"}
        assert len(pids) == 2
        assert len(counts) <= 2  # the number of engines before this one, in each worker

    def test_a_dead_worker_costs_its_trial_only(self, engine):
        kinds = ["add", "exit", "add", "add", "add"]
        for key, kind in enumerate(kinds):
            engine.submit(key, (kind, key) if kind == "add" else (kind,))
        outcomes = drain(engine)
        statuses = [outcomes[key].status for key in range(len(kinds))]
        assert statuses == ["ok" if kind == "add" else "crashed" for kind in kinds]
        assert "The worker at tcp://" in outcomes[1].error

    def test_an_engine_made_while_a_worker_dies(self, client):
        """Its data reaches the worker that is left, and the new one."""
        victim, _ = client.run(os.getpid).values()
        os.kill(victim, signal.SIGKILL)
        with parallel_config("dask"), make_engine(make_task()) as engine:
            pids = set()
            end = time.monotonic() + PATIENCE
            while len(pids) < 2 and time.monotonic() < end:
                for key in range(4):
                    engine.submit(key, ("process",))
                outcomes = drain(engine).values()
                assert {outcome.status for outcome in outcomes} == {"ok"}
                pids |= {outcome.value for outcome in outcomes}
        assert len(pids) == 2
        assert victim not in pids

    def test_a_worker_beyond_the_time_limit_is_restarted(self, engine, errors):
        engine.submit("stuck", ("loop",), 1.0)
        for key in range(4):
            engine.submit(key, ("process",))
        before = drain(engine)
        assert before.pop("stuck").status == "timeout"
        pids = {outcome.value for outcome in before.values()}
        for _ in range(100):  # until the new worker is there
            for key in range(4):
                engine.submit(key, ("process",))
            pids |= {outcome.value for outcome in drain(engine).values()}
            if len(pids) == 2:
                break
        assert len(pids) == 2
        assert errors() == []

    def test_cancelling(self, engine):
        for key in range(6):
            engine.submit(key, ("nap", 0.2))
        engine.cancel([0, 5])
        assert sorted(drain(engine)) == [1, 2, 3, 4]
        engine.submit(0, ("nap", 600))
        assert engine.wait(0.5) == []
        engine.cancel()
        assert engine.n_running == 0

    def test_a_function_that_no_worker_can_load(self, client):
        with parallel_config("dask"), make_engine(BadOnArrival()) as engine:
            engine.submit("never", ())
            with pytest.raises(RuntimeError, match="cannot be loaded.*cannot be rebuilt"):
                drain(engine)

    def test_the_number_of_jobs_bounds_that_of_the_cluster(self, client):
        with parallel_config("dask"), make_engine(make_task(), n_jobs=1) as engine:
            assert (type(engine), engine.n_workers) == (JoblibEngine, 1)

    def test_one_thread_and_the_config_of_the_caller(self, client):
        import sklearn

        with parallel_config("dask"), sklearn.config_context(assume_finite=True):
            engine = make_engine(make_task())
        with engine:
            engine.submit(0, ("parallel",))
            assert drain(engine)[0].value == ({1}, 1, True)

    def test_a_search_in_a_worker_of_the_cluster_keeps_to_itself(self, client):
        def choose():
            from skauto.engines import make_engine

            with make_engine(abs) as engine:
                engine.submit(0, (-1,))
                return type(engine).__name__, engine.wait()[0][1].value

        with parallel_config("dask"):
            chosen = joblib.Parallel()(joblib.delayed(choose)() for _ in range(2))
        assert chosen == [("SerialEngine", 1)] * 2


def test_a_worker_whose_threads_are_all_beyond_their_limits_is_restarted(forked_workers):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as one,
        one.get_client(),
        parallel_config("dask"),
        make_engine(make_task()) as engine,
    ):
        for key, limit in enumerate((0.5, 1.0)):
            engine.submit(key, ("loop",), limit)
        engine.submit("next", ("add", 1))
        outcomes = drain(engine)
    assert outcomes.pop("next").value == 10**6 + 1
    assert {outcome.status for outcome in outcomes.values()} == {"timeout"}


def test_a_worker_without_a_nanny_is_used_again_after_its_task():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as one,
        one.get_client(),
        parallel_config("dask"),
        make_engine(make_task()) as engine,
    ):
        for key in range(engine.n_workers):
            engine.submit(key, ("nap", 1.0), 0.2)
        engine.submit("next", ("add", 1))
        outcomes = drain(engine)
    assert outcomes.pop("next").value == 10**6 + 1
    assert {outcome.status for outcome in outcomes.values()} == {"timeout"}


@pytest.mark.filterwarnings("ignore")
def test_the_example_on_a_cluster(forked_workers, capsys):
    """A worker that dies in a search costs its trial only; the others are those of n_jobs=2."""
    script = Path(__file__).parents[2] / "examples" / "cluster_dask.py"
    runpy.run_path(str(script), run_name="__main__")
    *trials, last = capsys.readouterr().out.splitlines()
    statuses = [line.split()[1] for line in trials[1:]]
    assert len(statuses) == 12 and statuses.count("crashed") == 1
    assert set(statuses) <= {"ok", "stopped", "crashed"}
    assert last == "the same trials as with n_jobs=2: True"


class BadOnArrival:
    def __reduce__(self):
        return int, ("cannot be rebuilt",)
