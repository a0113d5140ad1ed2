"""Search strategies, one algorithm per file."""

from sklearn.base import clone

from skauto.strategies._admm import ADMM
from skauto.strategies._alternating_bo import AlternatingBO
from skauto.strategies._base import GeneratorStrategy, Observations, Strategy
from skauto.strategies._bayesian import BayesianStrategy
from skauto.strategies._divbo import DivBO
from skauto.strategies._ensemble_evolution import EnsembleEvolution
from skauto.strategies._ensemble_optimization import EnsembleOptimization
from skauto.strategies._fang_hpo import FanGHPO
from skauto.strategies._flash import FLASH
from skauto.strategies._forest_bo import ForestBO
from skauto.strategies._joint_gp import JointGP
from skauto.strategies._mosaic import MOSAIC
from skauto.strategies._parego import ParEGO
from skauto.strategies._random import RandomSearch
from skauto.strategies._rising_bandit import RisingBandit
from skauto.strategies._tpe import TPE
from skauto.utils import closest

STRATEGIES: dict[str, type[Strategy]] = {
    "admm": ADMM,
    "alternating_bo": AlternatingBO,
    "divbo": DivBO,
    "ensemble_optimization": EnsembleOptimization,
    "fang_hpo": FanGHPO,
    "flash": FLASH,
    "forest_bo": ForestBO,
    "joint_gp": JointGP,
    "mosaic": MOSAIC,
    "ensemble_evolution": EnsembleEvolution,
    "parego": ParEGO,
    "random": RandomSearch,
    "rising_bandit": RisingBandit,
    "tpe": TPE,
}


def get_strategy(strategy: str | Strategy, *, also: tuple[str, ...] = ()) -> Strategy:
    """Create a strategy by its name, or clone a strategy object.

    Parameters
    ----------
    strategy : str or Strategy
        A key of ``STRATEGIES``, for default settings, or an object, which is cloned.
    also : tuple of str, default=()
        Further names that the caller allows, for the error message.

    Returns
    -------
    strategy : Strategy
        New object.

    Examples
    --------
    >>> from skauto.strategies import get_strategy
    >>> get_strategy("random")
    RandomSearch()
    """
    if isinstance(strategy, Strategy):
        return clone(strategy)
    if isinstance(strategy, str) and strategy in STRATEGIES:
        return STRATEGIES[strategy]()
    names = sorted((*STRATEGIES, *also))
    message = (
        f"The 'strategy' must be one of {names} or a Strategy object. Got {strategy!r} instead."
    )
    if isinstance(strategy, type) and issubclass(strategy, Strategy):
        raise TypeError(f"{message} Write {strategy.__name__}() to make an object of the class.")
    if isinstance(strategy, str):
        raise ValueError(message + closest(strategy, names))
    raise TypeError(message)


__all__ = [
    "AlternatingBO",
    "ADMM",
    "STRATEGIES",
    "TPE",
    "BayesianStrategy",
    "DivBO",
    "EnsembleEvolution",
    "EnsembleOptimization",
    "FanGHPO",
    "FLASH",
    "ForestBO",
    "GeneratorStrategy",
    "JointGP",
    "MOSAIC",
    "Observations",
    "ParEGO",
    "RandomSearch",
    "RisingBandit",
    "Strategy",
    "get_strategy",
]
