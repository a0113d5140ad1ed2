"""Labels of imbalanced tables: most probable class, chosen threshold, the best in hindsight.

For each data set and seed, one search on the training rows (70%) leaves a vote and its out-of-fold
predictions. For each score of labels, offsets are chosen on the out-of-fold predictions and
judged on the held-out rows, beside the most probable class and the threshold that is best on the
held-out rows themselves, which nobody can know::

    python examples/benchmarks/decisions.py --data FOLDER --out decisions.csv

FOLDER is that of ``quality.py``. Tables of more than two classes become one against the rest: the
class whose share is nearest to a tenth. Lines that are in the file already are not run again.
"""

import numpy as np
import pandas as pd
from _common import Results, load, make_parser, names, numbers, require_data
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier
from skauto.selection import choose_decision, get_loss

SETS = "oil_spill,pc3,pc4,page-blocks,mammography,satimage,churn,bank-additional,sick,optdigits"
METRICS = ["f1", "balanced_accuracy", "matthews_corrcoef"]
MAX_ROWS = 6000


def imbalanced(folder, name):
    """The table, and 1 for rows of a rare class."""
    X, y = load(folder, name, MAX_ROWS)
    shares = pd.Series(y).value_counts(normalize=True)
    rare = shares.idxmin() if len(shares) == 2 else (shares - 0.1).abs().idxmin()
    return X, (y == rare).astype(int)


def hindsight(loss, positive, y):
    """Smallest loss over all thresholds, on the rows that judge."""
    thresholds = np.unique(np.concatenate([[-1.0], positive, [2.0]]))
    middles = (thresholds[1:] + thresholds[:-1]) / 2
    labels = positive[None] > middles[:, None]
    blocks = np.array_split(labels.astype(int), max(1, labels.size // 2_000_000))
    return min(loss(y, np.eye(2)[block]).min() for block in blocks)


def run(arguments, name, seed):
    """One search; a line for each score."""
    X, y = imbalanced(arguments.data, name)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    clf = AutoClassifier(
        scoring="neg_log_loss",
        max_evals=arguments.trials,
        cv=5,
        decision="argmax",
        n_jobs=arguments.n_jobs,
        random_state=seed,
    ).fit(X_train, y_train)
    vote = sum(w * clf.history_[n].predictions for n, w in clf.member_weights_.items())
    held_out = clf.predict_proba(X_test)
    lines = []
    for metric in METRICS:
        loss = get_loss(metric, [0, 1])
        decision = choose_decision(vote, y_train, loss, rng=np.random.default_rng(0))
        readings = {"argmax": held_out.argmax(axis=1), "chosen": decision.labels(held_out)}
        scores = {k: 1 - loss(y_test, np.eye(2)[v][None])[0] for k, v in readings.items()}
        best = 1 - hindsight(loss, held_out[:, 1], y_test)
        lines.append(
            {"metric": metric, "positives": y_train.sum(), "threshold": decision.threshold}
            | scores
            | {"hindsight": best}
        )
    return pd.DataFrame(lines)


def summary(frame):
    """Means over the seeds, and the share of the way from argmax to hindsight."""
    columns = ["positives", "threshold", "argmax", "chosen", "hindsight"]
    means = frame.groupby(["metric", "set"], sort=False)[columns].mean()
    total = means.groupby("metric", sort=False).mean()
    total.index = pd.MultiIndex.from_product([total.index, ["mean"]])
    table = pd.concat([means, total])
    table["way"] = (table["chosen"] - table["argmax"]) / (table["hindsight"] - table["argmax"])
    return table.round(3)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--out", required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=names, default=SETS)
    parser.add_argument("--seeds", type=numbers, default="0,1")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--n-jobs", type=int, default=1)
    arguments = parser.parse_args()
    require_data(parser, arguments)
    results = Results(arguments.out, ["set", "seed"])
    for name, seed in results.missing(arguments.sets, arguments.seeds):
        results.add((name, seed), run(arguments, name, seed))
    print(summary(results.frame).to_string())


if __name__ == "__main__":
    main()
