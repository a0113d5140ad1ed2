"""
Pareto front of error and fairness
==================================

With ``strategy="fang_hpo"``, :class:`~skauto.ConstrainedAutoClassifier` minimizes the error and
the difference between two groups. It also uses cheap trials on half of the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from skauto import ConstrainedAutoClassifier
from skauto.constraints import StatisticalParity
from skauto.plotting import HypervolumeDisplay, ParetoFrontDisplay
from skauto.space import get_space

# %%
# The table of job applicants is generated. The class is whether an applicant did well in the job.
# The score of the test also depends on the district, because its school prepares for the test.

rng = np.random.default_rng(0)
n = 1200
district = rng.choice(["north", "south"], size=n)
skill = rng.normal(size=n)
X = pd.DataFrame(
    {
        "test": skill + 0.9 * (district == "north") + 0.6 * rng.normal(size=n),
        "trial_day": skill + 0.9 * rng.normal(size=n),
        "years_at_school": 10 + rng.integers(0, 4, size=n) + (district == "north"),
        "references": rng.poisson(2.0, size=n),
    }
)
y = skill + 0.4 * (district == "north") + 0.5 * rng.normal(size=n) > 0.2
X_train, X_test, y_train, y_test, district_train, district_test = train_test_split(
    X, y, district, stratify=y, random_state=0
)

# %%
# The constraint has no limit, so it is minimized. The search space has logistic regressions with
# the balancer ``group_weights``, which weights the rows by group and class. Its strength is a
# hyper-parameter.

parity = StatisticalParity("district")
space = get_space("default", sensitive=["district"]).subspace(
    {
        "balancer": "group_weights",
        "transformer": "none",
        "selector": "none",
        "classifier": "logistic_regression",
    }
)
clf = ConstrainedAutoClassifier(
    [parity], "fang_hpo", space=space, cv=3, max_evals=30, random_state=0
)
clf.fit(X_train, y_train, sensitive_features=district_train)
clf.pareto_front_[["loss", parity.key, "balancer__strength_district", "classifier__C"]]

# %%
# Left: the trials, the Pareto front, and its knee, which ``predict`` uses. Right: the hypervolume
# of the front with the reference point (1, 1).

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
ParetoFrontDisplay.from_estimator(clf, ax=axes[0])
HypervolumeDisplay.from_estimator(clf, reference=(1, 1), ax=axes[1], cost="rows")
plt.show()

# %%
# Each pipeline of the front is fitted. Results on held-out rows:


def describe(model):
    """Accuracy, and the share of positive predictions in each district."""
    chosen = model.predict(X_test)
    north, south = (chosen[district_test == name].mean() for name in ("north", "south"))
    return f"accuracy {np.mean(chosen == y_test):.3f}, north {north:.0%}, south {south:.0%}"


print("most accurate:     ", describe(clf.select(0)))
print("knee:              ", describe(clf))
print("difference <= 0.1: ", describe(clf.select(StatisticalParity("district", 0.1))))

# %%
# Cost of the search. The power of a core is an assumption.

clf.cost_report(watts_per_core=10).round(3)
