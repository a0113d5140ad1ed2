"""
What does it cost to treat two groups alike?
============================================

Instead of a limit, you can have the whole trade. With ``strategy="fang_hpo"``,
:class:`~skauto.ConstrainedAutoClassifier` minimises the error and the difference between the
groups at once, and learns from cheap trials on half the rows too.
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
# A table of people who apply for a job is generated. Those who did well are to be found. The
# district decides which school somebody went to, and so the test that the school prepares for.

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
# The constraint states no limit: it is measured and minimised. Logistic regressions are searched;
# the balancer ``group_weights`` weighs the rows by group and class, with a strength that is one of
# the hyper-parameters.

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
    [parity], "fang_hpo", space=space, cv=3, max_evals=40, random_state=0
)
clf.fit(X_train, y_train, sensitive_features=district_train)
clf.pareto_front_[["loss", parity.key, "balancer__strength_district", "classifier__C"]]

# %%
# The search, its front, and the knee, which ``predict`` delegates to; and how the volume that the
# front dominates grew. The point that is worst in both objectives is (1, 1).

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
ParetoFrontDisplay.from_estimator(clf, ax=axes[0])
HypervolumeDisplay.from_estimator(clf, reference=(1, 1), ax=axes[1], cost="rows")
plt.show()

# %%
# Each pipeline of the front is fitted. On held-out rows:


def describe(model):
    """Accuracy, and the share of each district that is chosen."""
    chosen = model.predict(X_test)
    north, south = (chosen[district_test == name].mean() for name in ("north", "south"))
    return f"accuracy {np.mean(chosen == y_test):.3f}, north {north:.0%}, south {south:.0%}"


print("most accurate:     ", describe(clf.select(0)))
print("knee:              ", describe(clf))
print("difference <= 0.1: ", describe(clf.select(StatisticalParity("district", 0.1))))

# %%
# And what it took. The watts of a core are an assumption that you can state.

clf.cost_report(watts_per_core=10).round(3)
