"""Scalers, feature preprocessors and selectors of auto-sklearn 0.5 (2019).

They are the basis of the spaces of the papers. ``bootstrap`` of the random trees embedding is
excluded, because scikit-learn has removed it. The score chi2 clips negative values at zero, as in
auto-sklearn.
"""

from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import PCA, FastICA, KernelPCA
from sklearn.ensemble import ExtraTreesClassifier, RandomTreesEmbedding
from sklearn.feature_selection import GenericUnivariateSelect, SelectFromModel
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import (
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from skauto.space._component import Component, FitContext
from skauto.space._distributions import as_parameter
from skauto.space._parameters import Integer, Real
from skauto.space.catalog._adapt import (
    bound,
    components_to_both,
    exponent_to_columns,
    false_if_sparse,
)
from skauto.space.catalog._preprocessors import SCORES, make_l1_selector, make_select_percentile
from skauto.space.catalog.papers._auto_sklearn_classifiers import (
    FOREST,
    GAMMA,
    KERNEL_CONDITIONS,
    PENALTY,
    SPLITS,
    TOLERANCE,
)
from skauto.space.catalog.papers._base import NONE, by_name

_UNIT_GAMMA = as_parameter(GAMMA, 1.0)


def _make_robust(q_min: float = 0.25, q_max: float = 0.75, **parameters: Any) -> RobustScaler:
    """Build a robust scaler from quantiles as fractions; scikit-learn takes percentages."""
    return RobustScaler(quantile_range=(100.0 * q_min, 100.0 * q_max), **parameters)


SCALERS = by_name(
    NONE,
    Component("min_max", MinMaxScaler(clip=True)),
    Component("normalize", Normalizer()),
    Component(
        "quantile",
        QuantileTransformer(),
        {
            "n_quantiles": Integer(10, 2000, default=1000),
            "output_distribution": ["uniform", "normal"],
        },
        adapt=partial(bound, "n_quantiles", "n_samples"),
    ),
    Component(
        "robust",
        _make_robust,
        {"q_min": Real(0.001, 0.3, default=0.25), "q_max": Real(0.7, 0.999, default=0.75)},
        adapt=partial(false_if_sparse, "with_centering"),
        handles_missing=True,
    ),
    Component(
        "standard", StandardScaler(), adapt=partial(false_if_sparse, "with_mean"), dense_only=False
    ),
)


def make_extra_trees_selector(**parameters: Any) -> SelectFromModel:
    """Build a selector by the feature importances of extra trees."""
    trees = ExtraTreesClassifier(n_jobs=1, **parameters)
    return SelectFromModel(trees, threshold="mean")


def _adapt_inner_trees(estimator: Any, context: FitContext) -> None:
    exponent_to_columns(estimator.estimator, context)


def make_fast_ica(whiten: bool = False, **parameters: Any) -> FastICA:
    """Build independent component analysis with the whitening of older scikit-learn versions."""
    return FastICA(whiten="arbitrary-variance" if whiten else False, **parameters)


def make_feature_agglomeration(
    pooling_func: str = "mean", **parameters: Any
) -> FeatureAgglomeration:
    """Build a feature agglomeration from the name of its pooling function."""
    function = {"mean": np.mean, "median": np.median, "max": np.max}[pooling_func]
    return FeatureAgglomeration(pooling_func=function, **parameters)


def make_select_rates(
    param: float = 0.1, mode: str = "fpr", score: str = "chi2"
) -> GenericUnivariateSelect:
    """Build a univariate selector from the name of its score."""
    return GenericUnivariateSelect(SCORES[score], mode=mode, param=param)


TRANSFORMERS = by_name(
    NONE,
    Component(
        "extra_trees_preproc",
        make_extra_trees_selector,
        {**FOREST, "bootstrap": [False, True]},
        adapt=_adapt_inner_trees,
    ),
    Component(
        "fast_ica",
        make_fast_ica,
        {
            "algorithm": ["parallel", "deflation"],
            "whiten": [False, True],
            "fun": ["logcosh", "exp", "cube"],
            "n_components": Integer(10, 2000, default=100),
        },
        conditions={"n_components": ("whiten", [True])},
        adapt=components_to_both,
        dense_only=True,
    ),
    Component(
        "feature_agglomeration",
        make_feature_agglomeration,
        {
            "n_clusters": Integer(2, 400, default=25),
            "linkage": ["ward", "complete", "average"],
            "metric": ["euclidean", "manhattan", "cosine"],
            "pooling_func": ["mean", "median", "max"],
        },
        conditions={"metric": ("linkage", ["complete", "average"])},
        adapt=partial(bound, "n_clusters", "n_features"),
        dense_only=True,
    ),
    Component(
        "kernel_pca",
        KernelPCA(remove_zero_eig=True, n_jobs=1),
        {
            "n_components": Integer(10, 2000, default=100),
            "kernel": ["rbf", "poly", "sigmoid", "cosine"],
            "gamma": _UNIT_GAMMA,
            "degree": Integer(2, 5, default=3),
            "coef0": Real(-1.0, 1.0, default=0.0),
        },
        conditions={"gamma": ("kernel", ["rbf", "poly"]), **KERNEL_CONDITIONS},
        adapt=partial(bound, "n_components", "n_samples"),
    ),
    Component(
        "kitchen_sinks",
        RBFSampler(),
        {"gamma": _UNIT_GAMMA, "n_components": Integer(50, 10000, log=True, default=100)},
    ),
    Component("liblinear_svc_preprocessor", make_l1_selector, {"tol": TOLERANCE, "C": PENALTY}),
    Component(
        "nystroem_sampler",
        Nystroem(n_jobs=1),
        {
            "n_components": Integer(50, 10000, log=True, default=100),
            "kernel": ["rbf", "poly", "sigmoid", "cosine"],
            "gamma": GAMMA,
            "degree": Integer(2, 5, default=3),
            "coef0": Real(-1.0, 1.0, default=0.0),
        },
        conditions={"gamma": ("kernel", ["rbf", "poly", "sigmoid"]), **KERNEL_CONDITIONS},
        adapt=partial(bound, "n_components", "n_samples"),
    ),
    Component(
        "pca",
        PCA(svd_solver="full"),
        {"n_components": Real(0.5, 0.9999, default=0.9999), "whiten": [False, True]},
    ),
    Component(
        "polynomial",
        PolynomialFeatures(),
        {
            "degree": Integer(2, 3, default=2),
            "interaction_only": [False, True],
            "include_bias": [True, False],
        },
    ),
    Component(
        "random_trees_embedding",
        RandomTreesEmbedding(n_jobs=1),
        {
            "n_estimators": Integer(10, 100, default=10),
            "max_depth": Integer(2, 10, default=5),
            **SPLITS,
        },
    ),
    Component(
        "select_percentile",
        make_select_percentile,
        {
            "percentile": Real(1.0, 99.0, default=50.0),
            "score": ["chi2", "f_classif", "mutual_information"],
        },
    ),
    Component(
        "select_rates",
        make_select_rates,
        {
            "param": Real(0.01, 0.5, default=0.1),
            "mode": ["fpr", "fdr", "fwe"],
            "score": ["chi2", "f_classif"],
        },
    ),
)
