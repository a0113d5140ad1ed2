"""ADMM on real data: against JOPT, random search and forest BO, and within limits.

Rebuilds three results of the ADMM paper (AAAI 2020) at a small scale. Each study adds its runs to
a CSV file, one line a trial, and prints its table; what is there already is not run again::

    python examples/benchmarks/admm_real.py speed --data FOLDER --out speed.csv
    python examples/benchmarks/admm_real.py ranks --data FOLDER --out ranks.csv
    python examples/benchmarks/admm_real.py disparity --data FOLDER --out disparity.csv
    python examples/benchmarks/admm_real.py latency --data FOLDER --out latency.csv

*speed* (Tables A4 and A5) gives ADMM and JOPT the same seconds in the space ``admm_large``.
*ranks* (Fig. 1) compares mean ranks over the trials in the space ``admm_small``. *disparity* and
*latency* (Figs. 2 and 3) compare ADMM that knows a limit with ADMM whose trials are filtered by it
afterwards. The loss is 1 - AUROC on 30% of at most 2,000 rows. FOLDER is that of
``quality.py``.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from quality import listed
from scipy.stats import rankdata

from skauto import ConstrainedAutoClassifier
from skauto.constraints import GroupDisparity, PredictionLatency

AGES = [0, 25, 35, 45, 120]
LIMITS = {"disparity": [0.05, 0.1, 0.15], "latency": [10e-6, 20e-6, 40e-6]}
KEY = ["set", "seed", "strategy", "limit"]


def read(folder, name, max_rows):
    """Table, labels and age groups (None where there is no age)."""
    index = pd.read_csv(folder / "INDEX.csv", keep_default_na=False).set_index("name")
    table = pd.read_csv(folder / index.loc[name, "file"])
    if len(table) > max_rows:
        table = table.sample(max_rows, random_state=0).reset_index(drop=True)
    X, y = table.drop(columns="target"), table["target"].to_numpy()
    categories = listed(X.columns, index.loc[name, "categorical_columns"])
    ages = X.get("age")
    groups = None if ages is None else pd.cut(ages, AGES).astype(str).rename("age_group")
    return X.astype(dict.fromkeys(categories, "category")), y, groups


def constraint_of(study, limit):
    """What is measured in every trial: with an infinite limit for the search that ignores it."""
    if study == "disparity":
        return [GroupDisparity("age_group", metric="roc_auc", upper=limit)]
    return [PredictionLatency(limit)] if study == "latency" else []


def search(options, name, seed, strategy, limit):
    """Trials of one search, one line each."""
    X, y, groups = read(options.data, name, options.rows)
    constraints = constraint_of(options.study, limit)
    clf = ConstrainedAutoClassifier(
        constraints,
        strategy=strategy,
        scoring="roc_auc",
        space="admm_large" if options.study == "speed" else "admm_small",
        initial=None,
        cv=0.3,
        ensemble_size=1,
        on_infeasible="warn",
        time_limit=options.seconds if options.study == "speed" else None,
        max_evals=None if options.study == "speed" else options.trials,
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


def incumbents(runs):
    """Loss of the best trial so far by run: one column a trial."""
    return {key: np.minimum.accumulate(run["loss"].to_numpy()) for key, run in runs}


def report_speed(frame, _):
    """How much sooner ADMM reaches the final loss of JOPT, and how much lower it ends."""
    rows = []
    for (name, seed), runs in frame.groupby(["set", "seed"]):
        jopt, admm = (runs[runs["strategy"] == s] for s in ("joint_gp", "admm"))
        target = jopt["loss"].min()
        begin = jopt.loc[jopt["loss"] <= target, "ended"].min()
        reached = admm.loc[admm["loss"] <= target, "ended"].min()  # NaN where never
        rows.append(
            {
                "set": name,
                "seed": seed,
                "JOPT": target,
                "ADMM": admm["loss"].min(),
                "improvement": 1 - admm["loss"].min() / target,
                "speed-up": 0.0 if np.isnan(reached) else begin / reached,
                "JOPT trials": len(jopt),
                "ADMM trials": len(admm),
            }
        )
    table = pd.DataFrame(rows)
    print(table.round(4).to_string(index=False))
    print(table.groupby("set")[["improvement", "speed-up"]].median().round(3))


def draw_ranks(ranks, strategies, path):
    """Mean rank over the trials."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
    for strategy, curve in zip(strategies, ranks, strict=True):
        ax.plot(np.arange(1, len(curve) + 1), curve, label=strategy)
    ax.set(xlabel="trials", ylabel="mean rank")
    ax.legend()
    figure.savefig(path, dpi=80)


def report_ranks(frame, plot):
    """Mean rank of the strategies over the trials, over sets and seeds; smaller is better."""
    best = incumbents(frame.groupby(["set", "seed", "strategy"]))
    tasks = sorted({key[:2] for key in best})
    strategies = sorted({key[2] for key in best})
    curves = np.array([[best[(*task, s)] for s in strategies] for task in tasks])
    ranks = rankdata(curves, axis=1).mean(axis=0)
    at = np.linspace(0, ranks.shape[1], 6)[1:].astype(int)
    table = pd.DataFrame(ranks[:, at - 1], strategies, [f"{n} trials" for n in at])
    print(f"{len(tasks)} runs a strategy")
    print(table.round(2))
    if plot:
        draw_ranks(ranks, strategies, plot)


def report_limits(frame, _):
    """Share of feasible trials and best feasible loss, with the limit known or not."""
    rows = []
    frame = frame[np.isfinite(frame["loss"])]
    for (name, seed, limit), known in frame[np.isfinite(frame["limit"])].groupby(
        ["set", "seed", "limit"]
    ):
        same = (frame["set"] == name) & (frame["seed"] == seed) & np.isinf(frame["limit"])
        row = {"set": name, "seed": seed, "limit": limit}
        for label, runs in (("unknown", frame[same]), ("known", known)):
            feasible = runs["value"] <= limit
            row[f"share {label}"] = feasible.mean()
            row[f"loss {label}"] = runs.loc[feasible, "loss"].min()
        rows.append(row)
    print(pd.DataFrame(rows).round(4).to_string(index=False))


# Sets, strategies, and what is printed
STUDIES = {
    "speed": (["credit-g", "phoneme", "spambase", "churn"], ["joint_gp", "admm"], report_speed),
    "ranks": (
        ["credit-g", "phoneme", "spambase", "churn", "sylvine", "pc4"],
        ["random", "forest_bo", "admm"],
        report_ranks,
    ),
    "disparity": (["credit-g", "compas"], ["admm"], report_limits),
    "latency": (["credit-g", "compas"], ["admm"], report_limits),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=lambda text: text.split(","))
    parser.add_argument("--seeds", type=lambda t: [int(s) for s in t.split(",")], default=[0, 1])
    parser.add_argument("--rows", type=int, default=2000, help="at most")
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=40.0, help="of every search in speed")
    parser.add_argument("--plot", type=Path, help="PNG file for the ranks")
    options = parser.parse_args()
    sets, strategies, report = STUDIES[options.study]
    limits = [np.inf, *LIMITS.get(options.study, [])]
    frame = pd.read_csv(options.out) if options.out.exists() else pd.DataFrame(columns=KEY)
    done = set(map(str, frame[KEY].drop_duplicates().to_numpy().tolist()))
    for name in options.sets or sets:
        for seed in options.seeds:
            for strategy in strategies:
                for limit in limits:
                    key = [name, seed, strategy, limit]
                    if str(key) in done:
                        continue
                    trials = pd.DataFrame(search(options, name, seed, strategy, limit))
                    print(*key, len(trials), trials["loss"].min(), flush=True)
                    run = trials.assign(**dict(zip(KEY, key, strict=True)))
                    frame = run if frame.empty else pd.concat([frame, run])
                    frame.to_csv(options.out, index=False, float_format="%.6g")
    report(frame, options.plot)


if __name__ == "__main__":
    main()
