"""
Look into a search
==================

The displays of :mod:`skauto.plotting` show what a search tried, when, and why it chose what it
chose.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from skauto import AutoClassifier
from skauto.plotting import (
    EffectsDisplay,
    EnsembleDisplay,
    SearchHistoryDisplay,
    SearchTreeDisplay,
    TimelineDisplay,
)
from skauto.space.catalog import get_space

X, y = load_wine(return_X_y=True, as_frame=True)
space = get_space("default").subspace(
    {
        "classifier": ["gaussian_nb", "lda", "qda", "k_nearest_neighbors", "logistic_regression"],
        "balancer": ["none"],
    }
)

# %%
# What was tried
# --------------
#
# MOSAIC searches the tree of algorithms. Every trial is a mark, and the line is the best so far.

clf = AutoClassifier("mosaic", space=space, max_evals=40, n_jobs=2, cv=3, random_state=0)
clf.fit(X, y)
SearchHistoryDisplay.from_estimator(clf)
plt.show()

# %%
# When it ran
# -----------
#
# Each bar is a fold of a trial, and each row a worker. Gaps are the time in which the strategy
# thought. A trial that is poor on its first fold ends there: it was stopped.

TimelineDisplay.from_estimator(clf)
plt.show()

# %%
# Where it looked
# ---------------
#
# The more often a branch of the tree was visited, the larger is its mark. Dark branches are good.

SearchTreeDisplay.from_estimator(clf, max_nodes=25)
plt.show()

# %%
# What predicts
# -------------
#
# The members of the ensemble, and how different they are. Members that vote alike add nothing.

EnsembleDisplay.from_estimator(clf)
plt.show()

# %%
# Which algorithms help
# ---------------------
#
# FLASH fits linear models to its trials: what does each algorithm add to the error, and how many
# seconds does it cost?

flash = AutoClassifier("flash", space=space, initial=None, max_evals=40, cv=0.3, random_state=0)
flash.fit(X, y)
EffectsDisplay.from_estimator(flash)
plt.show()

# %%
# The numbers behind a plot are in its ``frame``.

EffectsDisplay.from_estimator(flash).frame.sort_values("loss").head()
