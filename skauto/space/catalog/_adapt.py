"""Functions that adapt the parameters of an estimator to the data before it is fitted."""

from typing import Any

from skauto.space._component import FitContext


def bound(parameter: str, size: str, estimator: Any, context: FitContext) -> None:
    """Bound an integer parameter by a size of the data, such as ``n_samples``."""
    least = min(getattr(estimator, parameter), getattr(context, size))
    estimator.set_params(**{parameter: least})


def false_if_sparse(parameter: str, estimator: Any, context: FitContext) -> None:
    """Set a parameter to False for sparse columns, which are not centered."""
    if context.sparse:
        estimator.set_params(**{parameter: False})


def exponent_to_columns(estimator: Any, context: FitContext) -> None:
    """Convert a float ``max_features`` p to ``n_features ** p`` columns, at least one."""
    if isinstance(estimator.max_features, float):
        n_columns = max(1, int(context.n_features**estimator.max_features))
        estimator.set_params(max_features=n_columns)


def factor_to_depth(estimator: Any, context: FitContext) -> None:
    """Convert a float ``max_depth`` f to ``f * n_features``, at least one."""
    if isinstance(estimator.max_depth, float):
        estimator.set_params(max_depth=max(1, round(estimator.max_depth * context.n_features)))


def rounds_to_data(estimator: Any, context: FitContext) -> None:
    """Bound the boosting rounds: fewer for many rows, and for many classes (one tree each)."""
    n_trees = 1 if context.n_classes == 2 else context.n_classes
    most = 1000.0 * min(1.0, (20_000 / context.n_samples) ** 0.5) / n_trees**0.5
    estimator.set_params(max_rounds=min(estimator.max_rounds, max(100, round(most))))


def rows_in_bag(estimator: Any, context: FitContext) -> None:
    """Sample at least 10 rows for each tree; LightGBM fails on an empty sample."""
    least = min(1.0, 10 / context.n_samples)
    estimator.set_params(subsample=max(estimator.subsample, least))


def components_to_both(estimator: Any, context: FitContext) -> None:
    """Bound the number of components by the numbers of rows and columns; None means all."""
    if estimator.n_components is not None:
        n_components = min(estimator.n_components, context.n_samples, context.n_features)
        estimator.set_params(n_components=n_components)


def components_below_columns(estimator: Any, context: FitContext) -> None:
    """Bound the number of components by the number of columns minus 1, at least one."""
    n_components = max(1, min(estimator.n_components, context.n_features - 1))
    estimator.set_params(n_components=n_components)
