r"""
ADMM: alternating optimization of algorithms and hyper-parameters
=================================================================

A pipeline has an algorithm for each step, and the hyper-parameters of these algorithms. ADMM [1]_
splits this mixed problem into simpler sub-problems and solves them in turns.
"""

# %%
# One iteration has four parts.
#
# 1. *theta-min* optimizes the hyper-parameters of the present algorithms with a Gaussian process.
#    Integers are relaxed to real numbers, with a quadratic penalty on the distance from integers.
# 2. *delta-min* rounds to the nearest integers in the ranges.
# 3. *z-min* chooses other algorithms at the present hyper-parameters. It is a bandit problem, and
#    Thompson sampling solves it.
# 4. The multipliers of the penalties are updated. Limits on latency, size or error rates enter
#    each sub-problem in the same way, with a penalty and a multiplier.
#
# The search below minimizes an artificial function of pipelines with three steps. The first part
# of each iteration tunes one pipeline; the second one tries others.

import matplotlib.pyplot as plt
import pandas as pd

from skauto import minimize
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.plotting import SearchHistoryDisplay
from skauto.strategies import ADMM

space = make_artificial_space(n_steps=3, n_algorithms=4)
objective = make_artificial_objective(space, seed=3)
result = minimize(
    objective, space, strategy=ADMM(budget=8, growth=0), max_evals=48, random_state=0
)
display = SearchHistoryDisplay.from_history(result.history, by="origin")
display.ax_.set_title("Loss of each trial, by the sub-problem that proposed it")
plt.show()

# %%
# The residuals show the convergence of ADMM. The primal residual is the distance between the
# relaxed and the rounded integers. The dual residual is the distance that the rounded integers
# have moved.

residuals = pd.DataFrame(result.strategy.residuals_).set_index("n_trials")
ax = residuals[["primal", "dual"]].plot(marker="o", figsize=(6, 3))
ax.set(xlabel="trials at the end of the iteration", ylabel="residual")
plt.show()

# %%
# ADMM is the default strategy of :class:`~skauto.ConstrainedAutoClassifier`.
# :class:`~skauto.strategies.ADMM` describes its settings, :doc:`/benchmarks/admm` has
# measurements.
#
# .. [1] S. Liu, P. Ram, D. Vijaykeerthy, D. Bouneffouf, G. Bramble, H. Samulowitz, D. Wang,
#    A. Conn, A. Gray, "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020.
