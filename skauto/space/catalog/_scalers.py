"""Scalers of columns."""

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


def none(weight: float = 1.0) -> Component:
    """No scaling."""
    return Component("none", weight=weight)


def standard(weight: float = 1.0) -> Component:
    """Standardisation: mean 0, variance 1."""
    return Component(
        "standard", StandardScaler(), adapt=no_mean_if_sparse, dense_only=False, weight=weight
    )


def min_max(weight: float = 1.0) -> Component:
    """Min-max scaling: minimum 0, maximum 1."""
    return Component("min_max", MinMaxScaler(clip=True), weight=weight)


def quantile_normal() -> Component:
    """Quantile transformation to a normal distribution (`default` space)."""
    return Component(
        "quantile",
        QuantileTransformer(output_distribution="normal"),
        {"n_quantiles": Integer(10, 1000, log=True, default=300)},
        adapt=quantiles_to_rows,
        dense_only=True,  # it refuses sparse columns with negative values
    )


def robust() -> Component:
    """Robust scaling: median 0, difference of two quantiles 1 (auto-sklearn's ranges)."""
    return Component(
        "robust",
        make_robust,
        {
            "q_min": Real(0.001, 0.3, default=0.25),
            "q_max": Real(0.7, 0.999, default=0.75),
        },
        adapt=no_centering_if_sparse,
        handles_missing=True,
    )


def robust_smooth() -> Component:
    """Robust scaling with a smooth clip of outliers (`default` space)."""
    return Component("robust_smooth", RobustSmoothScaler())


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
