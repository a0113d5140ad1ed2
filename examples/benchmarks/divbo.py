"""DivBO and its baselines on tables of evaluated configurations (its Table 1, Figs. 2, 3, 5).

First, ``build`` evaluates random configurations of the space ``divbo`` once on each set, split
into 60% to train, 20% to validate and 20% to test, and stores what they predict. Then ``search``
lets the methods search these tables in place of the space: a *tabular* benchmark, in which a
configuration can only be proposed if it is in the table, and the neighbours of a configuration are
the nearest ones of the table. ``surrogate`` measures how well the diversity of unseen pairs is
ranked, and how long a suggestion takes::

    python examples/benchmarks/divbo.py build --data FOLDER --tables FOLDER --n-configurations 2000
    python examples/benchmarks/divbo.py search --tables FOLDER --seeds 0,1,2 --out divbo.csv
    python examples/benchmarks/divbo.py surrogate --tables FOLDER

Each search is judged twice: by its best configuration and by the ensemble of 25 that is selected
from its trials; ensemble optimisation also by the ensemble that it keeps itself. Tables and lines
of the CSV file that are there are not made again.
"""

import argparse
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from quality import load
from scipy.spatial.distance import cdist
from scipy.stats import kendalltau
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier
from skauto.ensemble import EnsemblePool, ErrorLoss, pairwise_diversity
from skauto.history import History, Trial
from skauto.space import Configuration, SearchSpace, get_space
from skauto.strategies import get_strategy
from skauto.surrogates import DiversitySurrogate, RandomForest

SETS = "quake,wind,pollen,space_ga,bank32nh,cpu_small,satimage,spambase,pol,elevators"
METHODS = "random,forest_bo,rising_bandit,ensemble_optimization,neural_ensemble_search,divbo"
N_NEIGHBORS = 30
N_MEMBERS = 25


# Tables


def build(X, y, n_configurations, n_jobs, seed=0):
    """Evaluate configurations; validation and test rows are predicted by the same model."""
    rows = np.arange(len(y))
    train, rest = train_test_split(rows, test_size=0.4, stratify=y, random_state=seed)
    validation, test = train_test_split(rest, test_size=0.5, stratify=y[rest], random_state=seed)
    search = AutoClassifier(
        "random",
        space="divbo",
        cv=[(train, rest)],
        max_evals=n_configurations,
        ensemble_size=1,
        trial_time_limit=60,
        warm_start=True,
        n_jobs=n_jobs,
        random_state=seed,
    ).fit(X, y)
    kept = [trial for trial in search.history_ if trial.ok]
    return {
        "configurations": [trial.configuration.to_dict() for trial in kept],
        "validation": np.array([trial.predictions[validation] for trial in kept]),
        "y_validation": search.history_.targets[validation],
        "test": np.array([trial.predictions[test] for trial in kept]),
        "y_test": search.history_.targets[test],
    }


class TableSpace(SearchSpace):
    """A search space that holds the rows of a table only."""

    def restrict(self, vectors):
        self.table = vectors
        self.features = self.one_hot(vectors)
        return self

    def sample(self, n, rng, structures=None):
        rows = self.table
        if structures is not None:
            chosen = rows[:, : len(self.steps)].astype(int)
            allowed = {tuple(row) for row in np.atleast_2d(structures).tolist()}
            rows = rows[[tuple(row) in allowed for row in chosen.tolist()]]
        if not len(rows):  # nothing in the table: what is known already
            return self.table[:1]
        return rows[rng.permutation(len(rows))[:n]]

    def neighbors(self, vector, rng, n_numeric=4, scale=0.2, fixed_steps=()):
        distances = cdist(self.one_hot(np.asarray(vector)[None]), self.features, "cityblock")[0]
        return self.table[np.argsort(distances, kind="stable")[1 : N_NEIGHBORS + 1]]

    def default_vector(self, structure=None):
        return self.table[0]

    def subspace(self, choices):
        part = get_table_space(SearchSpace.subspace(self, choices))
        ((step, name),) = choices.items()
        i = self.steps.index(step)
        mine = self.component(step, name)
        index = [c.name for c in self.components(step)].index(mine.name)
        rows = self.table[self.table[:, i] == index]
        return part.restrict(part.encode([self.decode(row) for row in rows]))


def get_table_space(space):
    """The same space, ready to be restricted to a table."""
    table_space = TableSpace.__new__(TableSpace)
    table_space.__dict__.update(space.__dict__)
    table_space._forget()
    return table_space


def used_space(configurations):
    """The part of the space `divbo` whose algorithms occur in a table."""
    space = get_space("divbo")
    used = {step: {c[step] for c in configurations} for step in space.steps}
    names = {step: [component.name for component in space.components(step)] for step in used}
    kept = {step: [n for n in names[step] if n in used[step]] for step in used}
    return get_table_space(space.subspace(kept))


# Searches


def search(table, configurations, method, n_trials, seed):
    """History of a method on a table, with the processor seconds of its suggestions."""
    space = used_space(configurations)
    space.restrict(space.encode(configurations))
    row_of = {configuration: row for row, configuration in enumerate(configurations)}
    errors = (table["validation"].argmax(axis=2) != table["y_validation"]).mean(axis=1)
    history = History(max_evals=n_trials, targets=table["y_validation"])
    strategy = get_strategy(method).start(space, np.random.default_rng(seed))
    rows, seconds = [], []
    while len(history) < n_trials:
        start = time.process_time()
        proposal = strategy.suggest(history)
        seconds.append(time.process_time() - start)
        if proposal is None:
            break
        row = row_of[proposal.configuration]
        rows.append(row)
        trial = Trial(
            number=len(history),
            configuration=proposal.configuration,
            losses=(float(errors[row]),),
            predictions=table["validation"][row],
            origin=proposal.origin,
        )
        history.append(trial)
        strategy.observe(trial)
    strategy.stop()
    return np.array(rows), seconds, getattr(strategy, "members_", None)


def judge(table, rows, seconds, members):
    """Errors of the best configuration and the ensemble, and how diverse the suggestions were."""
    validation, y = table["validation"][rows], table["y_validation"]
    pool = EnsemblePool(y, ErrorLoss(), N_MEMBERS)
    nearest, updates, best = [], [], []
    for number, prediction in enumerate(validation):
        if number:
            both = np.concatenate([prediction[None], validation[pool.members]])
            nearest.append(pairwise_diversity(both)[0, 1:].min())
        before = pool.selection.losses[-1] if number else np.inf
        changed = pool.add(prediction)
        best.append(pool.selection.losses[-1])
        updates.append(changed and best[-1] < before)
    single = int(np.argmin((validation.argmax(axis=2) != y).mean(axis=1)))
    scores = {
        "validation_single": error(validation[single], y),
        "test_single": error(table["test"][rows[single]], table["y_test"]),
        "validation_ensemble": best[-1],
        "test_ensemble": error(
            np.tensordot(pool.selection.weights, table["test"][rows].astype(float), axes=1),
            table["y_test"],
        ),
        "nearest_last_50": np.mean(nearest[-50:]),
        "updates_last_50": sum(updates[-50:]),
        "updates_last_100": sum(updates[-100:]),
        "members": len(pool.members),
        "seconds_last_50": np.mean(seconds[-50:]),
    }
    for share in (0.25, 0.5, 0.75):
        scores[f"validation_at_{share:g}"] = best[int(share * len(best)) - 1]
    if members:
        own = table["test"][rows[members]].astype(float).mean(axis=0)
        scores["test_own_ensemble"] = error(own, table["y_test"])
    return scores


def error(probabilities, y):
    return float((probabilities.argmax(axis=1) != y).mean())


def report(frame):
    """Mean test errors and average ranks; each search counts with and without the ensemble."""
    parts = [
        frame.assign(method=frame["method"] + suffix, error=frame[column])
        for suffix, column in (
            ("", "test_single"),
            (" + ensemble", "test_ensemble"),
            (" (own ensemble)", "test_own_ensemble"),
        )
        if column in frame
    ]
    long = pd.concat(parts).dropna(subset="error")
    table = long.pivot_table(index="method", columns="data_set", values="error")
    table["average rank"] = table.rank().mean(axis=1)
    print((100 * table.drop(columns="average rank")).round(2).to_string())
    print(table["average rank"].sort_values().round(2).to_string())
    columns = ["nearest_last_50", "updates_last_50", "updates_last_100", "members"]
    print(frame.groupby("method")[[*columns, "seconds_last_50"]].mean().round(3).to_string())


# The diversity surrogate


def surrogate_table(table, configurations, sizes, seed=0, n_unseen=50):
    """Kendall's tau on pairs of unseen configurations, and the processor seconds of an update."""
    space = used_space(configurations)
    X = space.fill_inactive(space.encode(configurations))
    chosen = np.random.default_rng(seed).permutation(len(X))[: max(sizes) + n_unseen]
    X, diversity = X[chosen], pairwise_diversity(table["validation"][chosen][:, :2000])
    i, j = np.triu_indices(n_unseen, 1)
    first, second, truth = X[-n_unseen:][i], X[-n_unseen:][j], diversity[-n_unseen:, -n_unseen:]
    models = {
        "updated": DiversitySurrogate(),
        "refitted": DiversitySurrogate(max_pairs=10**9),
        "forest": RandomForest(),
    }
    rng = np.random.default_rng(seed)
    lines = []
    for n in range(min(sizes) // 2, max(sizes) + 1):
        start = time.process_time()
        models["updated"].update(X[:n], diversity[:n, :n], rng)
        seconds = time.process_time() - start
        if n not in sizes:
            continue
        models["refitted"].fit(X[:n], diversity[:n, :n], rng)
        a, b = np.divmod(np.arange(n * n), n)
        models["forest"].fit(np.hstack([X[a], X[b]]), diversity[a, b], rng)
        line = {"n": n, "update_seconds": seconds}
        for name, model in models.items():
            pairs = (np.hstack([first, second]),) if name == "forest" else (first, second)
            line[name] = kendalltau(model.predict(*pairs)[0], truth[i, j]).statistic
        lines.append(line)
    return pd.DataFrame(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["build", "search", "surrogate"])
    parser.add_argument("--data", type=Path, help="folder of the data sets, for build")
    parser.add_argument("--tables", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--sets", default=SETS, help=SETS)
    parser.add_argument("--methods", default=METHODS, help=METHODS)
    parser.add_argument("--seeds", default="0,1,2,3,4", help="0,1,2,3,4")
    parser.add_argument("--n-configurations", type=int, default=2000, help="2000")
    parser.add_argument("--n-trials", type=int, default=250, help="250")
    parser.add_argument("--sizes", default="50,150,250", help="50,150,250")
    parser.add_argument("--n-jobs", type=int, default=1, help="1")
    parser.add_argument("--out", type=Path, default=Path("divbo.csv"), help="divbo.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.tables.mkdir(parents=True, exist_ok=True)
    lines = pd.read_csv(arguments.out).to_dict("records") if arguments.out.exists() else []
    done = {(line["data_set"], line["method"], line["seed"], line["n_trials"]) for line in lines}
    for name in arguments.sets.split(","):
        path = arguments.tables / f"{name}.joblib"
        if arguments.command == "build":
            if not path.exists():
                X, y = load(arguments.data, name)
                joblib.dump(build(X, y, arguments.n_configurations, arguments.n_jobs), path)
            continue
        table = joblib.load(path)
        configurations = read_configurations(table)
        if arguments.command == "surrogate":
            sizes = [int(size) for size in arguments.sizes.split(",")]
            print(name, surrogate_table(table, configurations, sizes).round(3), sep="\n")
            continue
        for method in arguments.methods.split(","):
            for seed in map(int, arguments.seeds.split(",")):
                key = (name, method, seed, arguments.n_trials)
                if key in done:
                    continue
                found = search(table, configurations, method, arguments.n_trials, seed)
                head = dict(zip(("data_set", "method", "seed", "n_trials"), key, strict=True))
                lines.append(head | judge(table, *found))
                pd.DataFrame(lines).to_csv(arguments.out, index=False)
    if arguments.command == "search":
        report(pd.DataFrame(lines))


def read_configurations(table):
    return [Configuration.from_dict(entry) for entry in table["configurations"]]


if __name__ == "__main__":
    main()
