"""What the isolation of trials costs, and what parallel workers gain.

Run `python examples/benchmarks/engine.py`. The bars: at most 5 ms a no-op task, at most 0.5 s from
the limit of a task to the start of the next one on a new worker, workers busy for at least 90 % of
the time on sleeping tasks of 0.05 to 2 s, and 1.7 times the tasks of one worker in the same time.
Other load on the machine shows in all of them.
"""

import argparse
import ctypes
import multiprocessing
import os
import signal
import time

import numpy as np

from skauto.evaluation import ProcessEngine, SerialEngine

LIMIT = 0.5  # seconds


class Work:
    """One method for each kind of task."""

    def __call__(self, kind, *args):
        return getattr(self, kind)(*args)

    def nothing(self):
        pass

    def clock(self):
        return time.monotonic()

    def sleep(self, seconds):
        time.sleep(seconds)

    def compute(self):
        return sum(number**2 for number in range(300_000))

    def loop(self):
        while True:
            pass

    def hold_the_gil(self):
        ctypes.PyDLL(None).sleep(600)

    def ignore_signals(self):
        for number in (signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        self.loop()


def drain(engine):
    """Wait for all tasks; return their outcomes."""
    outcomes = []
    while engine.n_running:
        outcomes += [outcome for _, outcome in engine.wait()]
    return outcomes


def warm(engine):
    """Start all workers."""
    for number in range(engine.n_workers):
        engine.submit(number, ("sleep", 0.2))
    drain(engine)


def overhead(engine, n_tasks):
    """Milliseconds for a no-op task, submitted all at once and one by one."""
    warm(engine)
    start = time.perf_counter()
    for number in range(n_tasks):
        engine.submit(number, ("nothing",), 60)
    drain(engine)
    together = time.perf_counter() - start
    start = time.perf_counter()
    for number in range(n_tasks):
        engine.submit(number, ("nothing",), 60)
        engine.wait()
    apart = time.perf_counter() - start
    return 1e3 * together / n_tasks, 1e3 * apart / n_tasks


def kill_latency(engine, kind, n_kills):
    """Seconds from the limit to the report, and to the next task on a new worker."""
    reports, replacements = [], []
    for _ in range(n_kills):
        warm(engine)
        start = time.monotonic()
        engine.submit("stuck", (kind,), LIMIT)
        engine.submit("next", ("clock",), 60)
        for key, outcome in engine.wait():
            assert (key, outcome.status) == ("stuck", "timeout")
            reports.append(time.monotonic() - start - LIMIT)
        [outcome] = drain(engine)
        replacements.append(outcome.value - start - LIMIT)
    return reports, replacements


def busy_share(engine, n_tasks, rng):
    """Share of the time for which the workers slept for the tasks."""
    warm(engine)
    naps = rng.uniform(0.05, 2.0, size=n_tasks)
    start = time.perf_counter()
    for number, seconds in enumerate(naps):
        engine.submit(number, ("sleep", seconds), 60)
    ended = 0
    while ended < n_tasks - engine.n_workers:  # while there is something for everybody
        ended += len(engine.wait())
    elapsed = time.perf_counter() - start
    running = [naps[task.key] for w in engine._workers if (task := w.task) is not None]
    started = [w.task_started for w in engine._workers if w.task is not None]
    now = time.monotonic()
    slept = naps.sum() - sum(
        max(0.0, nap - (now - begin)) for nap, begin in zip(running, started, strict=True)
    )
    engine.cancel()
    return slept / (engine.n_workers * elapsed)


def n_computed(engine, seconds):
    """Number of CPU-bound tasks done in a time."""
    warm(engine)
    end = time.perf_counter() + seconds
    n_done = n_sent = 0
    while time.perf_counter() < end:
        while engine.n_running < 2 * engine.n_workers:
            engine.submit(n_sent, ("compute",), 60)
            n_sent += 1
        n_done += len(engine.wait(end - time.perf_counter()))
    engine.cancel()
    return n_done


def report(name, value, bar=""):
    """Print one line of the table."""
    print(f"{name:58s} {value:>18s}   {bar}", flush=True)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-tasks", type=int, default=2000)
    parser.add_argument("--n-kills", type=int, default=10)
    parser.add_argument("--n-naps", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=10.0)
    settings = parser.parse_args()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{multiprocessing.cpu_count()} cores, load {load}\n")

    with SerialEngine(Work()) as engine:
        together, apart = overhead(engine, settings.n_tasks)
    report("in this process, ms a task (all at once, one by one)", f"{together:.2f} {apart:.2f}")
    for method in multiprocessing.get_all_start_methods():
        with ProcessEngine(Work(), 2, start_method=method) as engine:
            together, apart = overhead(engine, settings.n_tasks)
        report(f"{method}, 2 workers, ms a task", f"{together:.2f} {apart:.2f}", "<= 5")
    with ProcessEngine(Work(), 2, memory_limit=2**30) as engine:
        together, apart = overhead(engine, settings.n_tasks)
    report("the same under a memory limit", f"{together:.2f} {apart:.2f}", "<= 5")

    with ProcessEngine(Work()) as engine:
        for kind in ("loop", "hold_the_gil", "ignore_signals"):
            for name, times in zip(
                ("report", "next task"),
                kill_latency(engine, kind, settings.n_kills),
                strict=True,
            ):
                value = f"{np.median(times):.3f} {max(times):.3f}"
                report(f"{kind}: s from limit to {name} (median, max)", value, "<= 0.5")

    with ProcessEngine(Work(), 2) as engine:
        share = busy_share(engine, settings.n_naps, np.random.default_rng(0))
        report("2 workers busy, sleeping tasks of 0.05-2 s", f"{share:.1%}", ">= 90%")
    counts = {}
    for n_workers in (1, 2):
        with ProcessEngine(Work(), n_workers) as engine:
            counts[n_workers] = n_computed(engine, settings.seconds)
    report("CPU-bound tasks, 2 workers against 1", f"{counts[2] / counts[1]:.2f}", ">= 1.7")


if __name__ == "__main__":
    main()
