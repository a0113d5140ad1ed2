"""The two search spaces of FanG-HPO: one classifier each.

A. Candelieri, A. Ponti, F. Archetti, "Fair and green hyperparameter optimization via
multi-objective and multiple information source Bayesian optimization", 2022.
"""

from typing import Any

from sklearn.neural_network import MLPClassifier

from skauto.space._component import Component
from skauto.space._parameters import Integer, Real
from skauto.space._space import SearchSpace
from skauto.space.catalog._adapt import rows_in_bag
from skauto.space.catalog.papers._base import make_boosted_trees, paper_space


def make_layered_mlp(
    n_layers: int, layer_1: int, layer_2: int, layer_3: int, layer_4: int, **parameters: Any
) -> MLPClassifier:
    """Build a network of up to four layers."""
    layers = (layer_1, layer_2, layer_3, layer_4)[:n_layers]
    return MLPClassifier(hidden_layer_sizes=layers, **parameters)


_MLP = Component(
    "mlp",
    make_layered_mlp,
    {
        "n_layers": Integer(1, 4, default=1),
        # sizes of unused layers are active, as in the paper
        **{f"layer_{i}": Integer(2, 32, log=True, default=8) for i in range(1, 5)},
        "alpha": Real(1e-6, 1e-1, log=True, default=1e-4),
        "learning_rate_init": Real(1e-6, 1e-1, log=True, default=1e-3),
        "beta_1": Real(1e-3, 0.99, log=True, default=0.9),
        "beta_2": Real(1e-3, 0.99, log=True, default=0.99),
        "tol": Real(1e-5, 1e-2, log=True, default=1e-4),
    },
)

_GRADIENT_BOOSTING = Component(
    "gradient_boosting",
    make_boosted_trees,
    {
        "n_estimators": Integer(1, 256, log=True, default=100),
        "learning_rate": Real(0.01, 1.0, log=True, default=0.1),
        "min_split_gain": Real(0.0, 0.1, default=0.0),
        "reg_alpha": Real(1e-3, 1e3, log=True, default=1e-3),
        "reg_lambda": Real(1e-3, 1e3, log=True, default=1.0),
        "subsample": Real(0.01, 1.0, default=1.0),
        "max_depth": Integer(1, 16, default=6),
    },
    adapt=rows_in_bag,
    handles_missing=True,
)


def fang_mlp() -> SearchSpace:
    """Build FanG-HPO's space of neural networks (Table 2): 10 hyper-parameters."""
    return paper_space("fang_mlp", classifier=[_MLP])


def fang_gbm() -> SearchSpace:
    """Build FanG-HPO's space of boosted trees (Table 3): 7 hyper-parameters.

    LightGBM replaces XGBoost.
    """
    return paper_space("fang_gbm", classifier=[_GRADIENT_BOOSTING])
