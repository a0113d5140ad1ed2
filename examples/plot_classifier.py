"""
A first search
==============

Fit :class:`~skauto.AutoClassifier` on a small table, look at what it tried, and compare the
ensemble with the best single pipeline.
"""

# %%
# The data
# --------
#
# Wine samples with thirteen measurements, of three growers. Some entries are deleted and one
# column is turned into text, as real tables have it. Nothing needs to be prepared.

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

X, y = load_wine(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
X = X.mask(rng.random(X.shape) < 0.1)
X["hue"] = np.where(X["hue"] > 1, "reddish", "brownish")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
X_train.head()

# %%
# The search
# ----------
#
# Twenty trials. The default pipelines come first, then the strategy takes over.

from skauto import AutoClassifier

clf = AutoClassifier(max_evals=20, random_state=0).fit(X_train, y_train)
print(f"held-out accuracy: {clf.score(X_test, y_test):.3f}")

# %%
# What was tried
# --------------
#
# One row a trial, the best first. ``weight`` is the share of a trial in the ensemble.

clf.leaderboard(top=8)[["trial", "status", "weight", "loss", "cost", "classifier"]]

# %%
# Every trial in its order, and the best loss so far. There are more displays:
# :ref:`sphx_glr_auto_examples_plot_search.py`.

import matplotlib.pyplot as plt

from skauto.plotting import SearchHistoryDisplay

SearchHistoryDisplay.from_estimator(clf)
plt.show()

# %%
# The best single pipeline
# ------------------------
#
# It is an ordinary pipeline, which predicts from the raw table.

print(f"held-out accuracy: {clf.best_estimator_.score(X_test, y_test):.3f}")
clf.best_estimator_
