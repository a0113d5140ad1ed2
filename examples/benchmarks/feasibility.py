"""Are limits kept? Small searches, each judged against all its trials and on new rows.

``python examples/benchmarks/feasibility.py feasible --out feasible.csv`` fits 40 searches under
limits that are drawn at random. Where the result does not keep them, every trial is refitted by
itself: the result must keep the limits whenever a single trial does.

``python examples/benchmarks/feasibility.py held-out --out held_out.csv`` fits 60 searches under a
limit with ``safety_margin="95%"`` and measures the limited value of each feasible result on 20,000
new rows. At most 5% may exceed it.
"""

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _common import Results, make_parser
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skauto import ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import (
    EqualizedOdds,
    EqualOpportunity,
    Evidence,
    FalseNegativeRate,
    FalsePositiveRate,
    ModelSize,
    StatisticalParity,
)
from skauto.exceptions import InfeasibleWarning
from skauto.space import SearchSpace

N_NEW = 20_000


def table(n_rows, seed, n_new=0):
    """A generated table whose column "proxy" tells of a group, with new rows behind the others."""
    rng = np.random.default_rng(seed)
    n = n_rows + n_new
    group = (rng.random(n) < rng.uniform(0.3, 0.5)).astype(int)
    signal = rng.normal(size=(n, 3))
    logit = signal @ rng.normal(size=3) * 1.5 + rng.uniform(0.5, 1.5) * (group - 0.5)
    y = (logit + rng.logistic(size=n) > 0).astype(int)
    proxy = group + rng.uniform(0.3, 1.0) * rng.normal(size=n)
    X = pd.DataFrame(signal, columns=["a", "b", "c"]).assign(proxy=proxy)
    X["noise"] = rng.normal(size=n)
    return X, y, group


def space():
    """Five classifiers of different weight; without balancers nothing but a choice helps."""
    made = SearchSpace(["classifier"])
    made.add("classifier", "gaussian_nb", GaussianNB(), {"var_smoothing": [1e-9, 1e-2, 1.0, 10.0]})
    made.add("classifier", "logistic", LogisticRegression(), {"C": [1e-4, 1e-2, 1.0]})
    made.add("classifier", "knn", KNeighborsClassifier(), {"n_neighbors": [3, 15, 50]})
    made.add("classifier", "tree", DecisionTreeClassifier(), {"max_depth": [1, 3, 6, None]})
    forest = RandomForestClassifier(10, random_state=0)
    return made.add("classifier", "forest", forest, {"max_depth": [2, 5, None]})


def draw_limits(rng):
    """One to three limits that some of the trials keep, and others do not."""
    limits = [
        ModelSize(float(rng.choice([2_500, 5_000, 20_000, 60_000, 200_000]))),
        StatisticalParity("group", float(rng.choice([0.02, 0.1, 0.2, 0.3]))),
        EqualOpportunity("group", float(rng.choice([0.05, 0.1, 0.2]))),
        EqualizedOdds("group", float(rng.choice([0.1, 0.2, 0.3]))),
        FalseNegativeRate(float(rng.choice([0.1, 0.2, 0.3]))),
        FalsePositiveRate(float(rng.choice([0.1, 0.2, 0.3]))),
    ]
    chosen = rng.choice(len(limits), rng.integers(1, 4), replace=False)
    return [limits[i] for i in np.sort(chosen)]


def search(limits, seed, X, y, group, max_evals=6, **settings):
    """A search of a few trials."""
    settings |= {"space": space(), "max_evals": max_evals, "cv": 3, "random_state": seed}
    options = SearchOptions(warm_start=True)  # keeps the predictions of all trials
    clf = ConstrainedAutoClassifier(limits, "random", options=options, **settings)
    groups = {"sensitive_features": group} if any(c.sensitive_names for c in limits) else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleWarning)
        return clf.fit(X, y, **groups)


def feasible(seed):
    """Whether the result keeps its limits, and if not, whether any trial does by itself."""
    rng = np.random.default_rng(seed)
    limits = draw_limits(rng)
    margin = [0.0, 1.0, "90%"][seed % 3]
    data = table(int(rng.integers(300, 700)), seed)
    clf = search(limits, seed, *data, ensemble_size=5, safety_margin=margin)
    one = {"max_evals": 1, "ensemble_size": 1, "safety_margin": margin}
    alone = (search(limits, seed, *data, initial=[t.configuration], **one) for t in clf.history_)
    return {
        "limits": " ".join(f"{c.key}<={c.limit:g}" for c in limits),
        "margin": margin,
        "feasible": clf.feasible_,
        "missed": not clf.feasible_ and any(clf.feasible_ for clf in alone),
        "members": len(clf.member_weights_),
    }


def held_out(seed):
    """Value of a limited difference or rate on new rows."""
    rng = np.random.default_rng(seed)
    kinds = [
        StatisticalParity("group", float(rng.choice([0.05, 0.07, 0.1]))),
        EqualOpportunity("group", float(rng.choice([0.06, 0.08, 0.12]))),
        FalseNegativeRate(float(rng.choice([0.1, 0.13, 0.16]))),
    ]
    limit = kinds[seed % 3]
    X, y, group = table(1500, seed, n_new=N_NEW)
    new = slice(1500, None)
    data = X[:1500], y[:1500], group[:1500]
    clf = search([limit], seed, *data, ensemble_size=5, safety_margin="95%")
    labels = np.eye(2)[np.searchsorted(clf.classes_, clf.predict(X[new]))]
    evidence = Evidence(labels, y[new], clf.classes_, groups={"group": group[new]})
    value = limit.measure(evidence)
    row = clf.constraint_values_.set_index("model").loc["ensemble"]
    return {
        "limit": f"{limit.key}<={limit.limit:g}",
        "feasible": clf.feasible_,
        "bound": row["bound"],
        "by_folds": row["value"],
        "held_out": value,
        "above_bound": value > row["bound"],
        "violated": bool(clf.feasible_ and value > limit.limit),
    }


def main():
    parser = make_parser(__doc__, data=False)
    parser.add_argument("what", choices=["feasible", "held-out"])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=600.0, help="begin no run after these")
    options = parser.parse_args()
    run, n_runs = (feasible, 40) if options.what == "feasible" else (held_out, 60)
    results = Results(options.out, ["seed"])
    started = time.monotonic()
    for (seed,) in results.missing(range(n_runs)):
        if time.monotonic() - started > options.seconds:
            break
        results.add((seed,), run(seed))
    print(results.frame.mean(numeric_only=True))


if __name__ == "__main__":
    main()
