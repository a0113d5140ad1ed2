"""MOSAIC against other strategies: ranks over the budget, wins, sensitivity (its Figs. 2 to 6).

On real data every strategy searches the same space with the same number of trials, on the same
80% of the rows, and the other rows judge it. A run gives two systems at once: the best single
pipeline, and the *ensemble* selected among all that the search visited. ``--starts`` says what
comes first: nothing (``vanilla``), or ``metalearning``, the best of the nearest data sets of the
archive, the set itself and near copies left out::

    python examples/benchmarks/mosaic.py --data FOLDER --sets vehicle,sonar --max-evals 100 \
        --strategies mosaic,forest_bo --starts vanilla,metalearning --out mosaic.csv

``--archive FILE`` takes another archive than that of skauto, and ``--n-advised 10`` at most so
many of its pipelines. Runs of one strategy with several starts and numbers of trials in one file
are compared with the longest ones, on the other rows too, for example 10 advised and 15 searched
trials with 75 vanilla ones::

    python examples/benchmarks/mosaic.py --data FOLDER --strategies mosaic --max-evals 75 \
        --out warm.csv
    python examples/benchmarks/mosaic.py --data FOLDER --strategies mosaic --max-evals 25 \
        --starts metalearning --archive archive.json --n-advised 10 --out warm.csv

Settings of a strategy follow its name, for the sensitivity to them::

    --strategies "mosaic,mosaic(c_ucb=0.3),mosaic(progressive_widening=0.8;n_samples=50)"

Without ``--data`` the artificial objective of the ADMM paper is minimized (``--seeds`` of them)
over the space ``--space``, with the seconds that a suggestion takes. One line a run is appended to
the CSV file, and lines that are there are not run again.
"""

import ast
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _common import (
    Results,
    TimedStrategy,
    load,
    make_parser,
    names,
    numbers,
    paired_tests,
    read_strategy,
    search,
)
from build_archive import at_most, describe
from scipy.stats import mannwhitneyu
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier, SearchOptions
from skauto.metalearning import Archive, load_archive, nearest_configurations
from skauto.objectives import make_artificial_objective
from skauto.space import get_space

# Neither these nor near copies of them are among the sets of the archive that they judge.
SETS = "bank-additional,churn,cmc,credit-g,delta_ailerons,house_8L,pc4,phoneme"
SETS += ",pol,sonar,sylvine,vehicle"
QUARTERS = (0.25, 0.5, 0.75, 1.0)
KEY = ["data_set", "strategy", "start", "seed", "max_evals", "space"]


def quarters(losses):
    """Best loss at each quarter of the budget."""
    best = np.minimum.accumulate(losses)
    return {f"loss_{q:g}": best[max(0, round(q * len(best)) - 1)] for q in QUARTERS}


# The artificial objective


def minimise_artificial(text, seed, arguments):
    space = get_space(arguments.space)
    objective = make_artificial_objective(space, seed)

    def evaluate(configuration):
        loss = objective(configuration)
        return {"losses": (loss / (1 + loss),)}

    strategy = TimedStrategy(read_strategy(text))
    history = search(strategy, space, evaluate, seed, max_evals=arguments.max_evals)
    last = np.mean(strategy.seconds_[-20:])
    return quarters(history.losses[:, 0]) | {"suggest_ms": 1000 * last, "vanilla": np.nan}


# Real data


def search_pipelines(text, start, X, y, seed, arguments):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=seed
    )
    model = AutoClassifier(
        strategy=read_strategy(text),
        space=arguments.space,
        scoring=arguments.scoring,
        initial=None if start == "vanilla" else advice(X_train, y_train, arguments),
        max_evals=arguments.max_evals,
        cv=arguments.cv,
        n_jobs=arguments.n_jobs,
        options=SearchOptions(trial_time_limit=arguments.trial_seconds),
        random_state=seed,
    )
    begin = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - begin
    return quarters(model.history_.losses[:, 0]) | {
        "seconds": seconds,
        "vanilla": score(arguments.scoring, model.best_estimator_, model, X_test, y_test),
        "ensemble": score(arguments.scoring, model.ensemble_, model, X_test, y_test),
    }


def advice(X, y, arguments):
    """Pipelines that were good on similar sets of the archive."""
    archive = Archive.load(arguments.archive) if arguments.archive else load_archive()
    features, facts = describe(X, y)
    space = get_space(arguments.space).for_data(facts)
    return nearest_configurations(archive, features, space, arguments.n_advised)


def score(scoring, fitted, model, X, y):
    name = "roc_auc_ovr" if scoring == "roc_auc" and len(model.classes_) > 2 else scoring
    return get_scorer(name)(fitted, X, y)


# Runs and tables


def run(arguments, results):
    for name in arguments.sets if arguments.data else ["artificial"]:
        table = at_most(*load(arguments.data, name), arguments.max_rows) if arguments.data else ()
        systems = arguments.strategies, arguments.starts, arguments.seeds
        for key in results.missing([name], *systems, [arguments.max_evals], [arguments.space]):
            _, text, start, seed, *_ = key
            if arguments.data:
                outcome = search_pipelines(text, start, *table, seed, arguments)
            else:
                outcome = minimise_artificial(text, seed, arguments)
            results.add(key, outcome)


def average_ranks(results, column, greater_is_better=False):
    """Mean rank of each system over data sets and seeds; 1 is best."""
    table = results.pivot_table(index=["data_set", "seed"], columns="system", values=column)
    return table.dropna().rank(axis=1, ascending=not greater_is_better).mean()


def duels(results, column, against, greater_is_better=False):
    """On how many data sets each system differs from another (Mann-Whitney, 5%), and how."""
    rows = {}
    for system in results["system"].unique():
        if system == against:
            continue
        better = worse = 0
        for _, group in results.groupby("data_set"):
            one, other = (
                group.loc[group["system"] == s, column].dropna() for s in (system, against)
            )
            if min(len(one), len(other)) > 1 and mannwhitneyu(one, other).pvalue < 0.05:
                wins = (one.median() > other.median()) == greater_is_better
                better, worse = better + wins, worse + (not wins)
        rows[system] = {"better": better, "worse": worse}
    return pd.DataFrame(rows).T


def head_start(results, strategy):
    """Losses of a strategy by start and trials, and tests of the pairs with the longest runs."""
    own = results[results["strategy"] == strategy].reset_index(drop=True)
    systems = own["start"] + " " + own["max_evals"].astype(str)
    longest = systems[own["max_evals"].idxmax()]
    losses = {"validated": own["loss_1"]}
    losses |= {f"{kind}, other rows": 1.0 - own[kind] for kind in ("vanilla", "ensemble")}
    for name, values in losses.items():
        runs = own.assign(system=systems, value=values).pivot_table(
            "value", ["data_set", "seed"], "system"
        )
        runs = runs.dropna()
        means = runs.groupby("data_set").mean()
        tests = paired_tests(runs, longest).join(paired_tests(means, longest), rsuffix=" sets")
        yield name, pd.DataFrame({"mean": runs.mean()}).join(tests), len(runs)


def plot(results, systems, path):
    """Fig. 4: a point a data set, its median score with two systems; filled if they differ."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4, 4), layout="constrained")
    for name, group in results.groupby("data_set"):
        one, other = (group.loc[group["system"] == s, "ensemble"].dropna() for s in systems)
        if min(len(one), len(other)) > 1:
            differ = mannwhitneyu(one, other).pvalue < 0.05
            point = other.median(), one.median()
            axes.plot(*point, "o", color="C0", fillstyle="full" if differ else "none")
            axes.annotate(name, point, fontsize=6, xytext=(3, 3), textcoords="offset points")
    axes.axline((0.9, 0.9), slope=1, color="grey", linewidth=0.8)
    axes.set(xlabel=systems[1], ylabel=systems[0], title="Median score on the other rows")
    figure.savefig(path, dpi=80)


def summarize(results, arguments):
    for strategy in results["strategy"].unique():
        for name, table, n_runs in head_start(results, strategy):
            if len(table) > 1:
                print(f"\nFinal loss of {strategy}, {name}, by start and trials; {n_runs} runs")
                print(table.round(4).to_string())
    results = results.query("max_evals == @arguments.max_evals and space == @arguments.space")
    results = results.assign(system=results["strategy"] + " / " + results["start"])
    columns = [f"loss_{q:g}" for q in QUARTERS]
    ranks = pd.DataFrame({c: average_ranks(results, c) for c in columns})
    print("\nAverage rank of the best validated loss at each quarter of the budget")
    print(ranks.round(2).to_string())
    if "suggest_ms" in results:
        print("\nMilliseconds a suggestion, mean of the last 20")
        print(results.groupby("system")["suggest_ms"].mean().round(1).to_string())
    against = f"{arguments.against} / vanilla"
    if results["vanilla"].notna().any():
        melted = results.melt([*KEY, "system"], ["vanilla", "ensemble"], "variant", "score")
        melted["system"] += " / " + melted["variant"].replace("vanilla", "single")
        print("\nAverage rank of the score on the other rows")
        print(average_ranks(melted, "score", greater_is_better=True).round(2).to_string())
        for variant, part in melted.groupby("variant"):
            suffix = " / single" if variant == "vanilla" else " / ensemble"
            print(f"\nData sets on which a system differs from {against + suffix}")
            print(duels(part, "score", against + suffix, greater_is_better=True).to_string())
    print(f"\nData sets on which the final loss differs from {against}")
    print(duels(results, columns[-1], against).to_string())
    if arguments.plot:
        plot(results, ("mosaic / vanilla", against), arguments.plot)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--sets", type=names, default=names(SETS), help=SETS)
    parser.add_argument("--max-rows", type=int, default=2000, help="rows of each data set")
    parser.add_argument("--starts", type=names, default=["vanilla"], help="see above")
    parser.add_argument("--archive", type=Path, help="of a warm start (default: that of skauto)")
    parser.add_argument("--n-advised", type=int, default=25, help="pipelines of a warm start")
    parser.add_argument("--strategies", type=names, default=["mosaic", "forest_bo", "random"])
    parser.add_argument("--against", default="forest_bo", help="whom the duels are with")
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2, 3, 4])
    parser.add_argument("--max-evals", type=int, default=100)
    parser.add_argument("--space", default="default")
    parser.add_argument("--scoring", default="roc_auc")
    parser.add_argument(
        "--cv", type=ast.literal_eval, help="folds, or share to hold out (default: folds by size)"
    )
    parser.add_argument("--trial-seconds", type=float, help="of wall clock (default: no limit)")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="PNG of the scores, MOSAIC over its rival")
    parser.add_argument("--out", type=Path, required=True, help="CSV file to append to")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results(arguments.out, KEY)
    run(arguments, results)
    summarize(results.frame, arguments)


if __name__ == "__main__":
    main()
