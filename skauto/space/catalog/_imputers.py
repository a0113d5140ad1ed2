"""Imputers: what becomes of missing values."""

from collections.abc import Sequence
from typing import Any

from sklearn.impute import SimpleImputer

from skauto.space._component import Component
from skauto.space._parameters import Categorical


def none(**options: Any) -> Component:
    """Leave missing values to learners that handle them."""
    return Component("none", **options)


def simple(strategies: Sequence[str], **options: Any) -> Component:
    """Fill in one value a column, the choice of which is a hyper-parameter."""
    return Component(
        "simple",
        SimpleImputer(keep_empty_features=True),
        {"strategy": Categorical(strategies)},
        handles_categories=True,
        **options,
    )


def simple_with_indicator(**options: Any) -> Component:
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


def fixed(strategy: str) -> Component:
    """Fill in one value a column, of one kind: an algorithm of its own, as in MOSAIC."""
    return Component(
        strategy,
        SimpleImputer(strategy=strategy, keep_empty_features=True),
        handles_categories=True,
    )
