r"""
DivBO: Bayesian optimization of error and diversity
===================================================

Members of an ensemble should have a small error and different predictions. DivBO [1]_ searches
pipelines that are good *and* differ from the members of the current ensemble.
"""

# %%
# Two models are fitted after each trial. The performance surrogate predicts the loss of a
# configuration. The diversity surrogate predicts how different the predictions of two
# configurations are. Random candidates are ranked by both, and the one with the smallest
#
# .. math:: R_{perf} + w R_{div}, \qquad w = \beta\,(\mathrm{sigmoid}(\tau t) - 1/2)
#
# is evaluated. The weight of diversity is 0 at first and grows with the number of suggestions *t*.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.datasets import make_classification

from skauto import AutoClassifier, SearchOptions
from skauto.selection import pairwise_diversity
from skauto.space.catalog import get_space
from skauto.strategies import DivBO

t = np.arange(50)
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.plot(t, 0.05 * (expit(0.2 * t) - 0.5))
ax.set(xlabel="suggestion t", ylabel="weight of diversity w", title="beta = 0.05, tau = 0.2")
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# A search on generated data. The ensemble is selected greedily among all trials. With
# ``warm_start`` the trials keep their out-of-fold predictions, so that they can be compared here.

X, y = make_classification(400, 10, n_informative=5, flip_y=0.1, random_state=0)
space = get_space("default").subspace(
    {
        "classifier": ["gaussian_nb", "lda", "qda", "k_nearest_neighbors", "svm"],
        "balancer": ["none"],
    }
)
options = SearchOptions(warm_start=True)
strategy = DivBO(n_candidates=300, n_local=10)
clf = AutoClassifier(
    strategy,
    scoring="neg_log_loss",
    space=space,
    cv=2,
    max_evals=25,
    options=options,
    random_state=0,
).fit(X, y)

# %%
# Each point is a trial, by its loss and the distance of its predictions from those of the best
# trial. The members of the ensemble (filled) have a small loss, and some of them are far from the
# best trial.

trials = [trial for trial in clf.history_ if trial.ok]
losses = np.array([trial.loss for trial in trials])
diversity = pairwise_diversity(np.stack([trial.predictions for trial in trials]))
distance = diversity[np.argmin(losses)]
weights = np.array([clf.member_weights_.get(trial.number, 0.0) for trial in trials])
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.scatter(distance, losses, s=30, facecolors="none", edgecolors="0.5", label="trial")
chosen = weights > 0
ax.scatter(distance[chosen], losses[chosen], s=30 + 400 * weights[chosen], label="member")
ax.set(xlabel="distance from the predictions of the best trial", ylabel="log loss", yscale="log")
ax.legend()
plt.show()

# %%
# :class:`~skauto.strategies.DivBO` describes the settings, :doc:`/benchmarks/divbo` has
# measurements.
#
# .. [1] Y. Shen, Y. Lu, Y. Li, Y. Tu, W. Zhang, B. Cui, "DivBO: Diversity-aware CASH for Ensemble
#    Learning", NeurIPS 2022.
