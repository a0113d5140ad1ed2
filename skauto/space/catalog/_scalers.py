"""Scalers of columns."""

from typing import Any

from sklearn.preprocessing import (
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from skauto.space._component import Component
from skauto.space._parameters import Integer, Real
from skauto.space.catalog._adapt import (
    no_centering_if_sparse,
    no_mean_if_sparse,
    quantiles_to_rows,
)
from skauto.space.catalog._robust_smooth import RobustSmoothScaler


def none(name: str = "none", **options: Any) -> Component:
    """No scaling."""
    return Component(name, **options)


def standard(name: str = "standard", **options: Any) -> Component:
    """Standardisation: mean 0, variance 1."""
    return Component(name, StandardScaler(), adapt=no_mean_if_sparse, dense_only=False, **options)


def min_max(name: str = "min_max", **options: Any) -> Component:
    """Min-max scaling: minimum 0, maximum 1."""
    return Component(name, MinMaxScaler(clip=True), **options)


def quantile_normal(name: str = "quantile", **options: Any) -> Component:
    """Quantile transformation to a normal distribution (`default` space)."""
    return Component(
        name,
        QuantileTransformer(output_distribution="normal"),
        {"n_quantiles": Integer(10, 1000, log=True, default=300)},
        adapt=quantiles_to_rows,
        dense_only=True,  # it refuses sparse columns with negative values
        **options,
    )


def robust(name: str = "robust", **options: Any) -> Component:
    """Robust scaling: median 0, difference of two quantiles 1 (auto-sklearn's ranges)."""
    return Component(
        name,
        make_robust,
        {
            "q_min": Real(0.001, 0.3, default=0.25),
            "q_max": Real(0.7, 0.999, default=0.75),
        },
        adapt=no_centering_if_sparse,
        handles_missing=True,
        **options,
    )


def robust_smooth(name: str = "robust_smooth", **options: Any) -> Component:
    """Robust scaling with a smooth clip of outliers (`default` space)."""
    return Component(name, RobustSmoothScaler(), **options)


def make_robust(
    q_min: float = 0.25,
    q_max: float = 0.75,
    with_centering: bool = True,
    with_scaling: bool = True,
) -> RobustScaler:
    """Build a robust scaler from quantiles as fractions; scikit-learn takes percentages."""
    return RobustScaler(
        quantile_range=(100.0 * q_min, 100.0 * q_max),
        with_centering=with_centering,
        with_scaling=with_scaling,
    )
