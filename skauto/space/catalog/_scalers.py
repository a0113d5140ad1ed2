"""Scalers: what brings columns onto a common scale."""

from typing import Any

from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from skauto.space._component import Component
from skauto.space._parameters import Categorical, Integer, Real
from skauto.space.catalog._adapt import (
    no_centering_if_sparse,
    no_mean_if_sparse,
    quantiles_to_rows,
)


def none(name: str = "none", **options: Any) -> Component:
    """Leave the columns as they are."""
    return Component(name, **options)


def standard(name: str = "standard", **options: Any) -> Component:
    """Mean 0, variance 1."""
    return Component(name, StandardScaler(), adapt=no_mean_if_sparse, dense_only=False, **options)


def min_max(name: str = "min_max", **options: Any) -> Component:
    """Minimum 0, maximum 1."""
    return Component(name, MinMaxScaler(clip=True), **options)


def normalize(name: str = "normalize", **options: Any) -> Component:
    """Rows of length 1."""
    return Component(name, Normalizer(), **options)


def quantile(name: str = "quantile", **options: Any) -> Component:
    """Uniform or normal distribution, by ranks."""
    return Component(
        name,
        QuantileTransformer(),
        {
            "n_quantiles": Integer(10, 2000, default=1000),
            "output_distribution": Categorical(["uniform", "normal"]),
        },
        adapt=quantiles_to_rows,
        **options,
    )


def quantile_normal(name: str = "quantile", **options: Any) -> Component:
    """Normal distribution, by ranks (`default` space)."""
    return Component(
        name,
        QuantileTransformer(output_distribution="normal"),
        {"n_quantiles": Integer(10, 1000, log=True, default=300)},
        adapt=quantiles_to_rows,
        dense_only=True,  # it refuses sparse columns with negative values
        **options,
    )


def robust(name: str = "robust", **options: Any) -> Component:
    """Median 0, distance of two quantiles 1 (auto-sklearn's ranges)."""
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


def robust_admm(name: str = "robust", **options: Any) -> Component:
    """As `robust`, with two more choices (ADMM counts 2 continuous and 2 discrete)."""
    return Component(
        name,
        make_robust,
        {
            "q_min": Real(0.001, 0.3, default=0.25),
            "q_max": Real(0.7, 0.999, default=0.75),
            "with_centering": Categorical([True, False]),
            "with_scaling": Categorical([True, False]),
        },
        adapt=no_centering_if_sparse,
        handles_missing=True,
        **options,
    )


def make_robust(
    q_min: float = 0.25,
    q_max: float = 0.75,
    with_centering: bool = True,
    with_scaling: bool = True,
) -> RobustScaler:
    """Build a robust scaler from fractions; scikit-learn counts in percent."""
    return RobustScaler(
        quantile_range=(100.0 * q_min, 100.0 * q_max),
        with_centering=with_centering,
        with_scaling=with_scaling,
    )


def binarize(name: str = "binarize", **options: Any) -> Component:
    """Whether a value is positive."""
    return Component(name, Binarizer(), **options)


def bins(name: str = "bins", **options: Any) -> Component:
    """Number of the bin that a value falls into."""
    return Component(
        name,
        KBinsDiscretizer(encode="ordinal"),
        {
            "n_bins": Integer(2, 20, default=5),
            "strategy": Categorical(["quantile", "uniform", "kmeans"]),
        },
        **options,
    )
