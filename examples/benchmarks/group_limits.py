"""Thresholds under a limit on a group difference: by observed labels or by expected ones.

For each table and seed, one search on the training rows leaves a vote and its out-of-fold
predictions. Then thresholds are chosen under a limit of a share of the difference that the most
probable class has: once for the smallest error on the observed labels, and once for the smallest
expected error (``expected_labels``). Both are judged on the held-out rows::

    python examples/benchmarks/group_limits.py --data FOLDER --out group_limits.csv

FOLDER is that of ``quality.py``. Lines that are in the file already are not run again.
"""

from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
from _common import Results, load, make_parser, names, numbers, require_data
from scipy.stats import wilcoxon
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB

from skauto import AutoClassifier
from skauto.constraints import EqualOpportunity, Evidence, StatisticalParity
from skauto.constraints._gate import Gate
from skauto.constraints._groups import group_codes
from skauto.data import TableReader
from skauto.data._training import read_training_data
from skauto.ensemble import _decide
from skauto.ensemble._decide import DecisionChooser
from skauto.history import Trial
from skauto.selection import ErrorLoss
from skauto.selection._rates import expected_labels
from skauto.space import SearchSpace, get_space

# Columns that hold groups; none of these pairs judges fairlearn in ``constraints.py``.
GROUPS = {
    "churn": "international_plan",
    "sick": "sex",
    "adult": "race",
    "default_credit_card": "MARRIAGE",
    "credit-g": "personal_status",
    "compas": "age_cat",
    "titanic": "passengerClass",
    "PhishingWebsites": "Shortining_Service",
}
LIMITS = [StatisticalParity, EqualOpportunity]
SHARES = [0.3, 0.6]  # of the difference without a limit
MAX_ROWS = 7000
TARGETS = {"observed": lambda positive, y, weight: y, "expected": expected_labels}
KEY = ["set", "seed", "models", "limit", "share"]


def classifier(models, trials, cv):
    """A search, or naive Bayes alone, whose probabilities are not calibrated."""
    alone = SearchSpace(["imputer", "classifier"]).add("imputer", "simple", SimpleImputer())
    alone.add("classifier", "naive_bayes", GaussianNB())
    settings = {
        "search": {"max_evals": trials},
        "naive_bayes": {"max_evals": 1, "space": alone, "initial": None},
    }
    return AutoClassifier(cv=cv, decision="argmax", random_state=0, **settings[models])


class Task:
    """A fitted vote, what it predicts, and the groups."""

    def __init__(self, folder, name, seed, models, trials):
        X, y = load(folder, name, MAX_ROWS)
        y = np.unique(y, return_inverse=True)[1]
        groups = X[GROUPS[name]].astype(object).fillna("").astype(str).to_numpy()
        codes = group_codes(groups, GROUPS[name])
        train, test = train_test_split(
            np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed
        )
        X_train, self.X_test = (X.iloc[rows].reset_index(drop=True) for rows in (train, test))
        cv = StratifiedKFold(3, shuffle=True, random_state=seed)
        clf = classifier(models, trials, cv).fit(X_train, y[train])
        shares = clf.member_weights_.items()
        self.vote = sum(share * clf.history_[n].predictions for n, share in shares)
        self.held_out = clf.predict_proba(self.X_test)
        reader = TableReader()
        self.data = replace(
            read_training_data(X_train, y[train], {}, reader),
            splits=list(cv.split(X_train, y[train])),
            sensitive={"group": codes[train]},
        )
        self.Z_test, self.y_test = reader.transform(self.X_test), y[test]
        self.groups_test = {"group": codes[test]}

    def judge(self, kind, share):
        """Held-out error and difference of both choices."""
        classes = np.array([0, 1])
        free = Evidence(self.vote, self.data.y, classes, self.data.sensitive)
        constraint = kind("group", share * kind("group").measure(free))
        trial = Trial(
            number=0,
            configuration=get_space("default").default(),
            losses=(0.0,),
            predictions=self.vote,
        )
        rows, record = np.arange(len(self.data.y)), {}
        for target, labels in TARGETS.items():
            with patch.object(_decide, "expected_labels", labels):
                chooser = DecisionChooser(self.data, Gate([constraint], self.data), "auto")
                pair = chooser.choose([trial], np.ones(1), rows, ErrorLoss())
            decision = pair.deployed.at(self.X_test, self.Z_test, self.held_out)
            evidence = Evidence(
                self.held_out, self.y_test, classes, self.groups_test, decision=decision
            )
            record[f"error_{target}"] = np.mean(evidence.labels != self.y_test)
            record[f"value_{target}"] = constraint.measure(evidence)
        return record | {"upper": constraint.limit}


def report(frame):
    """Print means by table, and paired differences over all runs."""
    for models, runs in frame.groupby("models"):
        print(runs.drop(columns=["models", "limit"]).groupby("set").mean().round(4).to_string())
        for column in ("error", "value"):
            difference = runs[f"{column}_expected"] - runs[f"{column}_observed"]
            better, worse = (difference < 0).sum(), (difference > 0).sum()
            p = wilcoxon(difference).pvalue if difference.any() else np.nan
            by_set = difference.groupby(runs["set"]).mean()
            print(
                f"{models}, {column}: {difference.mean():.5f} in {len(runs)} pairs, {better} "
                f"better, {worse} worse, p = {p:.4f}; {(by_set < 0).sum()} sets better, "
                f"{(by_set > 0).sum()} worse"
            )


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--out", type=Path, required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=names, default=list(GROUPS))
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--models", type=names, default=["search", "naive_bayes"])
    parser.add_argument("--trials", type=int, default=12)
    arguments = parser.parse_args()
    require_data(parser, arguments)
    results, kinds = Results(arguments.out, KEY), {kind.__name__: kind for kind in LIMITS}
    for run in product(arguments.sets, arguments.seeds, arguments.models):
        missing = list(results.missing(*([value] for value in run), kinds, SHARES))
        task = Task(arguments.data, *run, arguments.trials) if missing else None
        for key in missing:
            results.add(key, task.judge(kinds[key[3]], key[4]))
    report(results.frame)


if __name__ == "__main__":
    main()
