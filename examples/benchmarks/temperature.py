"""Temperature of the ensemble's probabilities: which value to choose on few rows.

A search on 60% of the rows leaves the out-of-fold predictions of its ensemble. Four temperatures
are judged by the log loss on the other rows: 1 (*none*); the minimum of the out-of-fold log loss,
or 1 if the mean gain is less than its standard error (*minimum*); the value closest to 1 within
two standard errors of the minimum (*chosen*, that of ``choose_temperature``); and the best on the
held-out rows (*hindsight*)::

    python examples/benchmarks/temperature.py --data FOLDER --out temperature.csv

FOLDER is that of ``quality.py``. Classes with fewer than ten rows are left out.
"""

from pathlib import Path

import numpy as np
from _common import Results, load, make_parser, names, numbers, require_data
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier
from skauto.selection import Decision, LogLoss
from skauto.selection._decisions import choose_temperature

SETS = "sonar,ionosphere,balance-scale,hepatitis,glass,autos,fri_c2_1000_10,car,pc3"
SCORINGS = "roc_auc,accuracy"
GRID = np.geomspace(0.2, 5.0, 161)


def large_classes(folder, name):
    """The table without classes of fewer than ten rows."""
    X, y = load(folder, name)
    y = np.asarray(y).astype(str)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = counts[codes] >= 10
    return X[kept], y[kept]


def row_losses(probabilities, y, temperature):
    scaled = Decision(np.zeros(probabilities.shape[1]), temperature).scale(probabilities)
    return -np.log(np.maximum(scaled[np.arange(len(y)), y], 1e-15))


def minimum(probabilities, y):
    """The temperature of the least log loss, or 1 if the gain is within a standard error."""
    losses = [row_losses(probabilities, y, temperature) for temperature in GRID]
    best = int(np.argmin(np.mean(losses, axis=1)))
    gains = row_losses(probabilities, y, 1.0) - losses[best]
    return GRID[best] if gains.mean() > gains.std() / np.sqrt(len(y)) else 1.0


def run(options, name, seed, scoring):
    """Log loss on the held-out rows by each temperature."""
    X, y = large_classes(options.data, name)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, stratify=y, random_state=seed
    )
    if scoring == "roc_auc" and len(np.unique(y)) > 2:
        scoring = "roc_auc_ovr"
    clf = AutoClassifier(
        time_limit=options.time_limit,
        scoring=scoring,
        decision="argmax",
        n_jobs=options.n_jobs,
        random_state=seed,
    ).fit(X_train, y_train)
    vote = sum(w * clf.history_[n].predictions for n, w in clf.member_weights_.items())
    held_out = clf.predict_proba(X_test)
    y_train, y_test = (np.searchsorted(clf.classes_, labels) for labels in (y_train, y_test))
    chosen = choose_temperature(vote, y_train, LogLoss())
    temperatures = {"none": 1.0, "minimum": minimum(vote, y_train), "chosen": chosen}
    found = {k: row_losses(held_out, y_test, t).mean() for k, t in temperatures.items()}
    found["hindsight"] = min(row_losses(held_out, y_test, t).mean() for t in GRID)
    return found | {"rows": len(y_train), "trials": len(clf.history_), "temperature": chosen}


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=names, default=SETS, help=SETS)
    parser.add_argument("--seeds", type=numbers, default="0,1")
    parser.add_argument("--scorings", type=names, default=SCORINGS, help=SCORINGS)
    parser.add_argument("--time-limit", type=float, default=8.0, help="seconds of a search")
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    require_data(parser, options)
    results = Results(options.out, ["set", "seed", "scoring"])
    for key in results.missing(options.sets, options.seeds, options.scorings):
        results.add(key, run(options, *key))
    columns = ["rows", "trials", "none", "minimum", "chosen", "hindsight"]
    means = results.frame.groupby(["scoring", "set"], sort=False)[columns].mean()
    print(means.round(4).to_string())
    relative = means.div(means["none"], axis=0)[columns[3:]] - 1.0
    print((100 * relative.groupby("scoring").mean()).round(1).to_string())


if __name__ == "__main__":
    main()
