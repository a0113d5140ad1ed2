"""
A first search
==============

Fit :class:`~skauto.AutoClassifier` on a small table, show its trials, and compare the ensemble
with the best single pipeline.
"""

# %%
# The data
# --------
#
# Wine samples of three growers with thirteen measurements. Some entries are deleted and one column
# is replaced by strings. No preparation is needed.

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
# The search has twenty trials. The first ones come from a portfolio, the others from the strategy.

from skauto import AutoClassifier

clf = AutoClassifier(max_evals=20, cv=3, random_state=0).fit(X_train, y_train)
print(f"held-out accuracy: {clf.score(X_test, y_test):.3f}")

# %%
# The leaderboard
# ---------------
#
# The ensemble, then one row for each trial, the best first. ``weight`` is the weight of a trial in
# the ensemble.

clf.leaderboard(top=8)

# %%
# Loss of each trial, and the best loss so far. :ref:`sphx_glr_auto_examples_plot_search.py` has
# more plots.

import matplotlib.pyplot as plt

from skauto.plotting import SearchHistoryDisplay

SearchHistoryDisplay.from_estimator(clf)
plt.show()

# %%
# The best single pipeline
# ------------------------
#
# It is a scikit-learn ``Pipeline`` that predicts from the raw table.

print(f"held-out accuracy: {clf.best_estimator_.score(X_test, y_test):.3f}")
clf.best_estimator_
