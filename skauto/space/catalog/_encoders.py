"""Encoders of columns of category codes."""

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Categorical, Integer
from skauto.space.catalog._estimators import CrossFittedTargetEncoder

# One-hot encodings with more cells (160 MB as a dense matrix) are sparse.
_MAX_DENSE_CELLS = 20_000_000


def ordinal() -> Component:
    """Ordinal encoding: passthrough of the category codes."""
    return Component("ordinal")


def one_hot() -> Component:
    """One-hot encoding, with rare categories grouped."""
    return Component(
        "one_hot",
        make_one_hot,
        {
            "max_categories": Integer(5, 100, log=True, default=30),
            "min_frequency": Categorical([None, 0.002, 0.01, 0.05]),
        },
        adapt=adapt_one_hot,
        dense_only=False,
        handles_missing=True,
        handles_categories=True,
    )


def make_one_hot(
    max_categories: int | None = None, min_frequency: float | None = None
) -> ColumnTransformer:
    """Build a one-hot encoder that groups rare categories."""
    return _on_categories(
        "one_hot",
        OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=max_categories,
            min_frequency=min_frequency,
        ),
    )


def target() -> Component:
    """Target encoding with cross-fitting."""
    return Component(
        "target",
        _on_categories("target", CrossFittedTargetEncoder()),
        adapt=_adapt_columns,
        dense_only=True,
        handles_missing=True,
        handles_categories=True,
    )


def _on_categories(name: str, encoder: Any) -> ColumnTransformer:
    """Apply an encoder to the columns that `adapt` sets, and pass the other columns through."""
    return ColumnTransformer(
        [(name, encoder, [])], remainder="passthrough", sparse_threshold=0.0, n_jobs=1
    )


def _adapt_columns(estimator: Any, context: FitContext) -> None:
    ((name, encoder, _),) = estimator.transformers
    estimator.set_params(transformers=[(name, encoder, list(context.categorical))])


def adapt_one_hot(estimator: Any, context: FitContext) -> None:
    """Set the categorical columns; return a sparse matrix if the encoding is wide."""
    _adapt_columns(estimator, context)
    ((_, encoder, _),) = estimator.transformers
    limit = encoder.max_categories or 255
    levels = context.n_levels or (limit,) * len(context.categorical)
    width = sum(min(n, limit) for n in levels)
    wide = width * context.n_samples > _MAX_DENSE_CELLS
    estimator.set_params(sparse_threshold=0.3 if wide or context.sparse else 0.0)
