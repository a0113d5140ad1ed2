"""Labels of imbalanced tables: most probable class, chosen threshold, the best in hindsight.

For each data set and seed, one search on the training rows (70%) leaves a vote and its out-of-fold
predictions. For each score of labels, offsets are chosen on the out-of-fold predictions and
judged on the held-out rows, beside the most probable class and the threshold that is best on the
held-out rows themselves, which nobody can know::

    python examples/benchmarks/decisions.py --data FOLDER --out decisions.csv

FOLDER is that of ``quality.py``. Tables of more than two classes become one against the rest: the
class whose share is nearest to a tenth. Lines that are in the file already are not run again.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from quality import load
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier
from skauto.selection import choose_decision, get_loss

SETS = [
    "oil_spill",
    "pc3",
    "pc4",
    "page-blocks",
    "mammography",
    "satimage",
    "churn",
    "bank-additional",
    "sick",
    "optdigits",
]
METRICS = ["f1", "balanced_accuracy", "matthews_corrcoef"]
MAX_ROWS = 6000


def imbalanced(folder, name):
    """The table and whether each row is of the rare class."""
    X, y = load(folder, name)
    shares = pd.Series(y).value_counts(normalize=True)
    rare = shares.index[0] if len(shares) == 1 else (shares - 0.1).abs().idxmin()
    positive = (y == (shares.idxmin() if len(shares) == 2 else rare)).astype(int)
    if len(X) > MAX_ROWS:
        X = X.sample(MAX_ROWS, random_state=0)
        positive = positive[X.index]
    return X.reset_index(drop=True), positive


def hindsight(loss, positive, y):
    """Smallest loss over all thresholds, on the rows that judge."""
    thresholds = np.unique(np.concatenate([[-1.0], positive, [2.0]]))
    middles = (thresholds[1:] + thresholds[:-1]) / 2
    labels = positive[None] > middles[:, None]
    blocks = np.array_split(labels.astype(int), max(1, labels.size // 2_000_000))
    return min(loss(y, np.eye(2)[block]).min() for block in blocks)


def run(options, name, seed):
    """One search; a record for each score."""
    X, y = imbalanced(options.data, name)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    clf = AutoClassifier(
        scoring="neg_log_loss",
        max_evals=options.trials,
        cv=5,
        decision="argmax",
        warm_start=True,
        n_jobs=options.n_jobs,
        random_state=seed,
    ).fit(X_train, y_train)
    vote = sum(w * clf.history_[n].predictions for n, w in clf.member_weights_.items())
    held_out = clf.predict_proba(X_test)
    for metric in METRICS:
        loss = get_loss(metric, [0, 1])
        decision = choose_decision(vote, y_train, loss, rng=np.random.default_rng(0))

        def score(labels, loss=loss):
            return 1 - loss(y_test, np.eye(2)[labels][None])[0]

        yield {
            "set": name,
            "seed": seed,
            "metric": metric,
            "positives": int(y_train.sum()),
            "share": y_train.mean(),
            "threshold": decision.threshold,
            "argmax": score(held_out.argmax(axis=1)),
            "chosen": score(decision.labels(held_out)),
            "hindsight": 1 - hindsight(loss, held_out[:, 1], y_test),
        }


def summary(frame):
    """Means over the seeds, and the share of the way from argmax to hindsight."""
    means = frame.groupby(["metric", "set"], sort=False)[["argmax", "chosen", "hindsight"]].mean()
    total = means.groupby("metric", sort=False).mean()
    total.index = pd.MultiIndex.from_product([total.index, ["mean of the sets"]])
    table = pd.concat([means, total])
    table["way"] = (table["chosen"] - table["argmax"]) / (table["hindsight"] - table["argmax"])
    return table.round(3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=SETS)
    parser.add_argument("--seeds", type=lambda t: [int(s) for s in t.split(",")], default=[0, 1])
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
    records = pd.read_csv(options.out).to_dict("records") if options.out.exists() else []
    done = {(record["set"], record["seed"]) for record in records}
    for name in options.sets:
        for seed in options.seeds:
            if (name, seed) in done:
                continue
            records += run(options, name, seed)
            pd.DataFrame(records).to_csv(options.out, index=False, float_format="%.6g")
    print(summary(pd.DataFrame(records)).to_string())


if __name__ == "__main__":
    main()
