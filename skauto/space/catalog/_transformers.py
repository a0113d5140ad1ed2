"""Transformers: feature construction and dimension reduction."""

from typing import Any

from sklearn.decomposition import PCA
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.preprocessing import PolynomialFeatures

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Categorical, Integer, Real
from skauto.space.catalog._estimators import ScaledGammaNystroem

# Maximum number of polynomial features in the `default` space.
_MAX_POLYNOMIAL_COLUMNS = 3000


def none(weight: float = 1.0) -> Component:
    """No transformation."""
    return Component("none", weight=weight)


def pca() -> Component:
    """Principal components that keep a share of the variance."""
    return Component(
        "pca",
        PCA(svd_solver="full"),
        {
            "n_components": Real(0.5, 0.9999, default=0.99),
            "whiten": Categorical([False, True]),
        },
    )


def quadratic() -> Component:
    """Polynomial features of degree 2, unless they are too many (`default` space)."""
    return Component(
        "polynomial",
        PolynomialFeatures(degree=2, include_bias=False),
        {"interaction_only": Categorical([False, True])},
        adapt=_adapt_quadratic,
    )


def _adapt_quadratic(estimator: Any, context: FitContext) -> None:
    if context.n_features * (context.n_features + 3) / 2 > _MAX_POLYNOMIAL_COLUMNS:
        estimator.set_params(degree=1)


def scaled_nystroem() -> Component:
    """Nystroem features of a Gaussian kernel (`default` space)."""
    return Component(
        "nystroem",
        ScaledGammaNystroem(),
        {
            "gamma": Real(0.01, 10.0, log=True, default=0.5),
            "n_components": Integer(30, 1000, log=True, default=200),
        },
    )


def tree_embedding() -> Component:
    """One-hot encoding of the leaves of random trees (`default` space)."""
    return Component(
        "random_trees_embedding",
        RandomTreesEmbedding(n_jobs=1),
        {
            "n_estimators": Integer(10, 100, log=True, default=50),
            "max_depth": Integer(2, 6, default=4),
        },
    )
