"""
MOSAIC: a tree search over pipelines
====================================

MOSAIC [1]_ chooses the algorithms of a pipeline one after the other, the classifier first. The
choices form a tree: each node is the beginning of a pipeline. Monte-Carlo tree search decides
which branch to explore, and Bayesian optimisation decides which configuration to evaluate below.
"""

# %%
# One random forest predicts the loss of whole configurations. It is used twice.
#
# - *In the tree.* A child is chosen by the median performance of what was evaluated below it, plus
#   a bonus for children that were visited seldom. The bonus is larger where the forest predicts
#   good pipelines.
# - *At the leaf.* Among random configurations below the chosen node and the neighbours of the best
#   one, the largest expected improvement is evaluated.
#
# The search below minimises an artificial function of pipelines with three steps.

import matplotlib.pyplot as plt
import pandas as pd

from skauto import minimize
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.plotting import SearchTreeDisplay
from skauto.strategies import MOSAIC

space = make_artificial_space(n_steps=3, n_algorithms=4)
objective = make_artificial_objective(space, seed=3)
strategy = MOSAIC(n_samples=10, n_candidates=200)
result = minimize(objective, space, strategy=strategy, max_evals=40, random_state=0)

# %%
# The tree that was searched. The size of a mark and the number beside it say how often a node was
# visited; the colour is the median loss below. Good branches are visited more often and have more
# children.

tree = pd.DataFrame(result.strategy.tree_)
SearchTreeDisplay(tree).plot(max_nodes=30)
plt.show()

# %%
# The first decision alone: the search spends its trials on the algorithms whose trials have a
# small loss, and still visits the others.

first = tree[tree["depth"] == 1].sort_values("median")
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
bars = ax.barh(first["algorithm"], first["visits"])
ax.bar_label(bars, [f" median loss {median:.2f}" for median in first["median"]])
ax.set(xlabel="visits", xlim=(0, 1.4 * first["visits"].max()))
ax.invert_yaxis()
plt.show()

# %%
# The settings are documented at :class:`~skauto.strategies.MOSAIC`, the measurements are on the
# page :doc:`/benchmarks/mosaic`. With ``AutoClassifier("mosaic", initial="metalearning")`` the
# search begins with pipelines that were good on similar data sets.
#
# .. [1] H. Rakotoarison, M. Schoenauer, M. Sebag, "Automated Machine Learning with Monte-Carlo
#    Tree Search", IJCAI 2019.
