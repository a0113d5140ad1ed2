"""Imputers of missing values."""

from sklearn.impute import SimpleImputer

from skauto.space._component import Component
from skauto.space._parameters import Categorical


def none() -> Component:
    """Passthrough, for classifiers that handle missing values."""
    return Component("none")


def simple() -> Component:
    """Imputation by the median or mean, with optional missing-value indicators."""
    return Component(
        "simple",
        SimpleImputer(keep_empty_features=True),
        {
            "strategy": Categorical(["median", "mean"]),
            "add_indicator": Categorical([True, False]),
        },
        handles_categories=True,
    )
