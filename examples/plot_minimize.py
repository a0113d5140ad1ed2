"""
Minimize your own function
==========================

:func:`skauto.minimize` runs a strategy on a function of a configuration. Here it compares Bayesian
optimization with a Gaussian process (``joint_gp``, the default without limits) and with a random
forest (``forest_bo``) and random search on a fast artificial objective.
"""

import matplotlib.pyplot as plt
import numpy as np

from skauto import minimize
from skauto.objectives import make_artificial_objective, make_artificial_space

space = make_artificial_space()
n_trials = 40


def best_so_far(strategy: str, seed: int) -> np.ndarray:
    objective = make_artificial_objective(space, seed=seed)
    result = minimize(objective, space, strategy=strategy, max_evals=n_trials, random_state=seed)
    return np.minimum.accumulate([trial.loss for trial in result.history])


# %%
# Median over five objectives. All strategies start from the default configuration.

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
for strategy in ("random", "forest_bo", "joint_gp"):
    curves = [best_so_far(strategy, seed) for seed in range(5)]
    ax.plot(np.arange(1, n_trials + 1), np.median(curves, axis=0), label=strategy)
ax.set(xlabel="trials", ylabel="best loss (median)", yscale="log")
ax.legend()
plt.show()
