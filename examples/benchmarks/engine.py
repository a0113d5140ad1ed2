"""What the isolation of trials costs, what parallel workers gain, and whether time limits hold.

    python examples/benchmarks/engine.py isolation  # one core
    python examples/benchmarks/engine.py workers    # two cores
    python examples/benchmarks/engine.py loop       # one core
    python examples/benchmarks/engine.py budget --rows 500000 --time-limit 20 --n-jobs 2

The bars: at most 5 ms a no-op task, at most 0.5 s from the limit of a task to the start of the
next one on a new worker, workers busy for at least 90 % of the time on sleeping tasks of 0.05 to
2 s, 1.7 times the tasks of one worker in the same time, 200 proposals a second by `random` to 256
slots, and a `fit` at most 5 % and 2 s longer than its limit. Other load on the machine shows in
all of them.
"""

import argparse
import ctypes
import heapq
import math
import multiprocessing
import os
import resource
import signal
import time
from collections import deque

import numpy as np
from _common import FunctionEvaluator
from sklearn.datasets import make_classification

from skauto import AutoClassifier
from skauto._search import Search
from skauto.engines import Engine, Outcome, ProcessEngine, SerialEngine
from skauto.history import History
from skauto.space.catalog import get_space
from skauto.strategies import STRATEGIES, AlternatingBO, get_strategy
from skauto.utils import Budget

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

    def die(self):
        os._exit(1)

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


def processor_time():
    """Seconds of all processors that this process and its dead children have used."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def processor_overhead(n_tasks):
    """Milliseconds of the processor for a no-op task and for a worker that dies in each task.

    Other load on the machine hardly shows in them.
    """
    used = []
    for kind, n in (("nothing", 0), ("nothing", n_tasks), ("die", n_tasks // 20)):
        start = processor_time()
        with ProcessEngine(Work()) as engine:
            warm(engine)
            for number in range(n):
                engine.submit(number, (kind,), 60)
                engine.wait()
        used.append(processor_time() - start)
    start, alive, dying = used
    return 1e3 * (alive - start) / n_tasks, 1e3 * (dying - start) / (n_tasks // 20)


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


def isolation(settings):
    """Overhead of a no-op task, and what it takes to kill one."""
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
    task, worker = processor_overhead(settings.n_tasks)
    report("fork, 1 worker, ms of the processor a task", f"{task:.2f}")
    report("fork, ms of the processor a replaced worker", f"{worker:.1f}")
    with ProcessEngine(Work()) as engine:
        for kind in ("loop", "hold_the_gil", "ignore_signals"):
            for name, times in zip(
                ("report", "next task"),
                kill_latency(engine, kind, settings.n_kills),
                strict=True,
            ):
                value = f"{np.median(times):.3f} {max(times):.3f}"
                report(f"{kind}: s from limit to {name} (median, max)", value, "<= 0.5")


def workers(settings):
    """What two workers make of sleeping and of computing tasks."""
    with ProcessEngine(Work(), 2) as engine:
        share = busy_share(engine, settings.n_naps, np.random.default_rng(0))
        report("2 workers busy, sleeping tasks of 0.05-2 s", f"{share:.1%}", ">= 90%")
    counts = {}
    for n_workers in (1, 2):
        with ProcessEngine(Work(), n_workers) as engine:
            counts[n_workers] = n_computed(engine, settings.seconds)
    report("CPU-bound tasks, 2 workers against 1", f"{counts[2] / counts[1]:.2f}", ">= 1.7")


class Slots(Engine):
    """Workers that are not there: their tasks end on a clock that leaps over all waiting.

    So slots idle for as long as the loop really computes to fill them, and for no other reason;
    its seconds are those of the processor. Tasks take seconds drawn from a log-normal
    distribution.
    """

    def __init__(self, function, n_slots, median, rng):
        super().__init__(function, n_slots)
        self.median = median
        self.rng = rng
        self.leapt = 0.0
        self.opened = None  # when all slots had been filled for the first time
        self.busy = 0.0
        self.running = []  # (end, start, key, outcome), the next to end first
        self.queue = deque()

    @property
    def now(self):
        return time.process_time() + self.leapt

    @property
    def n_running(self):
        return len(self.running) + len(self.queue)

    def _keys(self):
        return ()  # those of the loop are unique

    def _submit(self, task):
        self.queue.append((task.key, task.args))
        self._fill()

    def _fill(self):
        while self.queue and len(self.running) < self.n_workers:
            key, args = self.queue.popleft()
            seconds = self.median * math.exp(0.5 * self.rng.standard_normal())
            outcome = Outcome("ok", self.function(*args), seconds=seconds)
            start = self.now
            heapq.heappush(self.running, (start + seconds, start, key, outcome))

    def wait(self, timeout=None):
        if self.opened is None:
            self.opened = self.now
        self.leapt += max(0.0, self.running[0][0] - self.now)
        ended = []
        while self.running and self.running[0][0] <= self.now:
            end, start, key, outcome = heapq.heappop(self.running)
            self.busy += end - max(start, self.opened)
            ended.append((key, outcome))
        self._fill()
        return ended

    def idle_share(self):
        now = self.now
        under_way = sum(now - max(start, self.opened) for _, start, _, _ in self.running)
        return 1.0 - (self.busy + under_way) / (self.n_workers * (now - self.opened))

    def cancel(self, keys=None):
        if keys is None:
            self.running.clear()
            self.queue.clear()

    def close(self):
        self.cancel()


class Classifiers:
    """Losses of a configuration by a formula, and predictions of classes.

    What is near in the space predicts alike. The second loss wants certain predictions.
    """

    def __init__(self, space, n_objectives, n_rows=200):
        self.space = space
        self.n_objectives = n_objectives
        rng = np.random.default_rng(0)
        self.targets = rng.integers(0, 2, n_rows)
        n_columns = space.one_hot(space.default_vector()[None]).shape[1]
        self.weights = rng.normal(size=(n_columns, n_rows)) / math.sqrt(n_columns)

    def function(self, configuration):
        features = self.space.one_hot(self.space.encode([configuration]))[0]
        right = 1 / (1 + np.exp(-(0.5 + 2 * features @ self.weights)))
        share = np.where(self.targets == 1, right, 1 - right).astype(np.float32)
        losses = float(np.mean(right < 0.5)), float(np.mean(0.5 - abs(right - 0.5)))
        predictions = np.column_stack([1 - share, share])
        return {"losses": losses[: self.n_objectives], "predictions": predictions}


def loop(settings):
    """Proposals a second and idle slots of each strategy."""
    print(f"{'strategy':24s} proposals   a second   idle slots")
    for name in settings.strategies or sorted(STRATEGIES):
        n_proposals, rate, idle = run_loop(name, settings)
        print(f"{name:24s} {n_proposals:9d} {rate:10.1f} {idle:12.1%}", flush=True)


def run_loop(name, settings):
    """Search on slots until there are enough proposals, or too many seconds have passed."""
    space = get_space("default")
    n_objectives = 2 if name in ("fang_hpo", "parego") else 1
    classifiers = Classifiers(space, n_objectives)
    evaluator = FunctionEvaluator(classifiers.function)
    objectives = [f"loss_{i}" for i in range(n_objectives)]
    history = History(objectives, targets=classifiers.targets)
    engine = Slots(evaluator.function, 256, settings.trial, np.random.default_rng(0))
    budget = Budget(settings.n_trials, time_limit=1e6)
    started = time.process_time()
    idle_share = 1.0

    def stop(trial):
        nonlocal idle_share
        if search._next_key < settings.n_trials:  # later on, slots idle for want of trials
            idle_share = engine.idle_share()
        return time.process_time() - started > settings.seconds

    strategy = get_strategy(name)
    search = Search(strategy, space, evaluator, engine, history, budget, on_trial=stop)
    search.run(np.random.default_rng(0))
    rate = search._next_key / (time.process_time() - started)
    return search._next_key, rate, idle_share


class Stopwatch(AlternatingBO):
    """The default strategy, which notes when the search ends."""

    def stop(self):
        super().stop()
        self.stopped = time.monotonic()


def budget(settings):
    """How far a whole `fit` keeps its time limit."""
    X, y = make_classification(
        settings.rows, 20, n_informative=8, n_redundant=4, flip_y=0.05, random_state=0
    )
    start = time.monotonic()
    clf = AutoClassifier(
        Stopwatch(), time_limit=settings.time_limit, n_jobs=settings.n_jobs, random_state=0
    )
    clf.fit(X, y)
    seconds = time.monotonic() - start
    print(
        f"{settings.rows} rows, limit {settings.time_limit:g} s: search until "
        f"{clf.strategy_.stopped - start:.1f} s, fit until {seconds:.1f} s "
        f"(<= {1.05 * settings.time_limit + 2:.1f}), {len(clf.history_)} trials, "
        f"{len(clf.member_weights_)} members",
        flush=True,
    )


def main():
    """Run the part that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    part = parts.add_parser("isolation")
    part.add_argument("--n-tasks", type=int, default=2000)
    part.add_argument("--n-kills", type=int, default=10)
    part = parts.add_parser("workers")
    part.add_argument("--n-naps", type=int, default=60)
    part.add_argument("--seconds", type=float, default=10.0)
    part = parts.add_parser("loop")
    part.add_argument("strategies", nargs="*", help="all by default")
    part.add_argument("--n-trials", type=int, default=5000, help="at most")
    part.add_argument("--seconds", type=float, default=12.0, help="of the processor, at most")
    part.add_argument("--trial", type=float, default=30.0, help="median seconds of a trial")
    part = parts.add_parser("budget")
    part.add_argument("--rows", type=int, required=True)
    part.add_argument("--time-limit", type=float, required=True)
    part.add_argument("--n-jobs", type=int, default=2)
    settings = parser.parse_args()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{multiprocessing.cpu_count()} cores, load {load}")
    {"isolation": isolation, "workers": workers, "loop": loop, "budget": budget}[settings.part](
        settings
    )


if __name__ == "__main__":
    main()
