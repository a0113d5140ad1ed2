"""
A model that must be small
==========================

:class:`~skauto.ConstrainedAutoClassifier` looks for the best model within limits. Here the whole
ensemble may weigh at most 200 kB, and may overlook at most a tenth of the malignant tumours.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from skauto import ConstrainedAutoClassifier
from skauto.constraints import FalseNegativeRate, ModelSize

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
malignant = y == 0
X_train, X_test, y_train, y_test = train_test_split(
    X, malignant, stratify=malignant, random_state=0
)
size = ModelSize(200_000)
misses = FalseNegativeRate(0.1)
clf = ConstrainedAutoClassifier(
    [size, misses], scoring="roc_auc", max_evals=15, random_state=0
).fit(X_train, y_train)
print(f"held-out ROC AUC: {clf.score(X_test, y_test):.3f}, feasible: {clf.feasible_}")

# %%
# What was measured, for the best single pipeline and for the ensemble:

clf.constraint_values_

# %%
# Every trial by its size and its loss. Good trials beyond a limit cannot be members.

trials = [trial for trial in clf.history_ if trial.ok]
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for feasible, label in ((True, "within the limits"), (False, "beyond a limit")):
    chosen = [trial for trial in trials if clf.history_.feasible(trial) == feasible]
    sizes = [trial.constraints[size.key] for trial in chosen]
    ax.plot(sizes, [trial.loss for trial in chosen], "o", label=label)
ax.axvline(size.upper, color="grey", linestyle="--", label="size limit")
ax.set(xscale="log", xlabel="bytes", ylabel="1 - ROC AUC")
ax.legend()
plt.show()
