"""Ablation of the default search: what does each part contribute?

Every variant leaves out one part of the search under a time limit and is fitted on the same rows
(70%) as the whole; ROC AUC and log loss are those of the other rows::

    python examples/benchmarks/ablation.py --data FOLDER --out ablation.csv

FOLDER is that of ``quality.py``. Lines that are in the file already are not run again. The tables
of ``--sets`` should not be among those that judge the search in ``quality.py``, because the result
decides what stays in it.
"""

import warnings
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
from _common import Results, load, make_parser, names, numbers, paired_tests, require_data
from quality import scores
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier
from skauto.space import get_space

SETS = "delta_elevators,cpu_small,pol,puma32H,mnist_10k,led24"
MAX_ROWS = 10_000


class WithoutRungs(AutoClassifier):
    """Every trial is evaluated on all folds."""

    def _evaluator(self, *args):
        evaluator = super()._evaluator(*args)
        evaluator.planner.uses_rungs = False
        return evaluator


class WithoutOutOfBag(AutoClassifier):
    """Forests are fitted once per fold."""

    def _evaluator(self, *args):
        evaluator = super()._evaluator(*args)
        evaluator.out_of_bag = False
        return evaluator


def without(classifier):
    """Return the default space without a classifier."""
    space = get_space("default")
    kept = [c.name for c in space.components("classifier") if c.name != classifier]
    return space.subspace({"classifier": kept})


VARIANTS = {
    "whole": lambda **settings: AutoClassifier(**settings),
    "no predicted seconds": lambda **settings: AutoClassifier(**settings),  # see `fit`
    "no rungs": lambda **settings: WithoutRungs(**settings),
    "no out-of-bag": lambda **settings: WithoutOutOfBag(**settings),
    "no learned order": lambda **settings: AutoClassifier(initial="defaults", **settings),
    "no strategy": lambda **settings: AutoClassifier("random", **settings),
    "no calibration": lambda **settings: AutoClassifier(decision="argmax", **settings),
    "no ensemble": lambda **settings: AutoClassifier(ensemble_size=1, **settings),
    "no LightGBM": lambda **settings: AutoClassifier(space=without("lightgbm"), **settings),
    "no network": lambda **settings: AutoClassifier(space=without("mlp"), **settings),
}


def run(arguments, variant, name, seed):
    """One search, judged on the held-out rows."""
    X, y = load(arguments.data, name, MAX_ROWS)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    n_classes = len(np.unique(y))
    settings = {"time_limit": arguments.time_limit, "n_jobs": arguments.n_jobs}
    scoring = "roc_auc" if n_classes == 2 else "roc_auc_ovr"
    clf = VARIANTS[variant](scoring=scoring, random_state=seed, **settings)
    hidden = patch("skauto.estimators._plan.load_fit_time_model", return_value=None)
    with hidden if variant == "no predicted seconds" else nullcontext():
        clf.fit(X_train, y_train)
    return scores(clf.predict_proba(X_test), clf.classes_, y_test)


def summarize(frame):
    """Print the scores by set, and the difference of each variant from the whole."""
    for score, sign in (("roc_auc", -1), ("log_loss", 1)):
        table = frame.pivot_table(index=["set", "seed"], columns="variant", values=score)
        table = table[[v for v in VARIANTS if v in table]]
        print(f"\n{score}\n{table.round(4).to_string()}")
        if "whole" in table:
            tests = paired_tests(sign * table.dropna(), "whole").round(4)
            print(f"\n{score}, positive: worse without the part\n{tests.to_string()}")


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--out", required=True, help="CSV file that is continued")
    parser.add_argument("--sets", type=names, default=SETS)
    parser.add_argument("--seeds", type=numbers, default=[0])
    parser.add_argument("--variants", type=names, default=list(VARIANTS))
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("--n-jobs", type=int, default=2)
    arguments = parser.parse_args()
    require_data(parser, arguments)
    warnings.simplefilter("ignore")
    results = Results(arguments.out, ["variant", "set", "seed"])
    for name in arguments.sets:
        for key in results.missing(arguments.variants, [name], arguments.seeds):
            results.add(key, run(arguments, *key))
    summarize(results.frame)


if __name__ == "__main__":
    main()
