"""Transformers and selectors of the papers' spaces.

Ranges are auto-sklearn's (2019), of which MOSAIC's space is a copy, unless a function says
otherwise. Left out: ``bootstrap`` of the random trees embedding, which scikit-learn has lost.
The score chi2 takes negative values for zero, as auto-sklearn does.
"""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import FactorAnalysis, FastICA, KernelPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomTreesEmbedding
from sklearn.feature_selection import (
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
    f_classif,
    mutual_info_classif,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import PolynomialFeatures
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.svm import LinearSVC

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Categorical, Integer, Real
from skauto.space.catalog._adapt import (
    clusters_to_columns,
    components_below_columns,
    components_to_both,
    components_to_columns,
    components_to_rows,
    exponent_to_columns,
    k_to_columns,
)
from skauto.space.catalog._estimators import CrossFeatures
from skauto.space.catalog._transformers import none, pca

_GAMMA = (2.0**-15, 8.0)
_C = (2.0**-5, 2.0**15)


# ------------------------------------------------------------------------------- auto-sklearn 0.5


def extra_trees_selector(name: str = "extra_trees_preproc") -> Component:
    """Keep the columns that extra trees find important."""
    return Component(
        name,
        make_extra_trees_selector,
        {
            "criterion": Categorical(["gini", "entropy"]),
            "max_features": Real(0.0, 1.0, default=0.5),
            "min_samples_split": Integer(2, 20, default=2),
            "min_samples_leaf": Integer(1, 20, default=1),
            "bootstrap": Categorical([False, True]),
        },
        adapt=_adapt_inner_trees,
    )


def make_extra_trees_selector(**parameters: Any) -> SelectFromModel:
    """Build a selector around extra trees."""
    trees = ExtraTreesClassifier(n_estimators=100, n_jobs=1, **parameters)
    return SelectFromModel(trees, threshold="mean")


def _adapt_inner_trees(estimator: Any, context: FitContext) -> None:
    exponent_to_columns(estimator.estimator, context)


def fast_ica(name: str = "fast_ica") -> Component:
    """Independent components."""
    return Component(
        name,
        make_fast_ica,
        {
            "algorithm": Categorical(["parallel", "deflation"]),
            "whiten": Categorical([False, True]),
            "fun": Categorical(["logcosh", "exp", "cube"]),
            "n_components": Integer(10, 2000, default=100),
        },
        conditions={"n_components": ("whiten", [True])},
        adapt=components_to_both,
        dense_only=True,
    )


def make_fast_ica(whiten: bool = False, **parameters: Any) -> FastICA:
    """Build independent component analysis, whitened as in older scikit-learn versions."""
    return FastICA(whiten="arbitrary-variance" if whiten else False, **parameters)


def feature_agglomeration(name: str = "feature_agglomeration") -> Component:
    """Merge similar columns."""
    return Component(
        name,
        make_feature_agglomeration,
        {
            "n_clusters": Integer(2, 400, default=25),
            "linkage": Categorical(["ward", "complete", "average"]),
            "metric": Categorical(["euclidean", "manhattan", "cosine"]),
            "pooling_func": Categorical(["mean", "median", "max"]),
        },
        conditions={"metric": ("linkage", ["complete", "average"])},
        adapt=clusters_to_columns,
        dense_only=True,
    )


def make_feature_agglomeration(
    pooling_func: str = "mean", **parameters: Any
) -> FeatureAgglomeration:
    """Build an agglomeration from the name of its pooling function."""
    function = {"mean": np.mean, "median": np.median, "max": np.max}[pooling_func]
    return FeatureAgglomeration(pooling_func=function, **parameters)


def kernel_pca(name: str = "kernel_pca") -> Component:
    """Principal components in a kernel's space."""
    return Component(
        name,
        KernelPCA(remove_zero_eig=True, n_jobs=1),
        {
            "n_components": Integer(10, 2000, default=100),
            "kernel": Categorical(["rbf", "poly", "sigmoid", "cosine"]),
            "gamma": Real(*_GAMMA, log=True, default=1.0),
            "degree": Integer(2, 5, default=3),
            "coef0": Real(-1.0, 1.0, default=0.0),
        },
        conditions={
            "gamma": ("kernel", ["rbf", "poly"]),
            "degree": ("kernel", ["poly"]),
            "coef0": ("kernel", ["poly", "sigmoid"]),
        },
        adapt=components_to_rows,
    )


def kitchen_sinks(name: str = "kitchen_sinks") -> Component:
    """Random Fourier features of a Gaussian kernel."""
    return Component(
        name,
        RBFSampler(),
        {
            "gamma": Real(*_GAMMA, log=True, default=1.0),
            "n_components": Integer(50, 10000, log=True, default=100),
        },
    )


def linear_svc_selector(name: str = "liblinear_svc_preprocessor") -> Component:
    """Keep the columns to which a sparse linear model gives a weight."""
    return Component(
        name,
        make_linear_svc_selector,
        {
            "tol": Real(1e-5, 1e-1, log=True, default=1e-4),
            "C": Real(*_C, log=True, default=1.0),
        },
    )


def make_linear_svc_selector(**parameters: Any) -> SelectFromModel:
    """Build a selector around a sparse linear support vector machine."""
    return SelectFromModel(LinearSVC(penalty="l1", dual=False, **parameters), threshold="mean")


def nystroem(name: str = "nystroem_sampler") -> Component:
    """Approximate features of a kernel."""
    return Component(
        name,
        Nystroem(n_jobs=1),
        {
            "n_components": Integer(50, 10000, log=True, default=100),
            "kernel": Categorical(["rbf", "poly", "sigmoid", "cosine"]),
            "gamma": Real(*_GAMMA, log=True, default=0.1),
            "degree": Integer(2, 5, default=3),
            "coef0": Real(-1.0, 1.0, default=0.0),
        },
        conditions={
            "gamma": ("kernel", ["rbf", "poly", "sigmoid"]),
            "degree": ("kernel", ["poly"]),
            "coef0": ("kernel", ["poly", "sigmoid"]),
        },
        adapt=components_to_rows,
    )


def polynomial(name: str = "polynomial") -> Component:
    """Products of columns."""
    return Component(
        name,
        PolynomialFeatures(),
        {
            "degree": Integer(2, 3, default=2),
            "interaction_only": Categorical([False, True]),
            "include_bias": Categorical([True, False]),
        },
    )


def random_trees_embedding(name: str = "random_trees_embedding") -> Component:
    """Leaves of random trees, one column a leaf."""
    return Component(
        name,
        RandomTreesEmbedding(n_jobs=1),
        {
            "n_estimators": Integer(10, 100, default=10),
            "max_depth": Integer(2, 10, default=5),
            "min_samples_split": Integer(2, 20, default=2),
            "min_samples_leaf": Integer(1, 20, default=1),
        },
    )


def chi2_of_positive_part(X: Any, y: Any) -> Any:
    """Compute the score chi2, negative values counting as zero."""
    positive = X.maximum(0) if hasattr(X, "maximum") else np.maximum(X, 0)
    return chi2(positive, y)


_SCORES = {
    "chi2": chi2_of_positive_part,
    "f_classif": f_classif,
    "mutual_information": partial(mutual_info_classif, random_state=0),
}


def select_percentile(name: str = "select_percentile") -> Component:
    """Keep a share of the columns, the best by themselves."""
    return Component(
        name,
        make_select_percentile,
        {
            "percentile": Real(1.0, 99.0, default=50.0),
            "score": Categorical(["chi2", "f_classif", "mutual_information"]),
        },
    )


def make_select_percentile(percentile: float = 50.0, score: str = "chi2") -> SelectPercentile:
    """Build a selector from the name of its score."""
    return SelectPercentile(_SCORES[score], percentile=percentile)


def select_rates(name: str = "select_rates") -> Component:
    """Keep columns by a test of each."""
    return Component(
        name,
        make_select_rates,
        {
            "param": Real(0.01, 0.5, default=0.1),
            "mode": Categorical(["fpr", "fdr", "fwe"]),
            "score": Categorical(["chi2", "f_classif"]),
        },
    )


def make_select_rates(
    param: float = 0.1, mode: str = "fpr", score: str = "chi2"
) -> GenericUnivariateSelect:
    """Build a selector from the name of its score."""
    return GenericUnivariateSelect(_SCORES[score], mode=mode, param=param)


def mosaic_transformers() -> list[Component]:
    """The 13 feature preprocessors of MOSAIC.

    Returns
    -------
    list of Component
        "none" first, then in alphabetical order.
    """
    return [
        none(),
        extra_trees_selector(),
        fast_ica(),
        feature_agglomeration(),
        kernel_pca(),
        kitchen_sinks(),
        linear_svc_selector(),
        nystroem(),
        pca(),
        polynomial(),
        random_trees_embedding(),
        select_percentile(),
        select_rates(),
    ]


# ------------------------------------------------------------------------------------------ FLASH


def flash_transformers() -> list[Component]:
    """The 13 feature preprocessors of FLASH (its public space).

    Kernels have hyper-parameters of their own; linkage and metric are one choice.

    Returns
    -------
    list of Component
        "none" first, then in the order of the paper's Table 5.
    """
    return [
        none(),
        extra_trees_selector(),
        fast_ica(),
        feature_agglomeration().vary(
            {"kind": Categorical(list(_LINKAGES))},
            drop=["linkage", "metric"],
            estimator=make_flash_agglomeration,
        ),
        _with_kernel_parameters(kernel_pca(), ["rbf", "poly"], default_gamma=1.0),
        kitchen_sinks().vary({"gamma": Real(0.3, 2.0, default=1.0)}),
        linear_svc_selector(),
        _with_kernel_parameters(
            nystroem().vary({"kernel": Categorical(["rbf", "poly", "sigmoid", "cosine", "chi2"])}),
            ["rbf", "poly", "sigmoid", "chi2"],
            default_gamma=0.1,
        ),
        pca(),
        polynomial(),
        random_trees_embedding(),
        select_percentile().vary({"score": Categorical(["chi2", "f_classif"])}),
        select_rates(),
    ]


_LINKAGES = {
    "ward": {"linkage": "ward", "metric": "euclidean"},
    **{
        f"{linkage}_{metric}": {"linkage": linkage, "metric": metric}
        for linkage in ("complete", "average")
        for metric in ("euclidean", "manhattan", "cosine")
    },
}


def make_flash_agglomeration(kind: str = "ward", **parameters: Any) -> FeatureAgglomeration:
    """Build an agglomeration from the joint name of linkage and metric."""
    return make_feature_agglomeration(**_LINKAGES[kind], **parameters)


def _with_kernel_parameters(
    component: Component, with_gamma: list[str], default_gamma: float
) -> Component:
    """Give each kernel its own gamma and coef0."""
    gammas = {
        f"gamma_{kernel}": Real(*_GAMMA, log=True, default=default_gamma) for kernel in with_gamma
    }
    offsets = {f"coef0_{kernel}": Real(-1.0, 1.0, default=0.0) for kernel in ("poly", "sigmoid")}
    conditions = {key: ("kernel", [key.rpartition("_")[2]]) for key in (*gammas, *offsets)}
    return component.vary(
        {**gammas, **offsets},
        drop=["gamma", "coef0"],
        conditions={"degree": ("kernel", ["poly"]), **conditions},
        estimator=partial(make_kernel_method, component.estimator),
    )


def make_kernel_method(prototype: Any, **parameters: Any) -> Any:
    """Build a kernel method from hyper-parameters that are named after their kernels."""
    plain = {}
    for key, value in parameters.items():
        plain[key.partition("_")[0] if key.startswith(("gamma_", "coef0_")) else key] = value
    return clone(prototype).set_params(**plain)


# ------------------------------------------------------------------------------------------ DivBO


def truncated_svd(name: str = "truncated_svd") -> Component:
    """Leading singular vectors."""
    return Component(
        name,
        TruncatedSVD(),
        {"n_components": Integer(10, 256, default=128)},
        adapt=components_below_columns,
    )


def lda_decomposer(name: str = "lda_decomposer") -> Component:
    """Directions that separate the classes."""
    return Component(
        name,
        make_lda_decomposer,
        {"shrinkage": Categorical(["none", "auto"])},
        dense_only=True,
    )


def make_lda_decomposer(shrinkage: str = "none") -> LinearDiscriminantAnalysis:
    """Build the transformer; of the solvers with shrinkage only one can transform."""
    if shrinkage == "none":
        return LinearDiscriminantAnalysis(solver="svd")
    return LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")


def cross_features(name: str = "cross_features") -> Component:
    """Products of pairs of categories, drawn at random where they are many."""
    return Component(
        name, CrossFeatures(), {"seed": Integer(1, 100_000, default=1)}, dense_only=True
    )


def divbo_transformers() -> list[Component]:
    """The 15 feature preprocessors of DivBO (from mindware), and none.

    Returns
    -------
    list of Component
        "none" first, then in the order of the paper's Table 7.
    """
    return [
        none(),
        cross_features(),
        fast_ica(),
        feature_agglomeration(),
        kernel_pca(),
        kitchen_sinks().vary({"n_components": Integer(50, 5000, log=True, default=100)}),
        lda_decomposer(),
        nystroem().vary(
            {
                "n_components": Integer(50, 5000, log=True, default=100),
                "kernel": Categorical(["rbf", "poly", "sigmoid", "cosine", "chi2"]),
            },
            conditions={
                "gamma": ("kernel", ["rbf", "poly", "sigmoid", "chi2"]),
                "degree": ("kernel", ["poly"]),
                "coef0": ("kernel", ["poly", "sigmoid"]),
            },
        ),
        pca(),
        polynomial().vary({"include_bias": Categorical([False])}),
        random_trees_embedding().vary(adapt=_shallow_if_many_rows),
        truncated_svd(),
        select_percentile().vary(
            {
                "percentile": Real(5.0, 99.0, default=50.0),
                "score": Categorical(["chi2", "f_classif"]),
            }
        ),
        select_rates(),
        extra_trees_selector(),
        linear_svc_selector(),
    ]


def _shallow_if_many_rows(estimator: Any, context: FitContext) -> None:
    if context.n_samples > 5000:
        estimator.set_params(max_depth=min(estimator.max_depth, 6))


# ------------------------------------------------------------------------------------------- ADMM


def admm_transformers() -> list[Component]:
    """The 11 transformers of ADMM's larger space.

    The paper prints how many hyper-parameters each has; names and ranges are auto-sklearn's, or
    ours where that has none.

    Returns
    -------
    list of Component
        In the order of the paper's Table A2.
    """
    few = Integer(2, 100, default=20)
    return [
        none(),
        Component(
            "sparse_random_projection",
            SparseRandomProjection(n_components=20),
            {"density": Real(0.05, 1.0, log=True, default=0.3), "n_components": few},
            adapt=components_to_columns,
        ),
        Component(
            "gaussian_random_projection",
            GaussianRandomProjection(n_components=20),
            {"n_components": few},
            adapt=components_to_columns,
        ),
        kitchen_sinks("rbf_sampler"),
        nystroem("nystroem"),
        truncated_svd().vary({"n_iter": Integer(2, 10, default=5)}),
        kernel_pca().vary({"remove_zero_eig": Categorical([True, False])}),
        fast_ica().vary({"max_iter": Integer(200, 1000, default=200)}),
        Component(
            "factor_analysis",
            FactorAnalysis(random_state=None),
            {
                "n_components": few,
                "max_iter": Integer(100, 1000, default=1000),
                "svd_method": Categorical(["randomized", "lapack"]),
            },
            adapt=components_to_both,
        ),
        pca(),
        polynomial(),
    ]


def admm_selectors() -> list[Component]:
    """The seven selectors of ADMM's larger space.

    The paper prints six. `SelectKBest` with a fixed k is ours: with it the number of pipelines is
    the printed one, and so is the number of hyper-parameters.

    Returns
    -------
    list of Component
        In the order of the paper's Table A2.
    """
    alpha = {"alpha": Real(0.01, 0.5, default=0.1)}
    return [
        none(),
        Component(
            "select_percentile", SelectPercentile(), {"percentile": Integer(1, 99, default=50)}
        ),
        Component("select_fpr", SelectFpr(), alpha),
        Component("select_fdr", SelectFdr(), alpha),
        Component("select_fwe", SelectFwe(), alpha),
        Component(
            "variance_threshold",
            VarianceThreshold(),
            {"threshold": Real(0.0, 0.2, default=0.0)},
        ),
        Component("select_k_best", SelectKBest(k=10), adapt=k_to_columns),
    ]
