"""Imputers: what becomes of missing values."""

from typing import Any

from sklearn.impute import SimpleImputer

from skauto.space._component import Component
from skauto.space._parameters import Categorical


def none(**options: Any) -> Component:
    """Leave missing values to learners that handle them."""
    return Component("none", **options)


def simple(**options: Any) -> Component:
    """Fill in one value a column and, as a choice, mark where it was missing."""
    return Component(
        "simple",
        SimpleImputer(keep_empty_features=True),
        {
            "strategy": Categorical(["median", "mean"]),
            "add_indicator": Categorical([True, False]),
        },
        handles_categories=True,
        **options,
    )
