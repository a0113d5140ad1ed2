"""
Plots of a search
=================

The displays of :mod:`skauto.plotting` show the trials of a search and the ensemble.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from skauto import AutoClassifier
from skauto.plotting import EnsembleDisplay, SearchHistoryDisplay, TimelineDisplay
from skauto.space.catalog import get_space

X, y = load_wine(return_X_y=True, as_frame=True)
space = get_space("default").subspace(
    {
        "classifier": ["gaussian_nb", "lda", "qda", "k_nearest_neighbors", "logistic_regression"],
        "balancer": ["none"],
    }
)

# %%
# Search history
# --------------
#
# Each mark is a trial. The line is the best loss so far.

clf = AutoClassifier("mosaic", space=space, max_evals=30, n_jobs=2, cv=3, random_state=0)
clf.fit(X, y)
SearchHistoryDisplay.from_estimator(clf)
plt.show()

# %%
# Timeline
# --------
#
# Each bar is a fold of a trial, and each row is a worker. In gaps the worker waits for the
# strategy. A trial that is poor on its first fold is stopped.

TimelineDisplay.from_estimator(clf)
plt.show()

# %%
# Ensemble
# --------
#
# The weights of the members, and the diversity of each pair.

EnsembleDisplay.from_estimator(clf)
plt.show()

# %%
# The plotted data are in ``frame``.

SearchHistoryDisplay.from_estimator(clf).frame.tail()
