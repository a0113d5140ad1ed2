"""
Limits on latency, size and equal opportunity
=============================================

A clinic predicts which patients will miss their appointment and calls them by telephone. Requests
have a hundred patients, and may take a millisecond for each of them. In both districts the same
share of those who would miss their appointment should be called (equal opportunity).
"""

import pickle
import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skauto import ConstrainedAutoClassifier
from skauto.constraints import EqualOpportunity, ModelSize, PredictionLatency
from skauto.plotting import LimitsDisplay

# %%
# The table is generated. Missed appointments in the south depend less on the columns of the table,
# so that fewer of them can be predicted.


def patients(n, seed):
    rng = np.random.default_rng(seed)
    district = rng.choice(["north", "south"], size=n)
    south = district == "south"
    missed_before = rng.poisson(0.8, size=n)
    days_ahead = rng.integers(1, 60, size=n)
    travel = rng.gamma(2.0, 12.0, size=n)
    known = 0.8 * missed_before + 0.04 * days_ahead + 0.01 * travel - 2.0
    miss = np.where(south, 0.75 * known, known) + rng.logistic(scale=0.5, size=n) > 0
    X = pd.DataFrame(
        {
            "missed_before": missed_before,
            "days_ahead": days_ahead,
            "travel_minutes": travel.round(),
            "hour": rng.integers(8, 18, size=n),
            "weekday": rng.choice(["mon", "tue", "wed", "thu", "fri"], size=n),
        }
    )
    return X, np.where(miss, "miss", "come"), district


X, y, district = patients(1500, seed=0)

# %%
# There are three limits. ``EqualOpportunity`` is the difference between the districts in the true
# positive rate. With ``safety_margin="90%"`` it is kept with a confidence of 90% on new patients,
# not only on average over the folds. The district is passed as a sensitive feature, which the
# model does not use.

limits = [
    PredictionLatency(1e-3, batch_size=100),
    ModelSize(5e6),
    EqualOpportunity("district", 0.15, positive_label="miss"),
]
clf = ConstrainedAutoClassifier(
    limits, "random", safety_margin="90%", cv=3, max_evals=8, ensemble_size=5, random_state=0
)
clf.fit(X, y, sensitive_features=district)
print("all limits are kept:", clf.feasible_)

# %%
# Measured values. Seconds and bytes are measured on the fitted model. The difference between the
# districts is measured on the out-of-fold predictions of the members; its bound is the upper end
# of a one-sided confidence interval.

clf.constraint_values_

# %%
LimitsDisplay.from_estimator(clf)
plt.show()

# %%
# The ensemble is deployed as a pickle. Here it is measured on new patients.

deployed = pickle.loads(pickle.dumps(clf.ensemble_))
X_new, y_new, district_new = patients(4000, seed=1)
found = (deployed.predict(X_new) == "miss")[y_new == "miss"]
shares = {name: found[district_new[y_new == "miss"] == name].mean() for name in ("north", "south")}
print(f"found of the missed: north {shares['north']:.1%}, south {shares['south']:.1%}")

started = time.perf_counter()
for start in range(0, 1000, 100):
    deployed.predict_proba(X_new.iloc[start : start + 100])
print(f"{time.perf_counter() - started:.3f} ms for each of a thousand patients")
print(f"accuracy: {np.mean(deployed.predict(X_new) == y_new):.3f}")
