"""Build the archive of what worked on known data sets, which warm starts draw on.

Four stages, of which the long ones go on where an interrupted run has stopped:

1. ``search``: on every data set a search with many trials; its best pipelines become candidates.
2. ``cross``: every candidate is evaluated on every data set, on the same folds for all.
3. ``write``: losses, seconds and meta-features are written as one readable JSON file.
4. ``check``: on each data set that was not searched, nor a copy of it, how good the best of the
   first k pipelines is that the other data sets advise::

    python examples/benchmarks/build_archive.py --data FOLDER --generated 20 --work archive.jsonl \
        --archive skauto/metalearning/archives/default.json

Results are kept in the ``--work`` file, one JSON record a line; ``--stages search,cross`` picks
stages. Data come from a FOLDER with an INDEX.csv as for ``quality.py`` and from a generator
(``--generated 20``).
"""

import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _common import load, make_parser, names, read_index
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier, SearchOptions
from skauto.data import TableReader
from skauto.data._training import read_training_data
from skauto.metalearning import (
    META_FEATURES,
    Archive,
    KnownDataSet,
    adapt_configuration,
    meta_features,
    nearest_configurations,
)
from skauto.metalearning._archive import normalized
from skauto.metalearning._warm_start import adapt_configurations
from skauto.space import Configuration, get_space

N_TRIED = (1, 5, 10, 25)  # after so many trials the advice is judged
MAX_BYTES = 2 * 2**20
# From so many rows on, a third of them validates; below that, three folds.
N_ROWS_TO_HOLD_OUT = 1000
STAGES = ["search", "cross", "write", "check"]


class Work:
    """The records so far: a file of JSON lines that is only appended to."""

    def __init__(self, path):
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.records = [json.loads(line) for line in lines]

    def add(self, **record):
        self.records.append(record)
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def of(self, stage):
        return {r["data_set"]: r for r in self.records if r["stage"] == stage}


# Data


def generated(number):
    """A made-up table: sizes, classes, noise and kinds of columns all differ."""
    rng = np.random.default_rng(number)
    n_classes = int(rng.choice([2, 2, 2, 3, 5]))
    n_features = int(np.exp(rng.uniform(np.log(5), np.log(80))))
    n_informative = int(rng.integers(max(3, n_classes), n_features + 3).clip(3, n_features))
    X, y = make_classification(
        n_samples=int(np.exp(rng.uniform(np.log(300), np.log(5000)))),
        n_features=n_features,
        n_informative=n_informative,
        n_redundant=int(rng.integers(0, n_features - n_informative + 1)),
        n_classes=n_classes,
        n_clusters_per_class=int(rng.integers(1, 4)) if n_informative > 4 else 1,
        weights=rng.dirichlet(np.full(n_classes, 3.0)),
        flip_y=float(rng.uniform(0, 0.2)),
        class_sep=float(rng.uniform(0.5, 1.5)),
        random_state=number,
    )
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_features)])
    for column in table:
        kind = rng.random()
        if kind < 0.2:
            table[column] = np.exp(table[column])
        elif kind < 0.4:
            levels = int(rng.integers(2, 12))
            table[column] = pd.qcut(table[column], levels, labels=False).astype("category")
        if rng.random() < 0.15:
            table.loc[rng.random(len(table)) < rng.uniform(0, 0.3), column] = np.nan
    return table, y


def sources(arguments):
    """Name of each data set, with what reads it."""
    if arguments.data:
        for name in arguments.sets or read_index(arguments.data).index:
            yield name, lambda name=name: load(arguments.data, name)
    for number in range(arguments.generated):
        yield f"generated_{number}", lambda number=number: generated(number)


def at_most(X, y, n_rows):
    """A stratified part of the rows, and no class of fewer than ten."""
    names, counts = np.unique(y, return_counts=True)
    common = np.isin(y, names[counts >= 10])
    X, y = X[common].reset_index(drop=True), y[common]
    if len(y) <= n_rows:
        return X, y
    X, _, y, _ = train_test_split(X, y, train_size=n_rows, stratify=y, random_state=0)
    return X.reset_index(drop=True), y


def describe(X, y):
    """Meta-features of a table, and what the search space is adapted to."""
    table = read_training_data(X, y, {}, TableReader())
    categorical = table.reader.categorical_indices_
    rng = np.random.default_rng(0)
    return meta_features(table.X, table.y, categorical=categorical, rng=rng), table.facts


# Stages


def classifier(arguments, n_rows, **settings):
    return AutoClassifier(
        cv=1 / 3 if n_rows >= N_ROWS_TO_HOLD_OUT else 3,
        space=arguments.space,
        scoring=arguments.scoring,
        options=SearchOptions(refit=False, trial_time_limit=arguments.trial_time_limit),
        n_jobs=arguments.n_jobs,
        ensemble_size=1,
        random_state=0,
        **settings,
    )


def measured(trial):
    """Loss of a trial; a poor first fold is a measurement, a failure is infinite."""
    return trial.loss if trial.ok or trial.status == "stopped" else np.inf


def search(arguments, work):
    """Stage 1: the best pipelines of a search on each data set."""
    for name, read in sources(arguments):
        if name in work.of("search"):
            continue
        X, y = at_most(*read(), arguments.max_rows)
        model = classifier(
            arguments, len(y), strategy=arguments.strategy, max_evals=arguments.max_evals
        )
        start = time.perf_counter()
        model.fit(X, y)
        trials = sorted((t for t in model.history_ if t.ok), key=lambda t: (t.loss, t.tie_break))
        # the table may lack hyper-parameters that others have, as those of categories
        best = [adapt_configuration(t.configuration, get_space(arguments.space)) for t in trials]
        work.add(
            stage="search",
            data_set=name,
            best=[configuration.to_dict() for configuration in best[: arguments.keep]],
            losses=[t.loss for t in trials[: arguments.keep]],
            seconds=time.perf_counter() - start,
        )
        print(f"{name}: {len(trials)} trials, best loss {trials[0].loss:.4f}", flush=True)


def candidates(arguments, work):
    """Configurations to try everywhere: the best of each data set, the defaults of all."""
    space = get_space(arguments.space)
    best = [Configuration.from_dict(c) for r in work.of("search").values() for c in r["best"]]
    return list(dict.fromkeys([*space.default_configurations(), *best]))


def cross(arguments, work):
    """Stage 2: every candidate on every data set; what is not known yet."""
    pool = candidates(arguments, work)
    space = get_space(arguments.space)
    for name, read in sources(arguments):
        known = work.of("cross").get(name, {"results": []})["results"]
        done = {Configuration.from_dict(result["configuration"]) for result in known}
        missing = [c for c in pool if c not in done]
        if not missing:
            continue
        X, y = at_most(*read(), arguments.max_rows)
        features, facts = describe(X, y)
        part = space.for_data(facts)
        fitted = {c: adapt_configuration(c, part) for c in missing}
        tried = list(dict.fromkeys(c for c in fitted.values() if c is not None))
        model = classifier(
            arguments, len(y), strategy="random", initial=tried, max_evals=len(tried)
        )
        model.fit(X, y)
        trials = {trial.configuration: trial for trial in model.history_}
        results = [
            {
                "configuration": c.to_dict(),
                "loss": measured(trials[fitted[c]]),
                "seconds": trials[fitted[c]].cost,
            }
            for c in missing
            if fitted[c] in trials
        ]
        work.add(stage="cross", data_set=name, features=features, results=known + results)
        print(f"{name}: {len(results)} of {len(missing)} candidates evaluated", flush=True)


def write(arguments, work):
    """Stage 3: the archive, with the candidates that were good somewhere."""
    records = work.of("cross")
    pool = candidates(arguments, work)
    number = {configuration: i for i, configuration in enumerate(pool)}
    data_sets = []
    for name, record in records.items():
        losses, seconds = np.full((2, len(pool)), np.nan)
        for result in record["results"]:
            i = number.get(Configuration.from_dict(result["configuration"]))
            if i is not None:
                losses[i], seconds[i] = result["loss"], result["seconds"]
        features = {n: record["features"][n] for n in META_FEATURES}
        data_sets.append(KnownDataSet(name, features, losses, seconds))
    archive = Archive(arguments.space, arguments.scoring, tuple(pool), tuple(data_sets))
    arguments.archive.parent.mkdir(parents=True, exist_ok=True)
    archive.save(arguments.archive)
    size = arguments.archive.stat().st_size
    print(f"{archive!r}: {size / 2**20:.2f} MiB in {arguments.archive}")
    if size > MAX_BYTES:
        raise SystemExit(
            f"The archive exceeds {MAX_BYTES} bytes: lower --keep (now {arguments.keep})."
        )


def check(arguments, work):
    """Stage 4: advice of the other data sets, in units of 0 (best candidate) to 1 (median one)."""
    archive, space = Archive.load(arguments.archive), get_space(arguments.space)
    rng = np.random.default_rng(0)
    rows, n_near = [], 0
    for data_set in archive.data_sets:
        others = archive.without_copies(data_set.features)
        copies = {d.name for d in archive.data_sets} - {d.name for d in others.data_sets}
        if copies & work.of("search").keys():
            continue  # a candidate was found on it, or on a copy of it
        n_near += bool(archive.neighbors(data_set.features))
        starts = {
            "metalearning": nearest_configurations(archive, data_set.features, space),
            "portfolio": adapt_configurations(others.portfolio(N_TRIED[-1]), space),
            "defaults": space.default_configurations(),
            "random": [archive.configurations[i] for i in rng.permutation(len(archive.losses.T))],
        }
        regret = dict(
            zip(archive.configurations, normalized(data_set.losses[None])[0], strict=True)
        )
        for start, configurations in starts.items():
            best = np.minimum.accumulate([regret[c] for c in configurations])
            rows.append({"start": start} | {k: best[min(k, len(best)) - 1] for k in N_TRIED})
    table = pd.DataFrame(rows).groupby("start")
    print(f"{len(rows) // len(starts)} data sets, {n_near} of them with a near one")
    print("Mean distance from the best candidate after k trials:")
    print(table.mean().round(3).to_string())


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--sets", type=names, default=[], help="names in INDEX.csv (default all)")
    parser.add_argument("--generated", type=int, default=0, help="number of made-up data sets")
    parser.add_argument("--space", default="default")
    parser.add_argument("--scoring", default="roc_auc")
    parser.add_argument("--strategy", default="forest_bo")
    parser.add_argument("--max-evals", type=int, default=150, help="trials of each search")
    parser.add_argument("--max-rows", type=int, default=3000, help="rows of each data set")
    parser.add_argument("--trial-time-limit", type=float, default=30.0, help="seconds")
    parser.add_argument("--keep", type=int, default=3, help="candidates from each data set")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, required=True, help="file of records, appended to")
    parser.add_argument("--archive", type=Path, help="file to write in the last stage")
    parser.add_argument("--stages", type=names, default=STAGES, help=",".join(STAGES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    work = Work(arguments.work)
    for stage in (search, cross, write, check):
        if stage.__name__ in arguments.stages:
            stage(arguments, work)


if __name__ == "__main__":
    main()
