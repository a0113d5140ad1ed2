"""FanG-HPO against ParEGO: hypervolume over accumulated cost, and queries by source.

Rebuilds Fig. 1, Table 1 and Figs. 2-3 of the FanG-HPO paper: networks and boosting on ADULT and
COMPAS, misclassification error against unfairness, both from ten-fold cross-validation. Until an
accumulated cost of 20 d, where a query of all rows costs 2 and one of half the rows costs 1,
FanG-HPO may use both sources and ParEGO all rows only. With the same seed the initial trials of
FanG-HPO on all rows are among those of ParEGO. One line a trial is appended to a CSV file; runs
that are there already are not run again, so an interrupted benchmark is continued by the same
command::

    python examples/benchmarks/fang_hpo.py --data FOLDER --tasks compas-mlp --seeds 25 \
        --out fang_hpo.csv
    python examples/benchmarks/fang_hpo.py --report fang_hpo.csv

FOLDER holds the tables of the paper: {ADULT,COMPAS}_{full,redux}.csv.gz. The boosting is LightGBM
(XGBoost in the paper). A full run evaluates about 110 configurations: ten minutes on COMPAS, an
hour on ADULT. ``--rows 1500 --folds 2`` takes that many rows of each full table, half as many of
its half, and two folds: less than a minute a run. ``--report FILE`` also draws ``FILE`` as PNG.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _common import Results, make_parser, names, require_data
from joblib import Parallel, delayed
from scipy.stats import mannwhitneyu
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from skauto import minimize
from skauto.space import get_space
from skauto.strategies import FanGHPO, ParEGO
from skauto.utils._pareto import running_hypervolume

TASKS = ["adult-mlp", "compas-mlp", "adult-gbm", "compas-gbm"]
TARGETS = {"adult": "income.leq.50k", "compas": "two_year_recid"}
N_DIMENSIONS = {"mlp": 10, "gbm": 7}
SHARES = {"full": 1.0, "redux": 0.5}
TRUTH_COST = 2.0
REFERENCE = [1.0, 1.0]
SYSTEMS = ["fang_hpo", "parego"]
KEY = ["task", "system", "seed"]


class Task:
    """One data set with one family of learners, as an objective for ``minimize``."""

    def __init__(self, name, folder, *, n_rows=None, n_folds=10, n_jobs=1):
        self.dataset, self.family = name.split("-")
        self.space = get_space(f"fang_{self.family}")
        self.tables = {
            share: self.load(
                folder / f"{self.dataset.upper()}_{source}.csv.gz",
                None if n_rows is None else round(share * n_rows),
            )
            for source, share in SHARES.items()
        }
        self.n_folds = n_folds
        self.n_jobs = n_jobs

    def load(self, path, n_rows):
        """Features, target and the dummy columns of the sensitive features."""
        table = pd.read_csv(path)
        if n_rows is not None:
            target = table[TARGETS[self.dataset]]
            table, _ = train_test_split(table, train_size=n_rows, stratify=target, random_state=0)
        y = table.pop(TARGETS[self.dataset]).to_numpy()
        sensitive = [name for name in table if name.startswith(("sex.", "race."))]
        return table.to_numpy(dtype=float), y, table[sensitive].to_numpy(dtype=bool)

    def evaluate(self, configuration, share):
        """Misclassification error, and the unfairness of the worst sensitive feature."""
        X, y, groups = self.tables[share]
        folds = StratifiedKFold(self.n_folds).split(X, y)
        results = Parallel(self.n_jobs)(
            delayed(evaluate_fold)(self.pipeline(configuration), X, y, groups, train, test)
            for train, test in folds
        )
        errors, gaps = zip(*results, strict=True)
        return float(np.mean(errors)), float(np.mean(gaps, axis=0).max())

    def pipeline(self, configuration):
        steps = [
            self.space.component(step, name).make(configuration.parameters(step))
            for step, name in configuration.components
        ]
        pipeline = make_pipeline(*(step for step in steps if step is not None))
        pipeline[-1].set_params(random_state=1)  # as in the paper: the same noise for all
        return pipeline

    def __call__(self, configuration, fidelity=1.0):
        mce, dsp = self.evaluate(configuration, fidelity)
        return {"mce": mce, "dsp": dsp}


def evaluate_fold(pipeline, X, y, groups, train, test):
    """Error of one fold, and by how much its positive rate differs inside and outside a group."""
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        predicted = pipeline.fit(X[train], y[train]).predict(X[test])
    gaps = [
        abs(predicted[group].mean() - predicted[~group].mean())
        if 0 < group.sum() < len(group)
        else 0
        for group in groups[test].T
    ]
    return np.mean(predicted != y[test]), gaps


def make_strategy(system, d, budget):
    """A strategy and the number of trials that it may make for the budget."""
    n_initial = min(2 * d, int(budget / TRUTH_COST / 4))
    if system == "fang_hpo":
        return FanGHPO(cost_budget=budget, n_initial=n_initial), int(2 * budget)
    return ParEGO(n_initial=n_initial), int(budget / TRUTH_COST)


def run(task, system, seed, budget):
    """One search as a table with one row a trial."""
    d = N_DIMENSIONS[task.family]
    strategy, max_evals = make_strategy(system, d, 20.0 * d if budget is None else budget)
    history = minimize(
        task,
        task.space,
        strategy=strategy,
        objectives=("mce", "dsp"),
        max_evals=max_evals,
        random_state=seed,
    ).history
    shares = np.array([trial.fidelity for trial in history])
    truth = np.where(shares[:, None] == 1.0, history.losses, np.inf)
    return pd.DataFrame(
        {
            "trial": range(len(history)),
            "origin": [trial.origin for trial in history],
            "share": shares,
            "accumulated_cost": np.cumsum(TRUTH_COST * shares),
            "mce": history.losses[:, 0],
            "dsp": history.losses[:, 1],
            "seconds": [trial.cost for trial in history],
            "hypervolume": running_hypervolume(truth, REFERENCE),
        }
    )


def benchmark(arguments, results):
    for name in arguments.tasks:
        task = Task(
            name,
            arguments.data,
            n_rows=arguments.rows,
            n_folds=arguments.folds,
            n_jobs=arguments.n_jobs,
        )
        for key in results.missing([name], SYSTEMS, range(arguments.seeds)):
            _, system, seed = key
            results.add(key, run(task, system, seed, arguments.budget))


def report(table, path):
    """Print Table 1, the cost at which ParEGO's final hypervolume is reached, and the queries."""
    plot(table, path)
    last = table.groupby(["task", "system", "seed"]).hypervolume.last()
    for name in table.task.unique():
        fang, parego = last[name, "fang_hpo"], last[name, "parego"]
        p = mannwhitneyu(fang, parego, alternative="greater").pvalue
        print(f"\n{name}: final hypervolume, median +- sd of {len(fang)} and {len(parego)} runs")
        print(f"  FanG-HPO {fang.median():.4f} +- {fang.std():.4f}")
        print(f"  ParEGO   {parego.median():.4f} +- {parego.std():.4f}   p = {p:.4f}")
        rows = table[(table.task == name) & (table.system == "fang_hpo")]
        median = rows.groupby("accumulated_cost").hypervolume.median()
        reached = median.index[median >= parego.median()]
        print(f"  FanG-HPO reaches ParEGO's median at cost {min(reached, default=np.nan)}")
        chosen = rows[rows.origin == "ehvi"]
        queries = chosen.groupby("seed").share.agg(
            [lambda s: (s == 1).sum(), lambda s: (s < 1).sum()]
        )
        print(
            f"  queries a run after the design: all rows {queries.iloc[:, 0].median():.0f}, "
            f"half of them {queries.iloc[:, 1].median():.0f}"
        )


def plot(table, path):
    """Draw Fig. 1, hypervolume over cost with its quartiles, and Figs. 2-3, queries by source."""
    import matplotlib.pyplot as plt

    tasks = table.task.unique()
    figure, axes = plt.subplots(
        2, len(tasks), figsize=(4.5 * len(tasks), 6), layout="constrained", squeeze=False
    )
    for name, (curve, bars) in zip(tasks, axes.T, strict=True):
        of_task = table[table.task == name]
        for system, rows in of_task.groupby("system"):
            by_cost = rows.pivot_table(
                index="accumulated_cost", columns="seed", values="hypervolume"
            ).ffill()
            low, median, high = by_cost.quantile([0.25, 0.5, 0.75], axis=1).to_numpy()
            curve.step(by_cost.index, median, where="post", label=system)
            curve.fill_between(by_cost.index, low, high, step="post", alpha=0.2)
        curve.set(title=name, xlabel="accumulated cost", ylabel="hypervolume")
        later = of_task.hypervolume[of_task.accumulated_cost >= 40]
        if len(later):
            curve.set_ylim(bottom=later.quantile(0.02))
        curve.legend(loc="lower right")
        chosen = of_task[of_task.origin == "ehvi"]
        queries = chosen.groupby("seed").share.value_counts().unstack(fill_value=0)
        for offset, share in ((-0.2, 1.0), (0.2, 0.5)):
            bars.bar(queries.index + offset, queries.get(share, 0), 0.4, label=f"{share:.0%} rows")
        bars.set(xlabel="seed", ylabel="queries after the design", xticks=queries.index)
        bars.set_ylim(top=1.3 * queries.to_numpy().max())
        bars.legend(ncols=2)
    figure.savefig(path, dpi=70)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--tasks", type=names, default=TASKS)
    parser.add_argument("--seeds", type=int, default=25, help="number of seeds")
    parser.add_argument("--budget", type=float, help="accumulated cost; 20 d by default")
    parser.add_argument("--rows", type=int, help="number of rows; all by default")
    parser.add_argument("--folds", type=int, default=10, help="number of folds")
    parser.add_argument("--n-jobs", type=int, default=1, help="folds at a time")
    parser.add_argument("--out", type=Path, default=Path("fang_hpo.csv"))
    parser.add_argument("--report", type=Path, help="only print the tables of this file")
    arguments = parser.parse_args()
    results = Results(arguments.report or arguments.out, KEY)
    if arguments.report is None:
        require_data(parser, arguments)
        benchmark(arguments, results)
    report(results.frame, results.path.with_suffix(".png"))


if __name__ == "__main__":
    main()
