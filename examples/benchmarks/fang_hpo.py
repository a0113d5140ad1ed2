"""FanG-HPO against ParEGO: hypervolume over accumulated cost, and queries by source.

Rebuilds a part of Fig. 1, Table 1 and Figs. 2-3 of the FanG-HPO paper: networks on COMPAS,
misclassification error against unfairness, both from ten-fold cross-validation. Until an
accumulated cost of 20 d, where a query of all rows costs 2 and one of half the rows costs 1,
FanG-HPO may use both sources and ParEGO all rows only. The half is drawn from all rows. Both
methods have the same kernel. With the same seed the initial trials of FanG-HPO on all rows are
the first of ParEGO. ``parego-q5``, like the baseline of the paper, proposes five configurations
at once. One line a trial is appended to a CSV file; runs that are there already are not run again,
so an interrupted benchmark is continued by the same command::

    python examples/benchmarks/fang_hpo.py --data FOLDER --seeds 25 \
        --systems "fang_hpo,parego,parego-q5,fang_hpo(sources=[1.0])" --out fang_hpo.csv
    python examples/benchmarks/fang_hpo.py --report fang_hpo.csv

FOLDER holds the table of the paper, COMPAS_full.csv.gz. The baseline of the paper is ParEGO with
the knowledge gradient of five points at once; here it is ParEGO with the expected improvement.
Unfairness is measured on the out-of-fold predictions of all folds together, for groups of at least
30 rows of the half; in the paper it is the mean over the folds, of all groups. A full run
evaluates about 110 configurations in three minutes. ``--rows 1500 --folds 2`` takes that many rows
and two folds: less than a minute a run. ``--report FILE`` also draws ``FILE`` as PNG.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from _common import Results, make_parser, names, read_strategy, require_data
from _networks import predict_folds
from scipy.stats import ttest_1samp, wilcoxon
from sklearn.model_selection import StratifiedKFold, train_test_split

from skauto import minimize
from skauto.space import get_space
from skauto.strategies import FanGHPO, ParEGO
from skauto.surrogates import GaussianProcess
from skauto.utils._pareto import running_hypervolume

TARGET = "two_year_recid"
N_DIMENSIONS = 10
CHEAP = 0.5  # share of the rows of the cheap source
MIN_GROUP_SIZE = 30  # rows of the cheap source
TRUTH_COST = 2.0
REFERENCE = [1.0, 1.0]
SYSTEMS = "fang_hpo,parego"
KEY = ["system", "seed"]


class Task:
    """COMPAS with networks, as an objective for ``minimize``."""

    space = get_space("fang_mlp")

    def __init__(self, folder, *, n_rows=None, n_folds=10):
        table = pd.read_csv(folder / "COMPAS_full.csv.gz")
        if n_rows is not None:
            part = {"train_size": n_rows, "stratify": table[TARGET], "random_state": 0}
            table, _ = train_test_split(table, **part)
        self.y = table.pop(TARGET).to_numpy()
        self.X = table.to_numpy(dtype=np.float32)
        every = np.arange(len(self.y))
        _, half = train_test_split(every, test_size=CHEAP, random_state=0, stratify=self.y)
        self.rows = {1.0: every, CHEAP: np.sort(half)}
        sensitive = [name for name in table if name.startswith(("sex.", "race."))]
        groups = table[sensitive].to_numpy(dtype=bool)
        self.groups = groups[:, groups[half].sum(axis=0) >= MIN_GROUP_SIZE]
        self.n_folds = n_folds

    def __call__(self, configuration, fidelity=1.0):
        """Misclassification error, and the unfairness of the worst sensitive feature."""
        rows = self.rows[fidelity]
        X, y, groups = self.X[rows], self.y[rows], self.groups[rows]
        mlp = self.space.component("classifier", "mlp")
        network = mlp.make(configuration.parameters("classifier"))
        network.set_params(random_state=1)  # as in the paper: the same noise for all
        folds = list(StratifiedKFold(self.n_folds).split(X, y))
        predicted = predict_folds(network, X, y, folds)
        gaps = [abs(predicted[group].mean() - predicted[~group].mean()) for group in groups.T]
        return {"mce": float(np.mean(predicted != y)), "dsp": float(max(gaps))}


class RandomDesignParEGO(ParEGO):
    """ParEGO with random initial trials only, as in the paper; its own begin with the default."""

    def _next_of_design(self):
        return self.sample_new()


class BatchParEGO(RandomDesignParEGO):
    """ParEGO that proposes five configurations at once after the design, as in the paper."""

    def _start(self):
        super()._start()
        self._batch = []

    def ask(self, history, pending=()):
        if not self._batch:
            n_proposals = 1 if len(history) < self.n_initial else 5
            for _ in range(n_proposals):
                self._batch.append(super().ask(history, self._batch))
        return self._batch.pop(0)


def make_strategy(system, budget):
    """A strategy and the number of trials that it may make for the budget."""
    strategy = read_strategy(system.removesuffix("-q5"))
    strategy.set_params(n_initial=min(2 * N_DIMENSIONS, int(budget / TRUTH_COST / 4)))
    if isinstance(strategy, FanGHPO):
        return strategy.set_params(cost_budget=budget), int(2 * budget)
    kernel = GaussianProcess(nu=1.5, trend="constant")  # that of FanG-HPO
    settings = strategy.get_params(deep=False) | {"surrogate": kernel}
    one_or_five = BatchParEGO if system.endswith("-q5") else RandomDesignParEGO
    return one_or_five(**settings), int(budget / TRUTH_COST)


def run(task, system, seed, budget):
    """One search as a table with one row a trial."""
    strategy, max_evals = make_strategy(system, budget)
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


def report(table, path):
    """Print Table 1, the pairs with ParEGO, and the queries of the cheap source."""
    plot(table, path)
    last = table.groupby(KEY).hypervolume.last()
    for system, rows in table.groupby("system"):
        own = last[system]
        print(f"{system}: final hypervolume {own.median():.4f} +- {own.std():.4f}")
        pairs = (own - last["parego"]).dropna()
        if pairs.any():
            low, high = ttest_1samp(pairs, 0.0).confidence_interval()
            p = wilcoxon(pairs, alternative="greater").pvalue
            print(f"  {(pairs > 0).sum()} of {len(pairs)} pairs better, Wilcoxon p = {p:.4f}")
            print(f"  mean difference {pairs.mean():.4f} ({low:.4f}, {high:.4f})")
        chosen = rows[rows.origin == "ehvi"]
        print(f"  share of cheap queries after the design {(chosen.share < 1).mean():.2f}")


def by_cost(rows):
    """Hypervolume of each seed at each accumulated cost."""
    return rows.pivot_table(index="accumulated_cost", columns="seed", values="hypervolume").ffill()


def plot(table, path):
    """Draw Fig. 1, hypervolume over cost with its quartiles, and Figs. 2-3, queries by source."""
    import matplotlib.pyplot as plt

    figure, (curve, bars) = plt.subplots(2, figsize=(4.5, 6), layout="constrained")
    for system, rows in table.groupby("system"):
        volume = by_cost(rows)
        low, median, high = volume.quantile([0.25, 0.5, 0.75], axis=1).to_numpy()
        curve.step(volume.index, median, where="post", label=system)
        curve.fill_between(volume.index, low, high, step="post", alpha=0.2)
    curve.set(title="COMPAS", xlabel="accumulated cost", ylabel="hypervolume")
    later = table.hypervolume[table.accumulated_cost >= 40]
    if len(later):
        curve.set_ylim(bottom=later.quantile(0.02))
    curve.legend(loc="lower right")
    chosen = table[(table.origin == "ehvi") & (table.system == "fang_hpo")]
    queries = chosen.groupby("seed").share.value_counts().unstack(fill_value=0)
    for offset, share in ((-0.2, 1.0), (0.2, CHEAP)):
        bars.bar(queries.index + offset, queries.get(share, 0), 0.4, label=f"{share:.0%} rows")
    bars.set(xlabel="seed", ylabel="queries after the design")
    bars.xaxis.get_major_locator().set_params(integer=True)
    bars.set_ylim(top=1.3 * queries.to_numpy().max())
    bars.legend(ncols=2)
    figure.savefig(path, dpi=70)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--systems", type=names, default=names(SYSTEMS), help=SYSTEMS)
    parser.add_argument("--seeds", type=int, default=25, help="number of seeds")
    parser.add_argument("--budget", type=float, default=20.0 * N_DIMENSIONS, help="20 d")
    parser.add_argument("--rows", type=int, help="number of rows; all by default")
    parser.add_argument("--folds", type=int, default=10, help="number of folds")
    parser.add_argument("--out", type=Path, default=Path("fang_hpo.csv"))
    parser.add_argument("--report", type=Path, help="only print the tables of this file")
    arguments = parser.parse_args()
    results = Results(arguments.report or arguments.out, KEY)
    if arguments.report is None:
        require_data(parser, arguments)
        task = Task(arguments.data, n_rows=arguments.rows, n_folds=arguments.folds)
        for seed in range(arguments.seeds):
            for key in results.missing(arguments.systems, [seed]):
                results.add(key, run(task, *key, arguments.budget))
    report(results.frame, results.path.with_suffix(".png"))


if __name__ == "__main__":
    main()
