"""
FanG-HPO: several objectives and information sources
====================================================

FanG-HPO [1]_ searches the Pareto front of the error and the difference between groups. It saves
time and energy by evaluating many configurations on a part of the rows.
"""

# %%
# An evaluation on all rows is the ground truth. One on half of the rows costs half as much, but it
# can be biased. Each objective has an *augmented* Gaussian process, which is fitted to the ground
# truth and to the cheap evaluations that agree with it. The configuration with the
# largest expected improvement of the hypervolume is proposed. It is evaluated on the source for
# which the product of cost and distance from the augmented model is smallest.
#
# The function below has two conflicting objectives. On half of the rows both have a small bias.

import matplotlib.pyplot as plt

from skauto import minimize
from skauto.plotting import HypervolumeDisplay, ParetoFrontDisplay
from skauto.space import Real, SearchSpace
from skauto.strategies import FanGHPO

space = SearchSpace().add("classifier", "model", parameters={"x": Real(0, 1), "z": Real(0, 1)})


def objective(configuration, fidelity=1.0):
    x, z = configuration.parameters("classifier").values()
    bias = 0.05 * (1 - fidelity)
    return {"error": x**2 + (z - 0.5) ** 2 + bias, "unfairness": (1 - x) ** 2 + z**2 - bias}


result = minimize(
    objective,
    space,
    strategy=FanGHPO(sources=(1.0, 0.5), n_initial=3),
    objectives=("error", "unfairness"),
    max_evals=20,
    random_state=0,
)
n_cheap = sum(trial.fidelity < 1 for trial in result.history)
print(f"{n_cheap} of {len(result.history)} evaluations used half of the rows")

# %%
# Left: all evaluations; small dots are evaluations on half of the rows, which are not part of the
# front. Right: the hypervolume of the front over the cost in evaluations on all rows.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
ParetoFrontDisplay.from_history(result.history, ax=axes[0])
HypervolumeDisplay.from_history(result.history, reference=(1.2, 2.0), cost="rows", ax=axes[1])
plt.show()

# %%
# :ref:`sphx_glr_auto_examples_plot_pareto.py` is the same for a table.
# :class:`~skauto.strategies.FanGHPO` describes the settings, :doc:`/benchmarks/fang_hpo` has
# measurements.
#
# .. [1] A. Candelieri, A. Ponti, F. Archetti, "Fair and Green Hyperparameter Optimization via
#    Multi-objective and Multiple Information Source Bayesian Optimization", 2022.
