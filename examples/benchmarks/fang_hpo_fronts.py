"""The front of FanG-HPO against fair-by-design methods: Figs. 4-5 of the FanG-HPO paper.

`ConstrainedAutoClassifier` with ``strategy="fang_hpo"`` on the full COMPAS table of the paper,
against fairlearn's reductions and its threshold optimizer. Everything is fitted on 70% of the
rows; error and the difference in the share of positive predictions between African-Americans and
all others are measured on the other 30%. One line a model is appended to a CSV file, methods that
are there already are not run again. The hypervolume of each method's points by reference (1, 1) is
printed::

    python examples/benchmarks/fang_hpo_fronts.py --data FOLDER --max-evals 60 --out fronts.csv

FOLDER holds COMPAS_full.csv.gz. Needs fairlearn; about three minutes.
"""

import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from _common import Results, make_parser, require_data
from fairlearn.metrics import demographic_parity_difference
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ExponentiatedGradient, GridSearch
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from skauto import ConstrainedAutoClassifier
from skauto.constraints import StatisticalParity
from skauto.utils._pareto import hypervolume

TARGET = "two_year_recid"
LIMITS = (0.02, 0.05, 0.1, 0.15, 0.2)
REFERENCE = [1.0, 1.0]


def load_compas(folder):
    """Scaled features, target and the group of each row."""
    table = pd.read_csv(folder / "COMPAS_full.csv.gz")
    y = table.pop(TARGET)
    groups = table["race.African.American"].astype(str).rename("race")
    X = pd.DataFrame(scale(table), columns=table.columns)
    return train_test_split(X, y, groups, test_size=0.3, stratify=y, random_state=0)


def ours(space, max_evals, X, y, groups):
    """Every pipeline of the front of FanG-HPO."""
    clf = ConstrainedAutoClassifier(
        [StatisticalParity("race")],
        "fang_hpo",
        space=space,
        cv=3,
        max_evals=max_evals,
        random_state=0,
    ).fit(X, y, sensitive_features=groups)
    print(clf.cost_report().round(2).to_string())
    for row in range(len(clf.pareto_front_)):
        yield ("knee" if row == clf.selected_ else f"row {row}"), clf.select(row).predict


def exponentiated_gradient(learner, X, y, groups):
    for limit in LIMITS:
        model = ExponentiatedGradient(learner, DemographicParity(difference_bound=limit))
        model.fit(X, y, sensitive_features=groups)
        yield f"difference_bound={limit}", partial(model.predict, random_state=0)


def grid_search(learner, X, y, groups):
    model = GridSearch(learner, DemographicParity(), grid_size=21)
    model.fit(X, y, sensitive_features=groups)
    for number, predictor in enumerate(model.predictors_):
        yield f"point {number}", predictor.predict


def threshold_optimizer(learner, X, y, groups, groups_test):
    model = ThresholdOptimizer(
        estimator=learner, constraints="demographic_parity", predict_method="predict_proba"
    ).fit(X, y, sensitive_features=groups)
    yield "fitted", partial(model.predict, sensitive_features=groups_test, random_state=0)


def run(arguments, results):
    X, X_test, y, y_test, groups, groups_test = load_compas(arguments.data)
    logistic = LogisticRegression(max_iter=1000)
    boosting = LGBMClassifier(verbose=-1, n_jobs=1, random_state=0)
    train, n = (X, y, groups), arguments.max_evals
    methods = {
        "FanG-HPO, networks": lambda: ours("fang_mlp", n, *train),
        "FanG-HPO, pipelines": lambda: ours("default", n, *train),
        "ExponentiatedGradient, LightGBM": lambda: exponentiated_gradient(boosting, *train),
        "GridSearch, logistic": lambda: grid_search(logistic, *train),
        "ThresholdOptimizer, LightGBM": lambda: threshold_optimizer(boosting, *train, groups_test),
    }
    for key in results.missing(methods):
        rows = []
        for name, predict in methods[key[0]]():
            labels = np.asarray(predict(X_test))
            gap = demographic_parity_difference(y_test, labels, sensitive_features=groups_test)
            rows.append({"model": name, "error": np.mean(labels != y_test), "dsp": gap})
        results.add(key, pd.DataFrame(rows))


def report(table):
    """Hypervolume of each method, and its least error within differences."""
    for method, rows in table.groupby("method", sort=False):
        volume = hypervolume(rows[["error", "dsp"]].to_numpy(), REFERENCE)
        least = [rows.error[rows.dsp <= limit].min() for limit in LIMITS]
        texts = "  ".join(f"{error:.3f}" for error in least)
        print(f"{method:32} {len(rows):3} models  hypervolume {volume:.4f}  least error {texts}")


def main():
    warnings.simplefilter("ignore")
    parser = make_parser(__doc__)
    parser.add_argument("--max-evals", type=int, default=60, help="trials of FanG-HPO")
    parser.add_argument("--out", type=Path, default=Path("fang_hpo_fronts.csv"))
    arguments = parser.parse_args()
    require_data(parser, arguments)
    results = Results(arguments.out, ["method"])
    run(arguments, results)
    report(results.frame)


if __name__ == "__main__":
    main()
