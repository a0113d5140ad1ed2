"""What the benchmarks share: data, results that are continued, limited fits, searches, tests."""

import argparse
import ast
import os
import signal
import time
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ttest_1samp, wilcoxon
from sklearn.metrics import get_scorer

from skauto._search import Search
from skauto.data import TableReader
from skauto.data._training import read_training_data
from skauto.engines import SerialEngine
from skauto.evaluation import FoldTask, PipelineBuilder, PipelineWorker
from skauto.history import History
from skauto.space import get_space
from skauto.strategies import get_strategy
from skauto.testing._loop import FunctionEvaluator
from skauto.utils import Budget

DATA_VARIABLE = "SKAUTO_BENCHMARK_DATA"
# Larger sets are random parts of these sizes.
MAX_ROWS = {"adult": 10_000}


# Arguments


def names(text):
    """Read a comma-separated list."""
    return [part for part in text.split(",") if part]


def numbers(text):
    """Read a comma-separated list of integers."""
    return [int(part) for part in names(text)]


def make_parser(doc, *, data=True):
    """Parser of a script; ``--data`` may come from the environment."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    if data:
        default = os.environ.get(DATA_VARIABLE)
        parser.add_argument(
            "--data",
            type=Path,
            default=default and Path(default),
            help=f"folder of the data sets (default: the variable {DATA_VARIABLE})",
        )
    return parser


def require_data(parser, arguments):
    """End with an error where no folder of data sets is given."""
    if arguments.data is None:
        parser.error(f"give the folder of the data sets by --data or {DATA_VARIABLE}")


def read_strategy(text):
    """Build ``name`` or ``name.paper``, perhaps with ``(setting=value;setting=value)`` behind."""
    name, _, settings = text.rstrip(")").partition("(")
    strategy = get_strategy(name.removesuffix(".paper"))
    if name.endswith(".paper"):
        strategy = type(strategy).paper()
    pairs = (setting.split("=") for setting in settings.split(";") if setting)
    return strategy.set_params(**{k: ast.literal_eval(v) for k, v in pairs})


# Data


def read_index(folder):
    """Index of a folder of CSV files: columns ``name``, ``file`` and ``categorical_columns``."""
    return pd.read_csv(folder / "INDEX.csv", keep_default_na=False).set_index("name")


def load(folder, name, max_rows=None):
    """Load a set, or a random part of a large one: table with categories as such, and target."""
    index = read_index(folder)
    table = pd.read_csv(folder / index.loc[name, "file"])
    max_rows = MAX_ROWS.get(name, len(table)) if max_rows is None else max_rows
    if len(table) > max_rows:
        table = table.sample(max_rows, random_state=0).reset_index(drop=True)
    X, y = table.drop(columns="target"), table["target"].to_numpy()
    categories = listed(X.columns, index.loc[name, "categorical_columns"])
    return X.astype(dict.fromkeys(categories, "category")), y


def listed(known, text):
    """The names that a text lists between blanks, though they may contain blanks themselves."""
    text, found = f" {text} ", []
    for name in sorted(known, key=len, reverse=True):
        if f" {name} " in text:
            found.append(name)
            text = text.replace(f" {name} ", "  ", 1)
    return found


# Results


class Results:
    """A CSV file of results, one or more lines a run, that an interrupted benchmark continues.

    Parameters
    ----------
    path : Path
        The file; neither it nor its folder need exist.
    key : list of str
        Columns that name a run.
    """

    def __init__(self, path, key):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.key = list(key)
        self.frame = pd.read_csv(path) if self.path.exists() else pd.DataFrame(columns=self.key)
        self._done = {self._normal(run) for run in self.frame[self.key].to_numpy().tolist()}

    @staticmethod
    def _normal(run):
        """Numbers as floats: a CSV file may hold 60 for 60.0."""
        return tuple(str(v if isinstance(v, str) else float(v)) for v in run)

    def missing(self, *values: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        """Give the runs, one value a column of the key, that are not in the file yet."""
        for run in product(*values):
            if self._normal(run) not in self._done:
                yield run

    def add(self, run, outcome):
        """Append what a run gave: a mapping, or a frame with several lines; print the last."""
        lines = outcome if isinstance(outcome, pd.DataFrame) else pd.DataFrame([outcome])
        lines = lines.assign(**dict(zip(self.key, run, strict=True)))
        lines = lines[[*self.key, *(c for c in lines if c not in self.key)]]
        known = [] if self.frame.empty else [self.frame]
        self.frame = pd.concat([*known, lines], ignore_index=True)
        self.frame.to_csv(self.path, index=False, float_format="%.6g")
        self._done.add(self._normal(run))
        print(lines.tail(1).to_string(header=False, index=False), flush=True)


def paired_tests(table, against):
    """Compare the columns of a table with one of them, row by row.

    Parameters
    ----------
    table : DataFrame of shape (n_tasks, n_systems)
        One row a task, such as a data set, without gaps; smaller is better.
    against : str
        The column to compare with.

    Returns
    -------
    DataFrame
        By system: mean difference with the limits of its 90% interval (Student's t), number of
        tasks on which it is better and worse, and p of Wilcoxon's signed-rank test (NaN where all
        differences are 0). Equality is only shown within the larger limit.
    """
    rows = {}
    for system in table.columns.drop(against):
        difference = (table[system] - table[against]).to_numpy()
        interval = ttest_1samp(difference, 0.0).confidence_interval(0.9)
        rows[system] = {
            "difference": difference.mean(),
            "low": interval.low,
            "high": interval.high,
            "better": int((difference < 0).sum()),
            "worse": int((difference > 0).sum()),
            "p": wilcoxon(difference).pvalue if difference.any() else np.nan,
        }
    return pd.DataFrame(rows).T


def speed_up(frame, unit, system, against):
    """How many times sooner a system has what another ends with: median of the pairs.

    Parameters
    ----------
    frame : DataFrame
        Columns ``set``, ``seed``, ``strategy``, ``loss`` of the best so far, and the unit.
    unit : str
        Column of the time or of the number of trials.
    system, against : str
        The two strategies.

    Returns
    -------
    dict
        The median, 0 where never, and the limits of its 95% interval by bootstrap.
    """
    ratios = []
    for _, runs in frame.groupby(["set", "seed"]):
        other, own = (runs[runs["strategy"] == s] for s in (against, system))
        reached = own[own["loss"] <= other["loss"].min()]
        if len(other) and len(own):
            begin = other.loc[other["loss"].idxmin(), unit]
            ratios.append(begin / reached[unit].min() if len(reached) else 0.0)
    drawn = np.random.default_rng(0).choice(ratios, (2000, len(ratios)))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    return {"sooner": np.median(ratios), "from": low, "to": high}


# Fits


def make_worker(space, table, splits):
    """What fits a configuration of a space to a fold of a table."""
    reader = table.reader
    builder = PipelineBuilder(
        space, categorical=reader.categorical_indices_, n_levels=reader.n_levels_
    )
    return PipelineWorker(builder, table.training_data(splits), {})


class LimitedFit:
    """The function of an engine: fits a configuration to some rows and predicts others.

    The limit is one of processor seconds, which other work on the machine does not stretch. Its
    signal ends the process, so that the engine must be one of processes. `space` is that of the
    name, adapted to the data.
    """

    def __init__(self, space_name, X, y, train, rest, seconds):
        table = read_training_data(X, y, {}, TableReader())
        self.facts, self.space = table.facts, get_space(space_name).for_data(table.facts)
        self.worker = make_worker(self.space, table, [(train, rest)])
        self.seconds = seconds

    def __call__(self, configuration):
        """Probabilities of the classes for the rows to predict."""
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            return self.worker(FoldTask(configuration, 0)).probabilities
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


class LimitedLosses(LimitedFit):
    """The function of an engine: fits a configuration to the first of some parts of the rows.

    It gives the loss on each of the others, one minus the score and infinite where the fit fails,
    and the processor seconds.
    """

    def __init__(self, space_name, X, y, parts, seconds, scoring):
        train, *self.parts = parts
        super().__init__(space_name, X, y, train, np.concatenate(self.parts), seconds)
        self.scorer = get_scorer(scoring)

    def __call__(self, configuration):
        started = time.process_time()
        try:
            predicted = super().__call__(configuration)
        except Exception:
            losses = [np.inf] * len(self.parts)
        else:
            ends = np.cumsum([len(part) for part in self.parts])[:-1]
            pairs = zip(np.split(predicted, ends), self.parts, strict=True)
            losses = [1.0 - self.worker.score(self.scorer, part, rows) for part, rows in pairs]
        return *losses, time.process_time() - started


# Searches


class TimedStrategy:
    """A strategy, and the seconds of the processor that each of its suggestions took."""

    def __init__(self, strategy):
        self.strategy = strategy

    def start(self, space, rng):
        self.seconds_ = []
        self.strategy.start(space, rng)
        return self

    def ask(self, history, pending=()):
        start = time.process_time()
        proposal = self.strategy.ask(history, pending)
        self.seconds_.append(time.process_time() - start)
        return proposal

    def observe(self, trial):
        self.strategy.observe(trial)

    def stop(self):
        self.strategy.stop()


def search(
    strategy,
    space,
    function,
    seed,
    *,
    max_evals=None,
    time_limit=None,
    targets=None,
    on_trial=None,
):
    """Search with skauto's own loop, one trial after the other, in this process.

    Parameters
    ----------
    strategy : Strategy
        How to search.
    space : SearchSpace
        What may be tried.
    function : callable
        ``function(configuration)`` gives a mapping with the losses, a tuple, and perhaps other
        fields of the trial: its predictions, its status, its times if they are not those of the
        call.
    seed : int
        Seeds the strategy.
    max_evals : int, default=None
        Number of trials.
    time_limit : float, default=None
        Seconds in ``trial.ended`` after which the search ends, for times by the function.
    targets : ndarray of shape (n_rows,), default=None
        Classes of the rows that are predicted.
    on_trial : callable, default=None
        Called with each trial; the search ends when it returns True.

    Returns
    -------
    History
        All trials.
    """
    history = History(max_evals=max_evals, time_limit=time_limit, targets=targets)
    evaluator = FunctionEvaluator(lambda number, configuration: function(configuration))

    def ended(trial):
        return history.share_of_time >= 1.0 or bool(on_trial and on_trial(trial))

    with SerialEngine(evaluator.function) as engine:
        Search(
            strategy, space, evaluator, engine, history, Budget(), look_ahead=1, on_trial=ended
        ).run(np.random.default_rng(seed))
    return history
