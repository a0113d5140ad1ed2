"""ADMM on real data: against JOPT, and within limits.

Rebuilds two results of the ADMM paper (AAAI 2020) at a small scale. Each study adds its runs to
a CSV file, one line a trial, and prints its table; what is there already is not run again::

    python examples/benchmarks/admm_real.py speed --data FOLDER --out speed.csv
    python examples/benchmarks/admm_real.py disparity --data FOLDER --out disparity.csv
    python examples/benchmarks/admm_real.py latency --data FOLDER --out latency.csv
    python examples/benchmarks/admm_real.py ensembles --data FOLDER --out ensembles.csv

*speed* (Tables 1, A4 and A5) gives ADMM and JOPT, ours and that of scikit-optimize as in the
paper, the same seconds of the processor, with their evaluations one after the other, in the space
``admm_large``. *disparity* and *latency* (Figs. 2 and 3) compare ADMM that knows a limit with ADMM
whose trials are filtered by it afterwards, in the space ``admm_small``. The loss is 1 - AUROC on
30% of at most 1,500 rows. FOLDER is that of ``quality.py``. *seconds* does so with the models of
``surrogate.py`` in the space ``admm_large``, which need no data, and a limit on the seconds of a
trial; a limit of 0.1 is the time of the fastest tenth of the trials in the table of the set. Other
``--strategies`` search without a limit. *ensembles* judges two ensembles of the same trials on the
rows that are left: of the 32 best (Appendix 8), and with the default pool.
"""

import tempfile
import time
from functools import cache
from pathlib import Path

import admm_artificial
import numpy as np
import pandas as pd
from _common import (
    LimitedLosses,
    Results,
    load,
    make_parser,
    names,
    numbers,
    paired_tests,
    require_data,
    speed_up,
)
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from surrogate import SETS_OF, TABLES, SurrogateBenchmark

from skauto import AutoClassifier, ConstrainedAutoClassifier, SearchOptions, minimize
from skauto.constraints import GroupDisparity, PredictionLatency
from skauto.engines import ProcessEngine
from skauto.strategies import get_strategy

AGES = [0, 25, 35, 45, 120]
WITH_AGES = ["credit-g", "compas", "adult", "bank-additional", "default_credit_card"]
LIMITS = {
    "disparity": [0.05, 0.075, 0.1, 0.125, 0.15],
    "latency": [1e-6, 5e-6, 10e-6, 15e-6, 20e-6],
    "seconds": [0.05, 0.1, 0.2, 0.3, 0.5],
}
SCIKIT_OPTIMIZE = {"skopt": admm_artificial.ScikitOptimize()}
RUN = ["limit", "set", "seed"]
KEY = ["set", "seed", "strategy", "limit"]


def read(folder, name, max_rows):
    """Table, labels and age groups (None where there is no age)."""
    X, y = load(folder, name, max_rows)
    ages = X.rename(columns=str.lower).get("age")
    groups = None if ages is None else pd.cut(ages, AGES).astype(str).rename("age_group")
    return X, y, groups


def constraint_of(study, limit):
    """What is measured in every trial: with an infinite limit for the search that ignores it."""
    if study == "disparity":
        return [GroupDisparity("age_group", metric="roc_auc", upper=limit)]
    return [PredictionLatency(limit, batch_size=1000)] if study == "latency" else []


def search(options, name, seed, strategy, limit):
    """Trials of one search, one line each."""
    X, y, groups = read(options.data, name, options.rows)
    clf = ConstrainedAutoClassifier(
        constraint_of(options.study, limit),
        strategy=strategy,
        scoring="roc_auc",
        space="admm_small",
        initial=None,
        cv=0.3,
        ensemble_size=1,
        options=SearchOptions(refit=False, trial_time_limit=options.trial_seconds),
        max_evals=options.trials,
        random_state=seed,
    )
    clf.fit(X, y, **({"sensitive_features": groups} if options.study == "disparity" else {}))
    return [
        {
            "trial": trial.number,
            "ended": trial.ended,
            "loss": trial.loss,
            "value": next(iter(trial.constraints.values()), np.nan),
        }
        for trial in clf.history_
    ]


@cache
def models_of(name):
    return SurrogateBenchmark(TABLES / f"admm_large-{name}.npz").fit()


def search_models(options, name, seed, strategy, limit):
    """The same with modeled losses and seconds; the value is the share of faster trials."""
    benchmark = models_of(name)
    seconds = np.sort(benchmark.table["seconds"][benchmark.table["ok"]]).astype(float)

    def objective(configuration):
        fields = benchmark.evaluate(configuration)
        return {"loss": fields["losses"][0], "seconds": fields["cost"]}

    result = minimize(
        objective,
        benchmark.space,
        strategy=strategy,
        limits={"seconds": np.quantile(seconds, limit) if np.isfinite(limit) else np.inf},
        max_evals=options.trials,
        random_state=seed,
    )
    return [
        {
            "trial": trial.number,
            "loss": trial.loss,
            "value": np.searchsorted(seconds, trial.constraints["seconds"]) / len(seconds),
        }
        for trial in result.history
        if np.isfinite(trial.loss)
    ]


def race(options, name, seed, strategy, _):
    """Trials that were better than all before, and the last, by the seconds of the processor."""
    X, y, _ = read(options.data, name, options.rows)
    parts = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    trial = LimitedLosses("admm_large", X, y, parts, options.trial_seconds, "roc_auc")
    spent = 0.0  # by the process of the trials

    def loss(configuration):
        nonlocal spent
        engine.submit(0, (configuration,))
        ((_, outcome),) = engine.wait()
        loss, seconds = outcome.value or (np.inf, options.trial_seconds)
        spent += seconds
        return min(loss, 1.0)  # a failed pipeline is worth nothing

    def clock():
        return time.process_time() + spent

    with ProcessEngine(trial) as engine:
        strategy = SCIKIT_OPTIMIZE.get(strategy) or get_strategy(strategy)
        curve = admm_artificial.run(strategy, trial.space, loss, options.seconds, clock, seed)
    within = [point for point in curve if point[0] <= options.seconds]
    last = (options.seconds, curve[-1][1], within[-1][2])
    return [{"trial": n, "ended": ended, "loss": best} for ended, n, best in [*within, last]]


def select(options, name, seed, strategy, _):
    """Held-out scores of the ensembles of two pools, which select from the same trials."""
    X, y, _ = read(options.data, name, 8000)
    y = np.unique(y, return_inverse=True)[1]
    size = min(options.rows, int(0.6 * len(y)))
    parts = train_test_split(X, y, stratify=y, train_size=size, random_state=seed)
    train, test, train_y, test_y = parts
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for pool, n_members in (("best", 25), (32, 32)):
            clf = AutoClassifier(
                strategy,
                space="admm_large",
                scoring="roc_auc",
                max_evals=options.trials,
                ensemble_size=n_members,
                options=SearchOptions(pool=pool, checkpoint=Path(folder) / "search"),
                random_state=seed,
            )
            shares = clf.fit(train, train_y).predict_proba(test)[:, 1]
            scores = {"1 - ROC AUC": 1 - roc_auc_score(test_y, shares)}
            rows.append({"pool": pool, **scores, "log loss": log_loss(test_y, shares)})
    return rows


def report_pools(frame):
    for score in ("1 - ROC AUC", "log loss"):
        pairs = frame.astype({"pool": str}).pivot(
            index=["set", "seed"], columns="pool", values=score
        )
        print(f"\n{score}\n{paired_tests(pairs, '32').round(5).to_string()}")


def report_speed(frame):
    """How much sooner ADMM reaches the final loss of the others, and how much lower it ends."""
    final = frame.groupby(["set", "seed", "strategy"])["loss"].min().unstack()
    for baseline in final.columns.drop("admm"):
        pairs = final[["admm", baseline]].dropna()
        print(f"\nADMM against {baseline}\n{pairs.groupby('set').median().round(4).to_string()}")
        print(paired_tests(pairs, baseline).to_string())
        print(pd.Series(speed_up(frame, "ended", "admm", baseline)).round(2).to_string())


def report_limits(frame):
    """Share of feasible trials and best feasible loss of ADMM, and of searches without a limit."""
    frame = frame[np.isfinite(frame["loss"])]
    known = frame[np.isfinite(frame["limit"])]
    without = frame[np.isinf(frame["limit"])].drop(columns="limit")
    for strategy, trials in without.groupby("strategy"):
        print(f"\nADMM with the limit against {strategy} without")
        report_pairs(known, trials.merge(known[RUN].drop_duplicates(), on=["set", "seed"]))


def report_pairs(known, filtered):
    """By limit, over the pairs and over the means of the sets."""
    shares, losses = {}, {}
    for name, trials in (("filtered", filtered), ("known", known)):
        feasible = trials["value"] <= trials["limit"]
        shares[name] = feasible.groupby([trials[n] for n in RUN]).mean()
        # Without a feasible trial it is that of a useless pipeline, 1 - AUROC of 1.
        losses[name] = trials["loss"].where(feasible, 1.0).groupby([trials[n] for n in RUN]).min()
    tables = {
        ("infeasible share", "mean"): 1 - pd.DataFrame(shares).dropna(),
        ("best feasible loss", "median"): pd.DataFrame(losses).dropna(),
    }
    for (title, average), table in tables.items():
        print(f"\n{title}, {average} of {len(table)} pairs")
        rows = {
            limit: {
                **pairs.agg(average),
                "none filtered": (pairs["filtered"] == 1).sum(),
                "none known": (pairs["known"] == 1).sum(),
                **paired_tests(pairs, "filtered").loc["known"],
                **paired_tests(pairs.groupby("set").mean(), "filtered")
                .loc["known", ["better", "worse", "p"]]
                .add_suffix(", sets"),
            }
            for limit, pairs in [*table.groupby("limit"), ("all", table)]
        }
        print(pd.DataFrame(rows).T.round(5).to_string())
        print(table.groupby(["limit", "set"]).mean().unstack().round(4).T.to_string())


# What is run, on which sets, with which strategies, and what is printed
STUDIES = {
    "speed": (
        race,
        ["fri_c2_1000_10", "pc4", "cpu_small", "puma8NH", "wind", "sylvine"],
        ["joint_gp", "skopt", "admm"],
        report_speed,
    ),
    "disparity": (search, WITH_AGES, ["admm"], report_limits),
    "latency": (search, WITH_AGES, ["admm"], report_limits),
    "ensembles": (
        select,
        names(
            "spambase,churn,credit-g,pc4,sylvine,mammography,elevators,ionosphere,bank-additional,"
            "compas,electricity,cpu_act"
        ),
        ["admm"],
        report_pools,
    ),
    "seconds": (search_models, names(SETS_OF["admm_large"]), ["admm"], report_limits),
}


def main():
    parser = make_parser(__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--out", type=Path, required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=names)
    parser.add_argument("--strategies", type=names)
    parser.add_argument("--seeds", type=numbers, default=[0, 1])
    parser.add_argument("--rows", type=int, default=1500, help="at most")
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=45.0, help="of the processor, in speed")
    parser.add_argument("--trial-seconds", type=float, default=10.0, help="limit of one")
    options = parser.parse_args()
    if options.study != "seconds":
        require_data(parser, options)
    study, sets, strategies, report = STUDIES[options.study]
    limits = [np.inf, *LIMITS.get(options.study, [])]
    results = Results(options.out, KEY)
    for run in results.missing(
        options.sets or sets, options.seeds, options.strategies or strategies, limits
    ):
        if options.study == "speed" or run[2] == "admm" or np.isinf(run[3]):
            results.add(run, pd.DataFrame(study(options, *run)))
    report(results.frame)


if __name__ == "__main__":
    main()
