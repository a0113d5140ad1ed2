"""Boosted trees of optional packages."""

from typing import Any

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Integer, Real
from skauto.space.catalog._adapt import rounds_to_data
from skauto.space.catalog._catboost import CatBoostClassifier
from skauto.space.catalog._classifiers import RAW
from skauto.space.catalog._xgboost import XGBoostClassifier


def _adapt(estimator: Any, context: FitContext) -> None:
    rounds_to_data(estimator, context)
    estimator.set_params(categorical_features=context.categorical)


CATBOOST = Component(
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
)
XGBOOST = Component(
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
)
