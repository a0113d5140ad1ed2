"""Cheap settings of everything that a contract test runs over."""

from sklearn.base import clone

from skauto.space import SearchSpace, get_space
from skauto.strategies import STRATEGIES, ForestBO, Strategy
from skauto.surrogates import DiversityForest, GaussianProcess

# Settings that make a strategy leave its initial design within a dozen trials and cost little.
# A registered strategy that is not named here is tested with its defaults.
STRATEGY_SETTINGS: dict[str, dict] = {
    # Per second, so that the contract covers that too; "forest_bo" has the default.
    "alternating_bo": {
        "acquisition": "eips",
        "n_initial": 5,
        "n_candidates": 300,
        "n_starts": 3,
    },
    "admm": {"budget": 5, "growth": 2, "n_initial": 3},
    "divbo": {
        "n_initial": 4,
        "n_candidates": 300,
        "diversity_surrogate": DiversityForest(n_trees=5),
    },
    "ensemble_optimization": {"n_members": 3, "n_initial": 4, "n_candidates": 300},
    "fang_hpo": {
        "n_initial": 6,
        "n_candidates": 200,
        "n_starts": 1,
        "surrogate": GaussianProcess(nu=1.5, trend="constant", n_restarts=0),
    },
    "flash": {"n_init": 4, "n_prune": 3, "r": 4, "fine_tuner": "tpe"},
    "forest_bo": {"n_initial": 5, "n_candidates": 300, "n_starts": 3},
    "joint_gp": {"n_initial": 5, "n_candidates": 200, "n_starts": 1},
    "ensemble_evolution": {"population_size": 10, "n_members": 3},
    "mosaic": {"n_samples": 20, "n_candidates": 200, "n_starts": 1, "kappa": 1},
    "parego": {
        "n_initial": 5,
        "n_candidates": 200,
        "n_starts": 1,
        "surrogate": GaussianProcess(n_restarts=0),
    },
    "tpe": {"n_initial": 5},
    "rising_bandit": {
        "n_pulls": 4,
        "strategy": ForestBO(n_initial=3, n_candidates=200, n_starts=1),
    },
}

# Number of objectives of the strategies that are made for several; 1 for all others.
N_OBJECTIVES: dict[str, int] = {"fang_hpo": 2, "parego": 2}

STRATEGY_NAMES = sorted(STRATEGIES)


def make_strategy(name: str) -> Strategy:
    """A registered strategy with cheap settings."""
    return clone(STRATEGIES[name]().set_params(**STRATEGY_SETTINGS.get(name, {})))


def quick_space() -> SearchSpace:
    """A part of the default space that is fitted within milliseconds, also on sparse tables."""
    return get_space("default").subspace(
        {
            "balancer": "none",
            "scaler": ["none", "standard"],
            "transformer": "none",
            "selector": "none",
            "classifier": ["gaussian_nb", "logistic_regression"],
        }
    )
