"""
MOSAIC: Monte Carlo tree search over pipelines
==============================================

MOSAIC [1]_ chooses the algorithms of a pipeline one after the other, the classifier first. The
choices form a tree. Monte Carlo tree search selects a branch of the tree, and Bayesian
optimization selects a configuration in this branch.
"""

# %%
# One random forest predicts the loss of whole configurations. It is used twice.
#
# - *In the tree.* A child is selected by the median performance of the trials below it, plus a
#   bonus for children with few visits. The bonus is larger if the forest predicts good pipelines.
# - *At the leaf.* Candidates are random configurations below the node and the neighbors of the
#   best one. The candidate with the largest expected improvement is evaluated.
#
# The search below minimizes an artificial function of pipelines with three steps.

import matplotlib.pyplot as plt
import pandas as pd

from skauto import minimize
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.strategies import MOSAIC

space = make_artificial_space(n_steps=3, n_algorithms=4)
objective = make_artificial_objective(space, seed=3)
strategy = MOSAIC(n_samples=10, n_candidates=200)
result = minimize(objective, space, strategy=strategy, max_evals=40, random_state=0)

# %%
# The search tree: each row is a node, below its parent and indented by its depth. The length of a
# bar is the number of visits, the color is the median loss below the node. Good branches have more
# visits and more children.

tree = pd.DataFrame(result.strategy.tree_)
shown = tree.sort_values(["visits", "depth"], ascending=[False, True]).head(25)
shown = shown.sort_values("node")  # a node is named by its path
names = [
    "    " * d + (a or "all") for d, a in zip(shown["depth"], shown["algorithm"], strict=True)
]
scale = plt.Normalize(shown["median"].min(), shown["median"].quantile(0.9))
fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.barh(range(len(shown)), shown["visits"], color=plt.cm.viridis(scale(shown["median"])))
ax.set_yticks(range(len(shown)), names, ha="left")
ax.tick_params(axis="y", pad=110, length=0)
ax.invert_yaxis()
ax.set(xlabel="visits", xscale="log")
fig.colorbar(plt.cm.ScalarMappable(scale, "viridis"), ax=ax, label="median loss below the node")
plt.show()

# %%
# The first decision: algorithms with a small loss have most trials, but the others are also
# visited.

first = tree[tree["depth"] == 1].sort_values("median")
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
bars = ax.barh(first["algorithm"], first["visits"])
ax.bar_label(bars, [f" median loss {median:.2f}" for median in first["median"]])
ax.set(xlabel="visits", xlim=(0, 1.4 * first["visits"].max()))
ax.invert_yaxis()
plt.show()

# %%
# :class:`~skauto.strategies.MOSAIC` describes the settings, :doc:`/benchmarks/mosaic` has
# measurements. With ``AutoClassifier("mosaic", initial="metalearning")`` the search begins with
# pipelines that were good on similar data sets.
#
# .. [1] H. Rakotoarison, M. Schoenauer, M. Sebag, "Automated Machine Learning with Monte-Carlo
#    Tree Search", IJCAI 2019.
