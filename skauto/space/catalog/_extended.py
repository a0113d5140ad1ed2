"""The default space with CatBoost and XGBoost, for searches of minutes."""

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Integer, Real
from skauto.space._space import SearchSpace
from skauto.space.catalog._adapt import rounds_to_data
from skauto.space.catalog._catboost import CatBoostClassifier
from skauto.space.catalog._classifiers import CLASSIFIERS, RAW
from skauto.space.catalog._default import default
from skauto.space.catalog._xgboost import XGBoostClassifier


def _adapt(estimator: Any, context: FitContext) -> None:
    rounds_to_data(estimator, context)
    estimator.set_params(categorical_features=context.categorical)


_BOOSTED_TREES = [
    Component(
        "catboost",
        CatBoostClassifier(),
        {
            "learning_rate": Real(0.02, 0.3, log=True, default=0.06),
            "depth": Integer(4, 8, default=6),
            "l2_leaf_reg": Real(0.1, 30.0, log=True, default=3.0),
            "random_strength": Real(0.1, 10.0, log=True, default=1.0),
            "subsample": Real(0.5, 1.0, default=0.9),
            "rsm": Real(0.3, 1.0, default=0.9),
        },
        adapt=_adapt,
        handles_categories=True,
        cost=8.0,
        prefers=RAW,
        size_parameter="max_rounds",
    ),
    Component(
        "xgboost",
        XGBoostClassifier(),
        {
            "learning_rate": Real(0.02, 0.3, log=True, default=0.1),
            "max_depth": Integer(2, 10, default=6),
            "min_child_weight": Real(0.01, 30.0, log=True, default=1.0),
            "subsample": Real(0.5, 1.0, default=0.9),
            "colsample_bytree": Real(0.3, 1.0, default=0.7),
            "reg_alpha": Real(1e-3, 10.0, log=True, default=0.01),
            "reg_lambda": Real(1e-3, 30.0, log=True, default=1.0),
        },
        adapt=_adapt,
        handles_categories=True,
        cost=4.0,
        prefers=RAW,
        size_parameter="max_rounds",
    ),
]


def extended(sensitive: Iterable[str] = (), vary_size: bool = False) -> SearchSpace:
    """Build the default space with CatBoost and XGBoost, if both are installed."""
    missing = [name for name in ("catboost", "xgboost") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"The space 'extended' needs {' and '.join(missing)}: pip install skauto[extended]"
        )
    return default(sensitive, vary_size, "extended", [*CLASSIFIERS, *_BOOSTED_TREES])
