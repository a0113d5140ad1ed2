"""
Credit decisions that treat both sexes alike
============================================

:class:`~skauto.ConstrainedAutoClassifier` looks for the best model within limits. Here a bank
wants to predict who will not pay back. The share of refused women and of refused men may differ by
at most five points, and the whole model may weigh at most two megabytes.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from skauto import ConstrainedAutoClassifier
from skauto.constraints import ModelSize, StatisticalParity

# %%
# A table of applicants is generated. Whether they pay back depends on income, debt and late
# payments, not on the sex; but women have less income in this table, so that a model that never
# sees the sex refuses more of them.

rng = np.random.default_rng(0)
n = 1500
sex = rng.choice(["female", "male"], size=n)
income = rng.lognormal(np.where(sex == "female", 7.5, 7.9), 0.4)
debt = rng.lognormal(8.5, 0.7, size=n)
late_payments = rng.poisson(np.where(debt > 3 * income, 1.5, 0.4))
X = pd.DataFrame(
    {
        "income": income.round(-1),
        "debt": debt.round(-1),
        "late_payments": late_payments,
        "years_employed": rng.gamma(2.0, 4.0, size=n).round(),
        "purpose": rng.choice(["car", "furniture", "education", "business"], size=n),
    }
)
risk = np.log(debt / income) + 0.7 * late_payments - 1.8
y = np.where(risk + rng.logistic(scale=0.4, size=n) > 0, "default", "pays")

X_train, X_test, y_train, y_test, sex_train, sex_test = train_test_split(
    X, y, sex, stratify=y, random_state=0
)

# %%
# The sex is passed along; it is not a feature. ``positive_label`` says which decision must not
# depend on it.

parity = StatisticalParity("sex", 0.05, positive_label="default")
clf = ConstrainedAutoClassifier([parity, ModelSize(2e6)], cv=3, max_evals=25, random_state=0)
clf.fit(X_train, y_train, sensitive_features=sex_train)
labels = clf.predict(X_test)
women, men = ((labels == "default")[sex_test == s].mean() for s in ("female", "male"))
print(f"feasible: {clf.feasible_}, held-out accuracy: {clf.score(X_test, y_test):.3f}")
print(f"refused: {women:.1%} of the women, {men:.1%} of the men")

# %%
# What was measured, for the best single pipeline and for the ensemble:

clf.constraint_values_

# %%
# Every trial by its difference between the sexes and its loss. Where a constraint names a
# sensitive feature, the space offers to weigh the rows by group and class (the balancer
# ``group_weights``), with a strength that is searched for.

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
trials = [trial for trial in clf.history_ if trial.ok]
for weighed, label in ((True, "rows weighed by group and class"), (False, "other balancers")):
    chosen = [t for t in trials if (t.configuration["balancer"] == "group_weights") == weighed]
    values = [trial.constraints[parity.key] for trial in chosen]
    ax.plot(values, [trial.loss for trial in chosen], "o", label=label)
ax.axvline(parity.upper, color="grey", linestyle="--", label="limit")
ax.set(xlabel="difference in the share of refusals", ylabel="1 - accuracy")
ax.legend()
plt.show()
