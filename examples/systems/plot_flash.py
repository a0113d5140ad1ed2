"""
FLASH: pruning by linear models, then fine tuning
=================================================

On a given data set, most algorithms of a search space are poor. FLASH [1]_ removes them with few
trials and tunes the others.
"""

# %%
# The search has three phases.
#
# 1. *design*: a D-optimal design of pipelines for a linear model. The model has one coefficient
#    for each algorithm, so that few trials are enough.
# 2. *eips*: a model of the loss and a model of the logarithm of the time give the expected
#    improvement per second of each pipeline. The pipeline with the largest value is evaluated. At
#    the end only the algorithms of the best pipelines are kept.
# 3. Fine tuning: Bayesian optimization with a random forest in the remaining space.
#
# The search below minimizes an artificial function of pipelines with three steps of four
# algorithms.

import matplotlib.pyplot as plt
import pandas as pd

from skauto import minimize
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.plotting import SearchHistoryDisplay
from skauto.strategies import FLASH

space = make_artificial_space(n_steps=3, n_algorithms=4)
objective = make_artificial_objective(space, seed=3)
result = minimize(objective, space, strategy=FLASH(r=4), max_evals=48, random_state=0)
display = SearchHistoryDisplay.from_history(result.history, by="origin")
display.ax_.set_title("Loss of each trial, by the phase that proposed it")
plt.show()

# %%
# The coefficients of the linear models: the effect of each algorithm on the loss and the seconds
# of an average trial. Negative effects are improvements.

effects = pd.DataFrame(result.strategy.effects_)
effects = effects[effects["n_trials"] > 0].sort_values(["step", "loss"])
names = effects["step"] + ": " + effects["algorithm"]
fig, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for ax, column in zip(axes, ["loss", "seconds"], strict=True):
    ax.barh(names, effects[column], color=["C0" if v < 0 else "C3" for v in effects[column]])
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set(xlabel=f"change of the {column}")
axes[0].invert_yaxis()
plt.show()

# %%
# The algorithms of the third phase:

result.strategy.kept_

# %%
# :class:`~skauto.strategies.FLASH` describes the settings, :doc:`/benchmarks/flash` has
# measurements.
#
# .. [1] Y. Zhang, M. T. Bahadori, H. Su, J. Sun, "FLASH: Fast Bayesian Optimization for Data
#    Analytic Pipelines", KDD 2016.
