"""Surrogate benchmarks: strategies minimize models of evaluated configurations, in minutes.

``build`` evaluates configurations of the spaces of the papers on one split of each set and keeps
what came out: the encoded configuration, validated and held-out loss, seconds, and whether it
failed. It stops after ``--seconds`` and goes on when it is called again with the same rows::

    python examples/benchmarks/surrogate.py build --data FOLDER --spaces mosaic --seconds 100

Models of the losses, of the seconds and of failures then answer for any configuration of the space
in about a millisecond; ``check`` prints how well, by cross-validation. ``search`` lets strategies
minimize the modeled validated loss, and ``report`` compares them by trials and by the clock, the
processor seconds of the suggestions and the modeled ones of the trials. With ``--until clock``
all searches of a set have the same time, as in the paper of FLASH. With ``--live`` the
configurations are fitted, on the same rows and by the same clock::

    python examples/benchmarks/surrogate.py check
    python examples/benchmarks/surrogate.py search --out FOLDER --spaces mosaic \
        --strategies "mosaic,mosaic.paper,mosaic.paper(c_ucb=0),forest_bo.paper,random"
    python examples/benchmarks/surrogate.py report --out FOLDER --against forest_bo.paper
"""

import itertools
import json
import time
import warnings
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from _common import (
    LimitedLosses,
    Results,
    TimedStrategy,
    load,
    make_parser,
    names,
    numbers,
    paired_tests,
    read_strategy,
    require_data,
    search,
    speed_up,
)
from scipy.special import ndtri
from scipy.stats import spearmanr
from sklearn.model_selection import KFold, train_test_split

from skauto.data import DataFacts
from skauto.engines import ProcessEngine
from skauto.space import get_space

TABLES = Path(__file__).parents[2] / "docs/benchmarks/surrogate_tables"
# The spaces, and what is maximized in each.
SPACES = {"mosaic": "accuracy", "divbo": "accuracy", "flash": "accuracy", "admm_large": "roc_auc"}
SETS = "vehicle,credit-g,segment,cmc,pc4,phoneme,churn,car,spambase,satimage"
# Those of FLASH leave out what tuned it; those of ADMM are binary, with numeric columns only.
SETS_OF = {
    "flash": "vehicle,credit-g,cmc,pc4,car,fri_c2_1000_10,bank32nh,churn,satimage,segment",
    "admm_large": "fri_c2_1000_10,pc4,cpu_small,puma8NH,wind,sylvine,delta_ailerons,"
    "eeg-eye-state,ringnorm,spambase",
}
STRATEGIES = "mosaic,mosaic.paper,forest_bo,forest_bo.paper,random"
PARTS = 0.4, 0.2, 0.4  # of the rows: to train on, to validate and to test
CHUNK = 40  # configurations that are evaluated before the table is written
LEAST_SECONDS = 1e-4  # where the clock of the processor has shown none
N_TREES = 300
# Of LightGBM, for all models; trees on random halves of the columns and parts of the rows.
TREES = {"learning_rate": 0.05, "num_leaves": 15, "min_data_in_leaf": 5, "feature_fraction": 0.5}
BAGGING = {"bagging_fraction": 0.8, "bagging_freq": 1, "seed": 0}
BOOSTING = TREES | BAGGING | {"num_threads": 1, "verbosity": -1}
SHARES = (0.25, 0.5, 1.0)  # of the trials, or of the seconds
KEY = ["space", "set", "strategy", "seed", "n_trials", "until"]
UNITS = {"trials": ("trial", "clock"), "clock": ("clock",)}  # to compare by, by what ends a search


def table_paths(arguments):
    """Files of the tables of the spaces and sets that are asked for."""
    sets = {space: arguments.sets or names(SETS_OF.get(space, SETS)) for space in arguments.spaces}
    pairs = [(space, name) for space in arguments.spaces for name in sets[space]]
    return [arguments.tables / f"{space}-{name}.npz" for space, name in pairs]


def build(arguments):
    """Evaluate configurations and add them to the tables, one row each."""
    deadline = time.monotonic() + arguments.seconds
    arguments.tables.mkdir(parents=True, exist_ok=True)
    for path in table_paths(arguments):
        space_name, _, name = path.stem.partition("-")
        facts, table = read_table(path) if path.exists() else (None, None)
        if table is not None and len(table["loss"]) >= arguments.n_configurations:
            continue
        trial, limit = make_trial(space_name, name, arguments), arguments.trial_seconds
        check_facts(path, facts or trial.facts, trial)
        with ProcessEngine(trial) as engine:
            while table is None or len(table["loss"]) < arguments.n_configurations:
                if time.monotonic() > deadline:
                    return
                vectors = draw(trial.space, table).astype(np.float16).astype(np.float64)
                rows = evaluate(vectors, trial.space, engine, limit)
                before = table or {key: values[:0] for key, values in rows.items()}
                table = {key: np.concatenate([before[key], rows[key]]) for key in rows}
                write_table(path, trial.facts, table)
                print(path.stem, len(table["loss"]), flush=True)


def make_trial(space_name, name, arguments):
    """Fit a configuration to the first part of the rows of a set, and judge it on the others."""
    X, y = load(arguments.data, name)
    rows = split(X, y, arguments.max_rows or len(y))
    return LimitedLosses(space_name, *rows, arguments.trial_seconds, SPACES[space_name])


def check_facts(path, facts, trial):
    # The tables have no seconds by size, so that those of before lack the last two facts.
    size = {"n_classes": facts.n_classes, "n_one_hot": facts.n_one_hot}
    if facts != replace(trial.facts, **size):
        raise SystemExit(f"{path} is of other rows: use its --max-rows, or remove it")


def read_table(path):
    """Facts of the data, by which the space is adapted to them, and the columns."""
    columns = dict(np.load(path))
    columns["vectors"] = columns["vectors"].astype(np.float64)
    return DataFacts(**json.loads(str(columns.pop("facts")))), columns


def write_table(path, facts, columns):
    """The vectors have half precision: 25 bytes a row in place of 36."""
    half = {"vectors": columns["vectors"].astype(np.float16)}
    np.savez_compressed(path, facts=json.dumps(vars(facts)), **(columns | half))


def split(X, y, n_rows):
    """Rows to train on, to validate and to test, stratified."""
    n_train, n_validation, n_test = (int(part * min(len(y), n_rows)) for part in PARTS)
    part = partial(train_test_split, random_state=0)
    train, rest = part(np.arange(len(y)), train_size=n_train, stratify=y)
    sizes = {"train_size": n_validation, "test_size": n_test}
    rows = np.concatenate([train, *part(rest, stratify=y[rest], **sizes)])
    parts = np.split(np.arange(len(rows)), [n_train, n_train + n_validation])
    return X.iloc[rows].reset_index(drop=True), y[rows], parts


def draw(space, table):
    """Configurations to evaluate next: at first the defaults of all algorithms.

    Then half are random, and half are neighbors of the best tenth, where searches go.
    """
    if table is None:
        defaults = map(space.default_configurations, space.steps)
        return space.encode(dict.fromkeys(itertools.chain(*defaults)))
    n_rows = len(table["loss"])
    rng = np.random.default_rng(n_rows)
    best = rng.choice(table["loss"].argsort()[: n_rows // 10], CHUNK // 2)
    near = [rng.choice(space.neighbors(vector, rng)) for vector in table["vectors"][best]]
    return np.vstack([space.sample(CHUNK - len(near), rng), near])


def evaluate(vectors, space, engine, limit):
    """Columns of a table for some configurations; a failed one has infinite losses."""
    for row, vector in enumerate(vectors):
        # The limit is that of the clock, for a trial that waits or sleeps.
        engine.submit(row, (space.decode(vector),), time_limit=30 * limit)
    outcomes = {}
    while len(outcomes) < len(vectors):
        outcomes |= dict(engine.wait())
    killed = np.inf, np.inf, limit
    rows = [outcomes[n].value or killed for n in range(len(vectors))]
    loss, held_out, seconds = np.array(rows, np.float32).T
    columns = {"vectors": vectors, "loss": loss, "held_out": held_out, "seconds": seconds}
    return columns | {"ok": np.isfinite(loss)}


class NormalScores:
    """Quantiles of the normal distribution at the ranks of the losses; equal ones share theirs."""

    def __init__(self, losses):
        self.losses, counts = np.unique(losses, return_counts=True)
        self.quantiles = ndtri((counts.cumsum() - counts / 2) / len(losses))

    def transform(self, losses):
        return np.interp(losses, self.losses, self.quantiles)

    def inverse_transform(self, scores):
        return np.interp(scores, self.quantiles, self.losses)


def boosted(X, y, objective="regression"):
    return lightgbm.train(BOOSTING | {"objective": objective}, lightgbm.Dataset(X, y), N_TREES)


class SurrogateBenchmark:
    """Models of what the table of a file holds, for any configuration of its space.

    `seconds` are those of an average trial.
    """

    def __init__(self, path):
        facts, self.table = read_table(path)
        self.space = get_space(path.stem.partition("-")[0]).for_data(facts)
        self.X = self.space.one_hot(self.table["vectors"])
        self.seconds = self.table["seconds"].mean(dtype=float)

    def fit(self, rows=slice(None)):
        """Learn normal scores of the losses, logarithms of the seconds, and failures."""
        X, columns = self.X[rows], {key: values[rows] for key, values in self.table.items()}
        ok = columns["ok"]
        self.scores = {key: NormalScores(columns[key][ok]) for key in ("loss", "held_out")}
        self.models = {
            "loss": boosted(X[ok], self.scores["loss"].transform(columns["loss"][ok])),
            "held_out": boosted(X[ok], self.scores["held_out"].transform(columns["held_out"][ok])),
            "seconds": boosted(X, np.log(np.maximum(columns["seconds"], LEAST_SECONDS))),
            "failed": boosted(X, ~ok, "binary"),
        }
        return self

    def predict(self, X):
        """Validated and held-out loss, seconds, and probability of a failure."""
        values = {key: model.predict(X, num_threads=1) for key, model in self.models.items()}
        for key, scores in self.scores.items():
            values[key] = scores.inverse_transform(values[key])
        return values | {"seconds": np.exp(values["seconds"])}

    def evaluate(self, configuration):
        """Fields of a trial."""
        values = self.predict(self.space.one_hot(self.space.encode([configuration])))
        loss, _, seconds, failed = (float(value[0]) for value in values.values())
        return fields_of_trial(np.inf if failed > 0.5 else loss, seconds)

    def held_out(self, configurations):
        """Held-out losses."""
        return self.predict(self.space.one_hot(self.space.encode(configurations)))["held_out"]


class LiveBenchmark:
    """Fits in place of the models of a file, each configuration once."""

    def __init__(self, path, arguments, stack):
        space_name, _, name = path.stem.partition("-")
        facts, table = read_table(path)
        trial = make_trial(space_name, name, arguments)
        check_facts(path, facts, trial)
        self.space, self.limit = trial.space, arguments.trial_seconds
        self.seconds = table["seconds"].mean(dtype=float)
        self.engine, self.outcomes = stack.enter_context(ProcessEngine(trial)), {}

    def evaluate(self, configuration):
        """Fields of a trial."""
        if configuration not in self.outcomes:
            self.engine.submit(0, (configuration,), time_limit=30 * self.limit)
            ((_, outcome),) = self.engine.wait()
            self.outcomes[configuration] = outcome.value or (np.inf, np.inf, self.limit)
        loss, _, seconds = self.outcomes[configuration]
        return fields_of_trial(loss, seconds)

    def held_out(self, configurations):
        """Held-out losses."""
        return np.array([self.outcomes[configuration][1] for configuration in configurations])


def fields_of_trial(loss, seconds):
    measured = {"cost": seconds, "fit_times": (seconds,), "losses": (loss,)}
    return measured if np.isfinite(loss) else measured | {"status": "failed"}


def check(arguments):
    """Print the cross-validated quality of the models by space and set."""
    lines = {path.stem: quality(path) for path in table_paths(arguments) if path.exists()}
    frame = pd.DataFrame(lines).T.rename_axis("table")
    print("Models on rows that they have not seen, 10 folds, seed 0")
    print(frame.round(2).to_string())


def quality(path):
    """Spearman's rho, and in the best quarter that of the held-out loss."""
    benchmark, predicted = SurrogateBenchmark(path), {}
    table, ok = benchmark.table, benchmark.table["ok"]
    for rows, others in KFold(10, shuffle=True, random_state=0).split(ok):
        for key, values in benchmark.fit(rows).predict(benchmark.X[others]).items():
            predicted.setdefault(key, np.empty(len(ok)))[others] = values
    outcome = {"rows": len(ok), "ok": ok.mean()}
    for key, rows in {"loss": ok, "held_out": ok, "seconds": ok | True}.items():
        outcome[f"{key} rho"] = spearmanr(table[key][rows], predicted[key][rows]).statistic
    best = table["loss"] <= np.quantile(table["loss"], 0.25)
    guess = spearmanr(table["held_out"][best], predicted["loss"][best])
    outcome["best quarter, held out by model"] = guess.statistic
    return outcome


def run(arguments):
    """Search seed by seed; what is in the files of results is not run again."""
    deadline = time.monotonic() + arguments.seconds
    paths = filter(Path.exists, table_paths(arguments))
    with ExitStack() as stack:

        @cache
        def benchmark_of(path):
            if arguments.live:
                return LiveBenchmark(path, arguments, stack)
            return SurrogateBenchmark(path).fit()

        for seed, path in itertools.product(arguments.seeds, list(paths)):
            results = Results(arguments.out / f"{path.stem}.csv", KEY)
            space, _, name = path.stem.partition("-")
            limit = [arguments.n_trials], [arguments.until]
            for key in results.missing([space], [name], arguments.strategies, [seed], *limit):
                if time.monotonic() > deadline:
                    return
                results.add(key, follow(benchmark_of(path), *key[2:]))


def follow(benchmark, text, seed, n_trials, until):
    """Trials that were better than all before, and the last: one line each.

    A search has `n_trials` trials, or the seconds of as many average trials of the table.
    """
    strategy, space = TimedStrategy(read_strategy(text)), benchmark.space
    ended = [0.0]

    def evaluate(configuration):
        values = benchmark.evaluate(configuration)
        started = ended[-1] + strategy.seconds_[len(ended) - 1]
        ended.append(started + values["cost"])
        return values | {"started": started, "ended": ended[-1]}

    seconds = {"time_limit": n_trials * benchmark.seconds}
    limit = {"max_evals": n_trials} if until == "trials" else seconds
    trials = list(search(strategy, space, evaluate, seed, **limit))
    held_out = benchmark.held_out([trial.configuration for trial in trials])
    losses = np.array([trial.loss for trial in trials])
    best = np.array([losses[: n + 1].argmin() for n in range(len(trials))])
    suggesting = np.array(strategy.seconds_[: len(trials)])
    later = [trial.configuration[space.steps[-1]] for trial in trials[len(trials) // 2 :]]
    frame = pd.DataFrame(
        {
            "trial": np.arange(1, len(trials) + 1),
            "clock": [trial.ended for trial in trials],
            "loss": losses[best],
            "held_out": held_out[best],
            "failed": np.isinf(losses).mean(),
            "suggest_ms": 1000 * suggesting.mean(),
            "classifiers": len(set(later)),  # in the second half of the trials,
            "commonest": max(map(later.count, later)) / len(later),  # and the share of one
        }
    )
    shown = np.append(np.diff(best, prepend=-1)[:-1] > 0, True)
    return frame[shown & np.isfinite(losses[best])]


def report(arguments):
    paths = (arguments.out / f"{path.stem}.csv" for path in table_paths(arguments))
    frame = pd.concat([Results(path, KEY).frame for path in paths if path.exists()])
    wanted = arguments.strategies, arguments.seeds, [arguments.n_trials], [arguments.until]
    for key, values in zip(KEY[2:], wanted, strict=True):
        frame = frame[frame[key].isin(values)]
    for space, own in frame.groupby("space"):
        print(f"{space}, seeds by set", own.groupby("set")["seed"].unique().to_string(), sep="\n")
        last = own.groupby(KEY).last().groupby("strategy").mean()
        last = last.drop(columns=["loss", "held_out"])
        print(f"\nMeans over the searches\n{last.round(2).to_string()}")
        for unit in UNITS[arguments.until]:
            print(f"\nMean ranks by {unit}\n{mean_ranks(own, unit).round(2).to_string()}")
            if arguments.against:
                print(f"\nAgainst {arguments.against} by {unit}")
                print(compare(own, unit, arguments.against).round(5).to_string())


def incumbents(frame, unit, share, column):
    """What each search had after a share of the budget; rows are sets and seeds.

    The seconds on a set are those of the search that was the first to make all its trials.
    """
    ends = frame.groupby(KEY)[unit].max().groupby("set").min()
    within = frame[frame[unit] <= share * frame["set"].map(ends)]
    return within.groupby(["set", "seed", "strategy"])[column].last().unstack().dropna()


def mean_ranks(frame, unit):
    """Mean rank of validated and held-out losses over sets and seeds; 1 is best."""
    ranks = {}
    for column, share in itertools.product(("loss", "held_out"), SHARES):
        table = incumbents(frame, unit, share, column)
        ranks[f"{column} {share:g}"] = table.rank(axis=1).mean()
    return pd.DataFrame(ranks)


def compare(frame, unit, against):
    """Wilcoxon's test over sets and seeds, wins by set, and how much sooner.

    *half* is the number of sets on which half of the budget is enough: the mean loss of the seeds
    is then at most that of the other with the whole budget.
    """
    tables = []
    for column in ("loss", "held_out"):
        half, table = (incumbents(frame, unit, share, column) for share in (0.5, 1.0))
        spread = table.stack().groupby("set").std()
        tests = paired_tests(table.div(spread, axis=0, level="set"), against)
        half, means = half.groupby("set").mean(), table.groupby("set").mean()
        by_set = paired_tests(means, against)[["better", "worse", "p"]]
        enough = half.le(means[against], axis=0).sum()
        tables.append(tests.join(by_set, rsuffix=" sets").assign(half=enough, of=column))
    speeds = {system: speed_up(frame, unit, system, against) for system in tables[0].index}
    return pd.concat(tables).join(pd.DataFrame(speeds).T).rename_axis("strategy")


COMMANDS = {"build": build, "check": check, "search": run, "report": report}


def main():
    add = (parser := make_parser(__doc__)).add_argument
    add("command", choices=COMMANDS)
    add("--tables", type=Path, default=TABLES, help="folder of the tables")
    add("--spaces", type=names, default=list(SPACES), help=",".join(SPACES))
    add("--sets", type=names, help="ten of each space")
    add("--n-configurations", type=int, default=400, help="400")
    add("--live", action="store_true", help="search with fits, as the tables were built")
    add("--max-rows", type=int, help="of a set, to fit: all")
    add("--trial-seconds", type=float, default=10.0, help="of the processor, to fit: 10")
    add("--strategies", type=names, default=names(STRATEGIES), help=STRATEGIES)
    add("--seeds", type=numbers, default=list(range(10)), help="0 to 9")
    add("--n-trials", type=int, default=250, help="250")
    add("--until", choices=UNITS, default="trials", help="or the seconds of so many on average")
    add("--against", help="strategy that report compares the others with")
    add("--seconds", type=float, default=np.inf, help="after which nothing starts")
    add("--out", type=Path, default=Path(), help="folder of the results")
    arguments = parser.parse_args()
    if arguments.command == "build" or arguments.live:
        require_data(parser, arguments)
    warnings.simplefilter("ignore")
    COMMANDS[arguments.command](arguments)


if __name__ == "__main__":
    main()
