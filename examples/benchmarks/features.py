"""Whether pairs of columns are worth their seconds in the ensemble.

For each data set and split, the first 12 pipelines of the portfolio without pairs are validated on
five folds. Then the best LightGBM among them with pairs of columns in front, and further LightGBM
configurations: those of the portfolio that the 12 lack, and neighbours of the best. Greedy
ensembles for the ROC AUC are compared on the other rows: the 12 alone (*base*), with the pairs
(*pairs*), and with as many of the further configurations as the same seconds allow (*seconds*).
Networks have at most two members::

    python examples/benchmarks/features.py --data FOLDER --out features.csv
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from _common import Results, load, make_parser, names, numbers, paired_tests, require_data
from build_portfolio import with_pairs
from sklearn.model_selection import train_test_split

from skauto.data import TableReader, make_splits
from skauto.data._training import read_training_data
from skauto.evaluation import (
    FoldTask,
    PipelineBuilder,
    PipelineWorker,
    RefitTask,
    transform_and_predict,
)
from skauto.metalearning import portfolio_configurations
from skauto.selection import (
    LogLoss,
    RocAucLoss,
    SmoothedLoss,
    choose_decision,
    greedy_selection,
)
from skauto.selection._candidates import candidate_pool
from skauto.space import Configuration, get_space

SETS = (
    "ionosphere,sonar,space_ga,wind,page-blocks,quake,pc3,car,balance-scale,fri_c2_1000_10,"
    "bank32nh,cpu_small,sick,delta_elevators,compas,bank8FM,puma8NH,delta_ailerons,cal_housing,"
    "house_8L,led24"
)
N_TRAIN, N_TEST = 2000, 3000  # maximum numbers of rows
N_BASE = 12
N_FURTHER = 3
AUC, LOG = RocAucLoss(), LogLoss()


def without_pairs(configurations):
    return [c for c in configurations if c["transformer"] != "pairs"]


def few_members(configuration):
    """Return the configuration with at most two networks."""
    settings = configuration.to_dict()
    if settings["classifier"].get("n_members", 1) > 2:
        settings["classifier"]["n_members"] = 2
    return Configuration.from_dict(settings)


class Pool:
    """Out-of-fold and test predictions of the candidates on one split."""

    def __init__(self, X, y, seed):
        _, y = np.unique(y, return_inverse=True)
        n_train = min(N_TRAIN, int(0.6 * len(y)))
        train, test = train_test_split(
            np.arange(len(y)),
            train_size=n_train,
            test_size=min(N_TEST, len(y) - n_train),
            stratify=y,
            random_state=seed,
        )
        data = read_training_data(X.iloc[train], y[train], {}, TableReader())
        self.data = replace(data, splits=make_splits(5, data.X, data.y, seed=seed))
        self.Z_test, self.y_test = data.reader.transform(X.iloc[test]), y[test]
        self.space = get_space("default").for_data(data.facts)
        reader = data.reader
        builder = PipelineBuilder(
            self.space,
            categorical=reader.categorical_indices_,
            n_levels=reader.n_levels_,
            seed=seed,
        )
        self.worker = PipelineWorker(builder, self.data, {}, seed=seed)
        self.known = {}

    def add(self, configuration):
        """Validate on all folds, then fit on all training rows with the mean number of rounds."""
        data = self.data
        results = [self.worker(FoldTask(configuration, i)) for i in range(len(data.splits))]
        inside = np.empty((len(data.y), data.n_classes))
        for (_, rows), result in zip(data.splits, results, strict=True):
            inside[rows] = result.probabilities
        rounds = [r.rounds for r in results if r.rounds is not None]
        growth = len(data.y) / np.mean([len(train) for train, _ in data.splits])
        steps = self.worker(
            RefitTask(configuration, rounds=round(np.mean(rounds) * growth) if rounds else None)
        )
        outside = transform_and_predict(steps, self.Z_test, data.classes)
        self.known[configuration] = inside, outside, sum(r.cpu_time for r in results)

    def seconds(self, configurations):
        return sum(self.known[c][2] for c in configurations)

    def best(self, configurations):
        return min(
            configurations,
            key=lambda c: SmoothedLoss(AUC)(self.data.y, self.known[c][0][None])[0],
        )

    def scores(self, configurations):
        """Select an ensemble, calibrate it, and score it on the test rows."""
        inside, outside = (np.stack([self.known[c][i] for c in configurations]) for i in range(2))
        y = self.data.y
        losses = np.column_stack([AUC(y, inside), LOG(y, inside)])
        chosen = candidate_pool(losses, [c.structure[-1] for c in configurations])
        weights = greedy_selection(inside[chosen], y, SmoothedLoss(AUC)).weights
        vote = np.tensordot(weights, inside[chosen], axes=1)
        decision = choose_decision(vote, y, AUC, rng=np.random.default_rng(0))
        test = decision.scale(np.tensordot(weights, outside[chosen], axes=1))[None]
        return AUC(self.y_test, test)[0], LOG(self.y_test, test)[0]


def further(pool, base, best, seed):
    """LightGBM of the other orders and neighbours of the best in turn."""
    others = []
    for n_classes in (pool.data.n_classes, 2, 3):
        for categories in (pool.data.facts.has_categories, False, True):
            others += portfolio_configurations(
                pool.space, n_classes=n_classes, has_categories=categories, n=40
            )
    others = [c for c in dict.fromkeys(without_pairs(others)) if c["classifier"] == "lightgbm"]
    others = [c for c in others if c not in base][:N_FURTHER]
    rng = np.random.default_rng(seed)
    near = pool.space.neighbors(pool.space.encode([best])[0], rng, fixed_steps=pool.space.steps)
    near = [pool.space.decode(v) for v in near[rng.permutation(len(near))[: N_FURTHER - 1]]]
    return [c for i in range(N_FURTHER) for c in (*others[i : i + 1], *near[i : i + 1])]


def compare(X, y, seed):
    """Scores of the three ensembles on one split, and the seconds of what was added."""
    pool = Pool(X.reset_index(drop=True), y, seed)
    listed = portfolio_configurations(
        pool.space,
        n_classes=pool.data.n_classes,
        has_categories=pool.data.facts.has_categories,
        n=40,
    )
    base = [few_members(c) for c in without_pairs(listed)[:N_BASE]]
    for configuration in base:
        pool.add(configuration)
    best = pool.best([c for c in base if c["classifier"] == "lightgbm"])
    pairs, added = with_pairs(best), []
    pool.add(pairs)
    for configuration in further(pool, base, best, seed):
        pool.add(configuration)
        spent = pool.seconds([*added, configuration])
        if added and spent - pool.seconds([configuration]) / 2 > pool.seconds([pairs]):
            break
        added.append(configuration)
    row = {}
    for arm, extra in {"base": [], "pairs": [pairs], "seconds": added}.items():
        row[f"auc_{arm}"], row[f"log_{arm}"] = pool.scores([*base, *extra])
        row[f"s_{arm}"] = pool.seconds(extra)
    return row


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--sets", type=names, default=names(SETS), help=SETS)
    parser.add_argument("--seeds", type=numbers, default=[0, 1], help="0,1")
    parser.add_argument("--out", type=Path, default=Path("features.csv"))
    arguments = parser.parse_args()
    require_data(parser, arguments)
    warnings.simplefilter("ignore")
    results = Results(arguments.out, ["set", "seed"])
    for name, seed in results.missing(arguments.sets, arguments.seeds):
        X, y = load(arguments.data, name, max_rows=10**9)
        results.add((name, seed), compare(X, y, seed))
    means = results.frame.groupby("set").mean(numeric_only=True)
    for score in ("auc", "log"):
        columns = means.filter(like=score)
        for rival in ("base", "seconds"):
            table = columns[[f"{score}_pairs", f"{score}_{rival}"]]
            print(paired_tests(table, f"{score}_{rival}").round(5).to_string())


if __name__ == "__main__":
    main()
