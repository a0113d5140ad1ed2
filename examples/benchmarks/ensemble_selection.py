"""What greedy ensemble selection should minimise, and from how many candidates.

For each data set and split, 120 cheap random pipelines are fitted on a few hundred rows with five
folds; ensembles of 25 are selected by several rules from their out-of-fold predictions and judged
on the other rows. Printed are the means over all splits of one minus the ROC AUC, error, log loss,
log loss after temperature scaling and number of distinct members, and per measure the mean
difference to the plain rule with its t value. The pools of predictions are kept, so that the
command can be repeated with other rules::

    python examples/benchmarks/ensemble_selection.py --data FOLDER --pools FOLDER

Both arguments name folders; ``--data`` is that of ``quality.py``.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _common import load, make_parser, names, numbers, require_data
from baselines import native, one_hot, ordinal
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as QDA
from sklearn.ensemble import ExtraTreesClassifier as ExtraTrees
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier as KNN
from sklearn.neural_network import MLPClassifier as MLP
from sklearn.svm import SVC
from sklearn.utils.extmath import softmax

from skauto.selection import (
    ErrorLoss,
    LogLoss,
    RocAucLoss,
    SmoothedLoss,
    choose_decision,
    greedy_selection,
)

SETS = (
    "heart-statlog,sonar,ionosphere,titanic,balance-scale,credit-g,pc4,phoneme,spambase,"
    "ringnorm,mammography,segment,vehicle,space_ga"
)
N_CANDIDATES = 120


def best_prefix(losses):
    """Number of members with the smallest loss."""
    return np.argmin(losses) + 1


def until_no_gain(losses):
    """Number of members before the first that does not make the loss smaller."""
    idle = np.flatnonzero(np.diff(losses) >= -1e-12)
    return idle[0] + 1 if len(idle) else len(losses)


RULES = {
    "plain": {},
    **{f"+ {share} log loss": {"share": share} for share in (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1)},
    "25 best": {"pool": 25},
    "50 best": {"pool": 50},
    "25 best, + 0.1": {"pool": 25, "share": 0.1},
    "50 best, + 0.1": {"pool": 50, "share": 0.1},
    "best prefix, + 0.1": {"prefix": best_prefix, "share": 0.1},
    "until no gain, + 0.1": {"prefix": until_no_gain, "share": 0.1},
    "15 members, + 0.1": {"n_members": 15, "share": 0.1},
    "50 members, + 0.1": {"n_members": 50, "share": 0.1},
    "single best": {"n_members": 1},
}


def random_pipeline(rng):
    kind = rng.integers(7)
    if kind <= 1:
        return native(
            LGBMClassifier(
                n_estimators=int(rng.integers(10, 80)),
                learning_rate=10 ** rng.uniform(-1.5, -0.3),
                num_leaves=int(2 ** rng.uniform(1, 5)),
                min_child_samples=int(2 ** rng.uniform(0, 5)),
                colsample_bytree=rng.uniform(0.2, 1),
                subsample=rng.uniform(0.4, 1),
                subsample_freq=1,
                n_jobs=1,
                verbose=-1,
                random_state=int(rng.integers(999)),
            )
        )
    if kind == 2:
        return ordinal(
            ExtraTrees(
                25,
                min_samples_leaf=int(rng.integers(1, 6)),
                max_features=rng.uniform(0.1, 1),
                max_depth=[None, 3, 6][rng.integers(3)],
                random_state=int(rng.integers(999)),
            )
        )
    if kind == 3:
        return one_hot(SVC(C=10 ** rng.uniform(-1, 3), gamma=10 ** rng.uniform(-4, 0)))
    if kind == 4:
        weights = ["uniform", "distance"]
        return one_hot(KNN(int(rng.integers(1, 40)), weights=weights[rng.integers(2)]))
    if kind == 5:
        return one_hot(LogisticRegression(C=10 ** rng.uniform(-4, 2), max_iter=200))
    others = [
        GaussianNB(var_smoothing=10 ** rng.uniform(-9, 0)),
        LDA(solver="lsqr", shrinkage=rng.uniform()),
        QDA(solver="eigen", shrinkage=rng.uniform(0.01, 1)),
        MLP((16,), max_iter=40, learning_rate_init=0.01, random_state=int(rng.integers(999))),
    ]
    return one_hot(others[rng.integers(4)])


def probabilities(model, X):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    margins = model.decision_function(X)
    return softmax(np.c_[-margins, margins] if margins.ndim == 1 else margins)


def split(y, seed):
    """Few rows to learn from and many to judge by."""
    rng, everything = np.random.default_rng(seed), np.arange(len(y))
    known = rng.choice(len(y), 1600, replace=False) if len(y) > 1600 else everything
    rest = np.setdiff1d(everything, known)
    train, test = train_test_split(
        known, test_size=0.2 if len(rest) >= 500 else 0.35, stratify=y[known], random_state=seed
    )
    return (train[:600] if len(rest) >= 500 else train), np.r_[test, rest[:4000]]


def make_pool(X, y, seed):
    """Out-of-fold and held-out predictions of many candidates; the folds' models are averaged."""
    _, y = np.unique(y, return_inverse=True)
    train, test = split(y, seed)
    rng, folds = np.random.default_rng(seed), StratifiedKFold(5, shuffle=True, random_state=0)
    inside, outside = [], []
    while len(inside) < N_CANDIDATES:
        pipeline = random_pipeline(rng)
        known, unknown = np.empty((len(train), y.max() + 1), dtype=np.float32), 0
        try:
            for fit, check in folds.split(train, y[train]):
                model = clone(pipeline).fit(X.iloc[train[fit]], y[train[fit]])
                known[check] = probabilities(model, X.iloc[train[check]])
                unknown = unknown + probabilities(model, X.iloc[test]) / 5
        except Exception:
            continue
        if np.isfinite(known).all() and np.isfinite(unknown).all():
            inside.append(known)
            outside.append(unknown.astype(np.float32))
    return {"P": np.stack(inside), "y": y[train], "Q": np.stack(outside), "yt": y[test]}


def select(predictions, y, loss, share=0.0, pool=None, prefix=len, n_members=25):
    """Weights of the candidates by one rule."""
    loss = SmoothedLoss(loss, share) if share else loss
    best = np.sort(np.argsort(loss(y, predictions), kind="stable")[:pool])
    chosen = greedy_selection(predictions[best], y, loss, n_members)
    members = best[chosen.indices[: prefix(chosen.losses)]]
    return np.bincount(members, minlength=len(predictions)) / len(members)


def judge(pools, loss):
    """Scores of each rule on each pool, (n_rules, n_pools, n_scores)."""
    table = []
    for rule in RULES.values():
        rows = []
        for pool in pools:
            weights = select(pool["P"], pool["y"], loss, **rule)
            mean = np.tensordot(weights, pool["Q"].astype(float), axes=1)[None]
            losses = RocAucLoss(), ErrorLoss(), LogLoss()
            scores = [other(pool["yt"], mean)[0] for other in losses]
            vote = np.tensordot(weights, pool["P"].astype(float), axes=1)
            decision = choose_decision(vote, pool["y"], loss, rng=np.random.default_rng(0))
            scores.append(LogLoss()(pool["yt"], decision.scale(mean[0])[None])[0])
            rows.append([*scores, np.count_nonzero(weights)])
        table.append(rows)
    return np.array(table)


def report(table):
    names = ["1 - ROC AUC", "error", "log loss", "calibrated log loss"]
    frame = pd.DataFrame(table.mean(axis=1), index=list(RULES), columns=[*names, "members"])
    differences = table[1:, :, :-1] - table[0, :, :-1]
    spread = differences.std(axis=1, ddof=1) / np.sqrt(table.shape[1])
    means = differences.mean(axis=1)
    for i, name in enumerate(names):
        cells = [
            f"{m:+.4f} (t {m / s:+.1f})" for m, s in zip(means[:, i], spread[:, i], strict=True)
        ]
        frame[f"{name} - plain"] = ["", *cells]
    print(frame.round(4).to_string())


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--pools", type=Path, required=True, help="folder to keep predictions in")
    parser.add_argument("--sets", type=names, default=names(SETS), help=SETS)
    parser.add_argument("--seeds", type=numbers, default=[0, 1], help="0,1")
    arguments = parser.parse_args()
    require_data(parser, arguments)
    warnings.simplefilter("ignore")
    arguments.pools.mkdir(parents=True, exist_ok=True)
    pools = []
    for name in arguments.sets:
        for seed in arguments.seeds:
            path = arguments.pools / f"{name}_{seed}.npz"
            if not path.exists():
                np.savez_compressed(path, **make_pool(*load(arguments.data, name), seed))
            pools.append(dict(np.load(path)))
    for loss in (RocAucLoss(), ErrorLoss()):
        print(f"\nSelected by {type(loss).__name__}, {len(pools)} pools\n")
        report(judge(pools, loss))


if __name__ == "__main__":
    main()
