"""Warm starts of MOSAIC: do advised pipelines save trials?

Every run searches the default space on 80% of the rows of a set, and the other rows judge the best
pipeline and the ensemble. ``--starts`` says what comes first: nothing (``vanilla``), or
``metalearning``, the best of the nearest data sets of the archive, the set itself and near copies
left out. Runs of one strategy with several starts and numbers of trials in one file are compared
with the longest ones, for example 10 advised and 15 searched trials with 75 vanilla ones::

    python examples/benchmarks/mosaic.py --data FOLDER --strategies mosaic --max-evals 75 \
        --out warm.csv
    python examples/benchmarks/mosaic.py --data FOLDER --strategies mosaic --max-evals 25 \
        --starts metalearning --n-advised 10 --out warm.csv

``--archive FILE`` takes another archive than that of skauto. Settings of a strategy may follow its
name: ``"mosaic(c_ucb=0.3;n_samples=50)"``. One line a run is appended to the CSV file, and lines
that are there are not run again. ``surrogate.py`` compares MOSAIC with other strategies.
"""

import ast
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _common import (
    Results,
    load,
    make_parser,
    names,
    numbers,
    paired_tests,
    read_strategy,
    require_data,
)
from build_archive import at_most, describe
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier, SearchOptions
from skauto.metalearning import Archive, load_archive, nearest_configurations
from skauto.space import get_space

# Neither these nor near copies of them are among the sets of the archive that they judge.
SETS = "bank-additional,churn,cmc,credit-g,delta_ailerons,house_8L,pc4,phoneme"
SETS += ",pol,sonar,sylvine,vehicle"
KEY = ["data_set", "strategy", "start", "seed", "max_evals"]
LOSSES = ["validated", "single, other rows", "ensemble, other rows"]


def search(text, start, X, y, seed, arguments):
    """Validated loss of the best pipeline, and losses of it and of the ensemble on other rows."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=seed
    )
    model = AutoClassifier(
        strategy=read_strategy(text),
        scoring="roc_auc",
        initial=None if start == "vanilla" else advice(X_train, y_train, arguments),
        max_evals=arguments.max_evals,
        cv=arguments.cv,
        n_jobs=arguments.n_jobs,
        options=SearchOptions(trial_time_limit=arguments.trial_seconds),
        random_state=seed,
    ).fit(X_train, y_train)
    score = get_scorer("roc_auc_ovr" if len(model.classes_) > 2 else "roc_auc")
    fitted = model.best_estimator_, model.ensemble_
    losses = [np.min(model.history_.losses[:, 0]), *(1 - score(m, X_test, y_test) for m in fitted)]
    return dict(zip(LOSSES, losses, strict=True))


def advice(X, y, arguments):
    """Pipelines that were good on similar sets of the archive."""
    archive = Archive.load(arguments.archive) if arguments.archive else load_archive()
    features, facts = describe(X, y)
    space = get_space("default").for_data(facts)
    return nearest_configurations(archive, features, space, arguments.n_advised)


def run(arguments, results):
    """Run what is asked for and not yet in the file."""
    for name in arguments.sets:
        table = at_most(*load(arguments.data, name), arguments.max_rows)
        systems = arguments.strategies, arguments.starts, arguments.seeds
        for key in results.missing([name], *systems, [arguments.max_evals]):
            _, text, start, seed, _ = key
            results.add(key, search(text, start, *table, seed, arguments))


def summarize(results):
    """Losses by start and trials, and tests of the pairs with the longest runs."""
    for strategy, own in results.groupby("strategy", sort=False):
        systems = own["start"] + " " + own["max_evals"].astype(str)
        longest = systems[own["max_evals"].idxmax()]
        for loss in LOSSES:
            runs = own.assign(system=systems).pivot_table(loss, ["data_set", "seed"], "system")
            runs = runs.dropna()
            means = runs.groupby("data_set").mean()
            tests = paired_tests(runs, longest).join(paired_tests(means, longest), rsuffix=" sets")
            print(f"\nFinal loss of {strategy}, {loss}, by start and trials; {len(runs)} runs")
            print(pd.DataFrame({"mean": runs.mean()}).join(tests).round(4).to_string())


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--sets", type=names, default=names(SETS), help=SETS)
    parser.add_argument("--max-rows", type=int, default=2000, help="rows of each data set")
    parser.add_argument("--starts", type=names, default=["vanilla"], help="see above")
    parser.add_argument("--archive", type=Path, help="of a warm start (default: that of skauto)")
    parser.add_argument("--n-advised", type=int, default=25, help="pipelines of a warm start")
    parser.add_argument("--strategies", type=names, default=["mosaic"])
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2, 3, 4])
    parser.add_argument("--max-evals", type=int, default=100)
    parser.add_argument(
        "--cv", type=ast.literal_eval, help="folds, or share to hold out (default: folds by size)"
    )
    parser.add_argument("--trial-seconds", type=float, help="of wall clock (default: no limit)")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to append to")
    arguments = parser.parse_args()
    require_data(parser, arguments)
    warnings.simplefilter("ignore")
    results = Results(arguments.out, KEY)
    run(arguments, results)
    summarize(results.frame)


if __name__ == "__main__":
    main()
