"""What does a limit on latency cost? A tenth of the latency of the unlimited ensemble.

For each data set and seed, ``AutoClassifier`` is fitted without a limit and its seconds per row
are measured in batches of 100 held-out rows. A tenth of them is the limit of
``ConstrainedAutoClassifier`` and of the other systems: ``infer_limit`` of AutoGluon, and
``pred_time_limit`` of FLAML, one of its metric constraints. Each system is measured in the same
way afterwards. One line a run is appended to a CSV file, and the same command goes on with it::

    python examples/benchmarks/latency.py --data FOLDER --out latency.csv \
        --systems unlimited,limited,autogluon_best,flaml \
        --peers autogluon=ENV/bin/python,flaml=ENV/bin/python

FOLDER is that of ``quality.py``, and so are the environments of the other systems.
"""

import time
from pathlib import Path

import numpy as np
from _common import Results, load, make_parser, names, numbers, paired_tests, require_data
from peers import PEERS
from quality import add_peers, check_systems, fit_peer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import Evidence, PredictionLatency

SETS = "adult,bank-additional,churn,credit-g,default_credit_card,electricity,phoneme,spambase"
SYSTEMS = ["unlimited", "limited"]
KEY = ["dataset", "seed", "system", "time_limit", "n_jobs"]
SHARE = 0.1  # of the latency of the unlimited ensemble
MAX_ROWS = 12_500  # of a data set, a fifth of which are held out


def fit(X, y, limit, settings):
    """Fit without a limit, or within one."""
    if limit is None:
        return AutoClassifier(scoring="roc_auc", **settings).fit(X, y)
    limits = [PredictionLatency(limit)]
    return ConstrainedAutoClassifier(limits, scoring="roc_auc", **settings).fit(X, y)


def measure(system, X, y, limit, seed, time_limit, n_jobs, peers):
    """ROC AUC and latency on held-out rows."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=seed
    )
    settings = {"time_limit": time_limit, "n_jobs": n_jobs}
    if system in PEERS:
        settings |= {"seed": seed, "latency_limit": limit}
        probabilities, costs = fit_peer(system, peers, X_train, y_train, X_test, settings)
        outcome = {"latency": costs["batch_row_s"], "overrun": costs["overrun"]}
    else:
        started = time.perf_counter()
        model = fit(X_train, y_train, limit, settings | {"random_state": seed})
        seconds = time.perf_counter() - started
        probabilities = model.predict_proba(X_test)
        evidence = Evidence(None, y_test, None, X=X_test, model=model)
        outcome = {
            "latency": PredictionLatency().measure(evidence),
            "overrun": max(0.0, seconds - time_limit),
            "feasible": getattr(model, "feasible_", np.nan),
        }
    positive = y_test == np.unique(y)[1]
    return {"roc_auc": roc_auc_score(positive, probabilities[:, 1]), "limit": limit} | outcome


def limit_of(results, key):
    """A tenth of the latency of the unlimited ensemble."""
    unlimited = dict(zip(KEY, key, strict=True)) | {"system": "unlimited"}
    return SHARE * results.frame.set_index(KEY)["latency"][tuple(unlimited.values())]


def run(options, results):
    """Run what is asked for and not yet in the file; the unlimited ensemble first."""
    systems = ["unlimited", *(s for s in options.systems if s != "unlimited")]
    others = systems, [options.time_limit], [options.n_jobs]
    for name in options.sets:
        X, y = load(options.data, name, max_rows=MAX_ROWS)
        for key in results.missing([name], options.seeds, *others):
            _, seed, system, time_limit, n_jobs = key
            limit = None if system == "unlimited" else limit_of(results, key)
            try:
                outcome = measure(system, X, y, limit, seed, time_limit, n_jobs, options.peers)
            except RuntimeError as error:  # of another system
                outcome = {"error": str(error)}
            results.add(key, outcome)


def summarize(frame):
    """Print ROC AUC per set, and its differences from the unlimited ensemble."""
    table = frame.pivot_table(index="dataset", columns="system", values="roc_auc")
    print(f"\nROC AUC, mean over seeds\n{table.round(4).to_string()}")
    share = frame.assign(share=frame["latency"] / frame["limit"])
    share = share.pivot_table(index="dataset", columns="system", values="share", aggfunc="max")
    print(f"\nlatency / limit, largest over seeds\n{share.round(2).to_string()}")
    print("\nLoss of ROC AUC against the unlimited ensemble, over the sets")
    print(paired_tests(-table.dropna(), "unlimited").round(4).to_string())


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--sets", type=names, default=names(SETS), help=SETS)
    parser.add_argument("--seeds", type=numbers, default=[0])
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds a fit")
    add_peers(parser, SYSTEMS)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="CSV file to append to")
    options = parser.parse_args()
    check_systems(parser, options, SYSTEMS)
    require_data(parser, options)
    results = Results(options.out, KEY)
    run(options, results)
    summarize(results.frame)


if __name__ == "__main__":
    main()
