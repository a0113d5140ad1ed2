"""DivBO and its baselines on tables of evaluated configurations (its Tables 1 and 4).

First, ``build`` evaluates random configurations of the space ``divbo`` once on each set, at most
2,500 rows of it or as many as ``--rows`` says, and stores what they predict. Then ``search`` lets
the methods search these tables in place of the space: a *tabular* benchmark, in which a
configuration can only be proposed if it is in the table, and the neighbors of a configuration
are the nearest ones of the table.
``live`` lets them search the space itself. ``tau`` measures how well the diversity of unseen pairs
is ranked (Fig. 2), and ``suggestions`` how long they take::

    python examples/benchmarks/divbo.py build --data FOLDER --tables FOLDER
    python examples/benchmarks/divbo.py search --tables FOLDER --seeds 0 --out divbo.csv
    python examples/benchmarks/divbo.py live --data FOLDER --rows 600,1000,2000 --out live.csv
    python examples/benchmarks/divbo.py tau --tables FOLDER
    python examples/benchmarks/divbo.py suggestions --tables FOLDER --methods divbo,divbo_pairs
    python examples/benchmarks/divbo.py report --out divbo.csv

Method ``bo`` is DivBO with ``beta=0``, so that only the term of the diversity differs; it is the
optimizer of each arm of the rising bandit too. An action of the bandit has five trials in a search
of 250, as in the paper, and proportionally fewer in a shorter one. ``divbo_pairs`` has the
diversity surrogate of the paper, LightGBM on pairs of configurations. A configuration fails if it
takes more than 0.3 seconds of the processor, or than ``--trial-seconds``. Tables and lines of the
CSV file that are there are not made again.
"""

import itertools
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from _common import (
    LimitedFit,
    Results,
    TimedStrategy,
    load,
    make_parser,
    names,
    numbers,
    paired_tests,
    search,
)
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau
from sklearn.model_selection import train_test_split

from skauto.engines import ProcessEngine
from skauto.history import History, Trial
from skauto.selection import ErrorLoss, greedy_selection, pairwise_diversity
from skauto.space import Configuration, SearchSpace, get_space
from skauto.strategies import DivBO, RisingBandit, get_strategy
from skauto.surrogates import DiversityForest, DiversitySurrogate

SETS = "quake,wind,spambase,elevators,pol,bank32nh,cpu_small,house_8L,puma32H,space_ga"
METHODS = "random,bo,rising_bandit,divbo"
N_ROWS = 500, 500, 1500  # to train on, to validate and to test
TRIAL_SECONDS = 0.3  # of the processor
PAPER_TRIALS = 250
N_NEIGHBORS = 30
N_MEMBERS = 25
MODELS = {"forest": DiversityForest, "pairs": DiversitySurrogate}
N_UNSEEN = 50  # configurations whose pairs the diversity surrogate ranks
KEY = ["data_set", "method", "seed", "n_trials"]
# The ensembles that are compared.
SYSTEMS = {"random": "RS-ES", "bo": "BO-ES", "rising_bandit": "RB-ES", "divbo": "DivBO"}


def split(X, y, n_rows):
    """Rows to train on, to validate and to test; fewer of the last ones in a small set."""
    n_train, n_validation, _ = n_rows
    chosen = np.random.default_rng(0).permutation(len(y))[: sum(n_rows)]
    X, y = X.iloc[chosen], y[chosen]
    rows = np.arange(len(y))
    train, rest = train_test_split(rows, train_size=n_train, stratify=y, random_state=0)
    return X, y, train, rest[:n_validation], rest[n_validation:]


def scaled(n_rows, n_available):
    """Numbers of rows with the same proportions of which the set has enough."""
    if n_rows is None:
        return N_ROWS
    share = min(1.0, n_available / sum(n_rows))
    return [int(share * n) for n in n_rows]


def make_strategy(method, n_trials):
    if method == "bo":
        return DivBO(beta=0.0)
    if method == "rising_bandit":
        n_pulls = max(1, round(5 * n_trials / PAPER_TRIALS))
        return RisingBandit(n_pulls=n_pulls, strategy=DivBO(beta=0.0, n_initial=n_pulls))
    if method == "divbo_pairs":
        return DivBO(diversity_surrogate=DiversitySurrogate())
    return get_strategy(method)


# Tables


class LimitedTrial(LimitedFit):
    """The function of the engine: what a configuration predicts for two parts of the rows."""

    def __init__(self, X, y, n_rows=N_ROWS, seconds=TRIAL_SECONDS):
        X, y, train, *parts = split(X, y, n_rows)
        super().__init__("divbo", X, y, train, np.concatenate(parts), seconds)
        self.targets = [self.worker.data.y[part] for part in parts]

    def __call__(self, configuration):
        predicted = super().__call__(configuration).astype(np.float32)
        return np.split(predicted, [len(self.targets[0])])


def build(X, y, n_configurations, n_rows, seconds):
    """Evaluate configurations; validation and test rows are predicted by the same model."""
    trial = LimitedTrial(X, y, n_rows, seconds)
    drawn = trial.space.sample(n_configurations, np.random.default_rng(0))
    chosen = list(dict.fromkeys([trial.space.default(), *map(trial.space.decode, drawn)]))
    with ProcessEngine(trial) as engine:
        predictions = [predict(engine, configuration) for configuration in chosen]
    kept = [(c.to_dict(), *p) for c, p in zip(chosen, predictions, strict=True) if p]
    configurations, validation, test = zip(*kept, strict=True)
    return {
        "configurations": list(configurations),
        "validation": np.array(validation),
        "y_validation": trial.targets[0],
        "test": np.array(test),
        "y_test": trial.targets[1],
    }


def predict(engine, configuration):
    """Predictions of the two parts; None for a trial that failed."""
    engine.submit(0, (configuration,))
    ((_, outcome),) = engine.wait()
    return outcome.value


class TableSpace(SearchSpace):
    """A search space that holds the rows of a table only."""

    def __init__(self, space, configurations):
        used = {step: {c[step] for c in configurations} for step in space.steps}
        vars(self).update(vars(space.subspace(used)))
        self.configurations = configurations
        self.table = self.encode(configurations)
        self.features = self.one_hot(self.table)

    def sample(self, n, rng, structures=None):
        return self.table[rng.permutation(len(self.table))[:n]]

    def neighborhoods(self, vectors, rng, n_numeric=4, scale=0.2, fixed_steps=()):
        distances = cdist(self.one_hot(np.asarray(vectors)), self.features, "cityblock")
        nearest = np.argsort(distances, kind="stable")[:, 1 : N_NEIGHBORS + 1]
        return self.table[nearest.ravel()], np.repeat(np.arange(len(nearest)), nearest.shape[1])

    def default_vector(self, structure=None):
        return self.table[0]

    def subspace(self, choices):
        """The rows of one algorithm, as the rising bandit asks for them."""
        ((step, name),) = choices.items()
        return TableSpace(get_space("divbo"), [c for c in self.configurations if c[step] == name])


# Searches


def search_table(table, method, n_trials, seed):
    """Rows of a table in the order of a search, and what it is worth."""
    configurations = read_configurations(table)
    row_of = {configuration: row for row, configuration in enumerate(configurations)}
    errors = error(table["validation"], table["y_validation"])
    rows = []

    def evaluate(configuration):
        rows.append(row_of[configuration])
        predictions = table["validation"][rows[-1]]
        return {"losses": (float(errors[rows[-1]]),), "predictions": predictions}

    strategy = TimedStrategy(make_strategy(method, n_trials))
    space = TableSpace(get_space("divbo"), configurations)
    search(strategy, space, evaluate, seed, max_evals=n_trials, targets=table["y_validation"])
    found = (table[part][rows] for part in ("validation", "test"))
    outcome = worth(*found, table["y_validation"], table["y_test"])
    return outcome | {"seconds_last_50": np.mean(strategy.seconds_[-50:])}


def live(X, y, method, n_trials, seed, n_rows, seconds):
    """The same, on the space itself."""
    trial = LimitedTrial(X, y, n_rows, seconds)
    y_validation, y_test = trial.targets
    kept = []

    def evaluate(configuration):
        predictions = predict(engine, configuration)
        if predictions is None:
            return {"status": "failed", "losses": (np.inf,)}
        kept.append(predictions)
        loss = float(error(predictions[0], y_validation))
        return {"losses": (loss,), "predictions": predictions[0]}

    strategy = TimedStrategy(make_strategy(method, n_trials))
    with ProcessEngine(trial) as engine:
        search(strategy, trial.space, evaluate, seed, max_evals=n_trials, targets=y_validation)
    outcome = worth(*map(np.array, zip(*kept, strict=True)), y_validation, y_test)
    return outcome | {"ok": len(kept), "seconds_last_50": np.mean(strategy.seconds_[-50:])}


def worth(validation, test, y, y_test):
    """What the trials of a search are worth, by their predictions for two parts of the rows."""
    outcome = follow(validation, y) | {
        "single": error(test[error(validation, y).argmin()], y_test)
    }
    for name, n_members in (("selection", N_MEMBERS), ("selection_100", 100)):
        weights = greedy_selection(validation, y, ErrorLoss(), n_members).weights
        outcome[name] = error(np.tensordot(weights, test, axes=1), y_test)
    return outcome


def follow(validation, y):
    """Validation error of the ensemble, and how new the last suggestions were to it."""
    nearest = []
    for n in range(1, len(validation) + 1):
        selection = greedy_selection(validation[:n], y, ErrorLoss(), N_MEMBERS)
        if n < len(validation):
            both = validation[[n, *np.unique(selection.indices)]]
            nearest.append(pairwise_diversity(both)[0, 1:].min())
    return {"validated": selection.losses[-1], "nearest_last_50": np.mean(nearest[-50:])}


def error(probabilities, y):
    return (probabilities.argmax(axis=-1) != y).mean(axis=-1)


def read_configurations(table):
    return [Configuration.from_dict(entry) for entry in table["configurations"]]


# The diversity surrogate


def taus(table, model, n_fitted, seeds):
    """Kendall's tau for pairs of configurations that the surrogate has not seen, for each seed."""
    X = get_space("divbo").one_hot(get_space("divbo").encode(read_configurations(table)))
    diversity = pairwise_diversity(table["validation"])
    i, j = np.triu_indices(N_UNSEEN, 1)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        fitted, unseen = np.split(rng.permutation(len(X))[: n_fitted + N_UNSEEN], [n_fitted])
        surrogate = MODELS[model]()
        start = time.process_time()
        surrogate.fit(X[fitted], diversity[np.ix_(fitted, fitted)], rng)
        seconds = time.process_time() - start
        predicted, _ = surrogate.predict(X[unseen[i]], X[unseen[j]])
        tau = kendalltau(predicted, diversity[unseen[i], unseen[j]]).statistic
        yield {"tau": tau, "fit_seconds": seconds}


def suggestion_seconds(table, method, n):
    """Mean processor seconds of the last 25 suggestions of a search of n trials.

    The trials are random configurations with the predictions of a table, row after row.
    """
    space, rng = get_space("divbo"), np.random.default_rng(0)
    history = History(max_evals=n, targets=table["y_validation"])
    strategy = make_strategy(method, n).start(space, rng)
    seconds = []
    for number, vector in enumerate(space.sample(n, rng)):
        if number >= n - 26:  # the first of these reads all trials at once
            start = time.process_time()
            strategy.ask(history)
            seconds.append(time.process_time() - start)
        predictions = table["validation"][number % len(table["validation"])]
        loss = float(error(predictions, table["y_validation"]))
        fields = {"losses": (loss,), "predictions": predictions}
        history.append(Trial(number=number, configuration=space.decode(vector), **fields))
    return np.mean(seconds[1:])


# Reports


def report(arguments):
    """Print mean test errors, the comparison with DivBO, and the rest by method."""
    frame = Results(arguments.out, KEY).frame
    means = frame.groupby(["method", "data_set"]).mean(numeric_only=True)
    print("Test error of the ensembles in percent, mean over seeds")
    print((100 * means["selection"].unstack()).round(2).to_string())
    for column in ("selection", "validated", "nearest_last_50"):
        compare(frame, column)
    print("Means over the sets")
    others = means.columns.difference(KEY, sort=False)
    print(means[others].groupby("method").mean().round(4).T.to_string())


def compare(frame, column):
    """Ensembles from the trials of the searches against DivBO, by set and seed, and by set."""
    runs = frame.pivot_table(column, ["data_set", "seed"], "method")
    runs = runs.reindex(columns=list(SYSTEMS)).rename(columns=SYSTEMS).dropna()
    means = runs.groupby("data_set").mean()
    print(f"{column}: {len(runs)} runs, mean ranks by run and by set, others against DivBO")
    ranks = {"run": runs.rank(axis=1).mean(), "set": means.rank(axis=1).mean()}
    print(pd.DataFrame(ranks).round(2).T.to_string())
    tests = paired_tests(runs, "DivBO").join(paired_tests(means, "DivBO"), rsuffix=" sets")
    print(tests.round(5).to_string())
    print("By set\n", means.round(3).to_string())


def build_tables(arguments):
    arguments.tables.mkdir(parents=True, exist_ok=True)
    for name in arguments.sets:
        path = arguments.tables / f"{name}.joblib"
        if not path.exists():
            X, y = load(arguments.data, name)
            n_rows = scaled(arguments.rows, len(y))
            table = build(X, y, arguments.n_configurations, n_rows, arguments.trial_seconds)
            joblib.dump(table, path)
            print(name, len(table["configurations"]), n_rows, flush=True)


def run(arguments):
    """Search the tables, or the space itself."""
    results = Results(arguments.out, KEY)
    runs = arguments.sets, arguments.methods, arguments.seeds, [arguments.n_trials]
    for key in sorted(results.missing(*runs), key=lambda run: run[2]):  # seed by seed
        name, method, seed, n_trials = key
        if arguments.command == "live":
            X, y = load(arguments.data, name)
            n_rows = scaled(arguments.rows, len(y))
            outcome = live(X, y, method, n_trials, seed, n_rows, arguments.trial_seconds)
        else:
            table = joblib.load(arguments.tables / f"{name}.joblib")
            outcome = search_table(table, method, n_trials, seed)
        results.add(key, outcome)


def measure_tau(arguments):
    """Print mean and standard deviation of Kendall's tau over the seeds, by set and surrogate."""
    lines = {}
    for name, model in itertools.product(arguments.sets, MODELS):
        table = joblib.load(arguments.tables / f"{name}.joblib")
        n_fitted = min(PAPER_TRIALS, len(table["configurations"]) - N_UNSEEN)
        frame = pd.DataFrame(taus(table, model, n_fitted, arguments.seeds))
        lines[name, model] = {**frame.mean(), "sd of tau": frame["tau"].std(), "fitted": n_fitted}
    print(pd.DataFrame(lines).T.round(3).to_string())


def measure_suggestions(arguments):
    for name, n in itertools.product(arguments.sets, arguments.sizes):
        table = joblib.load(arguments.tables / f"{name}.joblib")
        for method in arguments.methods:
            seconds = suggestion_seconds(table, method, n)
            print(f"{name}, {method}, seconds a suggestion at {n}: {seconds:.2f}", flush=True)


COMMANDS = {
    "build": build_tables,
    "search": run,
    "live": run,
    "tau": measure_tau,
    "suggestions": measure_suggestions,
    "report": report,
}


def main():
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--tables", type=Path, help="folder of the tables")
    parser.add_argument("--sets", type=names, default=names(SETS), help=SETS)
    parser.add_argument("--methods", type=names, default=names(METHODS), help=METHODS)
    parser.add_argument("--seeds", type=numbers, default=[0], help="0")
    parser.add_argument("--n-configurations", type=int, default=1500, help="1500")
    parser.add_argument(
        "--rows", type=numbers, help="train, validation, test; scaled to small sets"
    )
    parser.add_argument("--trial-seconds", type=float, default=TRIAL_SECONDS, help="0.3")
    parser.add_argument("--n-trials", type=int, default=PAPER_TRIALS, help="250")
    parser.add_argument("--sizes", type=numbers, default=[250, 1000])
    parser.add_argument("--out", type=Path, default=Path("divbo.csv"), help="divbo.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    COMMANDS[arguments.command](arguments)


if __name__ == "__main__":
    main()
