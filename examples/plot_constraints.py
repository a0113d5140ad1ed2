"""
Credit decisions with statistical parity
========================================

:class:`~skauto.ConstrainedAutoClassifier` searches the best model under limits. A bank predicts
who will not pay back a credit. The shares of refused women and men may differ by at most five
percentage points (statistical parity), and the model may have at most two megabytes.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from skauto import ConstrainedAutoClassifier
from skauto.constraints import ModelSize, StatisticalParity

# %%
# The table of applicants is generated. Default depends on income, debt and late payments, not on
# the sex. But women have less income in this table, so a model without the sex refuses more of
# them.

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
# The sex is passed as a sensitive feature, which the model does not use. ``positive_label`` is the
# class whose share is compared.

parity = StatisticalParity("sex", 0.05, positive_label="default")
clf = ConstrainedAutoClassifier([parity, ModelSize(2e6)], cv=3, max_evals=10, random_state=0)
clf.fit(X_train, y_train, sensitive_features=sex_train)
labels = clf.predict(X_test)
women, men = ((labels == "default")[sex_test == s].mean() for s in ("female", "male"))
print(f"feasible: {clf.feasible_}, held-out accuracy: {clf.score(X_test, y_test):.3f}")
print(f"refused: {women:.1%} of the women, {men:.1%} of the men")

# %%
# Measured values for the best single pipeline and for the ensemble:

clf.constraint_values_

# %%
# Difference between the sexes and loss of each trial, with the most probable class as label. The
# search ignores this limit, because decision thresholds can keep it afterwards: those of the
# ensemble are chosen so that its difference is below the limit.

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
trials = [trial for trial in clf.history_ if trial.ok]
values = [trial.constraints[parity.key] for trial in trials]
ax.plot(values, [trial.loss for trial in trials], "o", label="trials")
table = clf.constraint_values_.set_index(["model", "constraint"])
ax.axvline(
    table.loc[("ensemble", parity.key), "value"], color="C1", label="ensemble, with its thresholds"
)
ax.axvline(parity.upper, color="gray", linestyle="--", label="limit")
ax.set(xlabel="difference in the share of refusals", ylabel="1 - accuracy")
ax.legend()
plt.show()
