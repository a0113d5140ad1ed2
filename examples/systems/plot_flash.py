"""
FLASH: linear models first, fine tuning after
=============================================

Most algorithms of a search space are useless on a given data set. FLASH [1]_ removes them with few
trials and tunes what is left.
"""

# %%
# The search has three phases.
#
# 1. *design*: pipelines that teach a linear model most (a D-optimal design). Each algorithm is one
#    coefficient, so that few trials are enough.
# 2. *eips*: a model of the loss and a model of the logarithm of the time give the expected
#    improvement per second of each pipeline. The largest is tried. At the end only the algorithms
#    of the best pipelines stay.
# 3. A fine tuner, Bayesian optimisation with a random forest, searches what is left.
#
# The search below minimises an artificial function of pipelines with three steps of four
# algorithms.

import matplotlib.pyplot as plt
import pandas as pd

from skauto import minimize
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.plotting import EffectsDisplay, SearchHistoryDisplay
from skauto.strategies import FLASH

space = make_artificial_space(n_steps=3, n_algorithms=4)
objective = make_artificial_objective(space, seed=3)
result = minimize(objective, space, strategy=FLASH(r=4), max_evals=48, random_state=0)
display = SearchHistoryDisplay.from_history(result.history, by="origin")
display.ax_.set_title("Loss of each trial, by the phase that proposed it")
plt.show()

# %%
# What the linear models have learnt: the loss and the seconds that each algorithm adds to an
# average trial. The number of its trials is in brackets.

display = EffectsDisplay(pd.DataFrame(result.strategy.effects_)).plot()
plt.show()

# %%
# The algorithms that stayed for the third phase:

result.strategy.kept_

# %%
# The settings are documented at :class:`~skauto.strategies.FLASH`, the measurements are on the
# page :doc:`/benchmarks/flash`.
#
# .. [1] Y. Zhang, M. T. Bahadori, H. Su, J. Sun, "FLASH: Fast Bayesian Optimization for Data
#    Analytic Pipelines", KDD 2016.
