"""Preprocessors of the default space: all steps except the classifier."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomTreesEmbedding
from sklearn.feature_selection import (
    SelectFromModel,
    SelectPercentile,
    chi2,
    f_classif,
    mutual_info_classif,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
)
from sklearn.svm import LinearSVC

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Integer, Real
from skauto.space.catalog._adapt import bound, false_if_sparse
from skauto.space.catalog._array_steps import ArrayImputer, ArrayScaler
from skauto.space.catalog._category_columns import CategoryColumns
from skauto.space.catalog._estimators import CrossFittedTargetEncoder, positive_part
from skauto.space.catalog._pairs import PairFeatures
from skauto.space.catalog._robust_smooth import RobustSmoothScaler

# One-hot encodings with more cells (160 MB as a dense matrix) are sparse.
_MAX_DENSE_CELLS = 20_000_000
_MAX_POLYNOMIAL_COLUMNS = 3000
# Up to 64 new columns of 8 bytes take 50 MB.
_MAX_PAIRED_ROWS = 100_000
# Strength 1 makes group and class independent. Larger strengths compensate for columns that are
# correlated with the group.
_MAX_STRENGTH = 4.0


def make_one_hot(
    max_categories: int | None = None, min_frequency: float | None = None
) -> CategoryColumns:
    """Build a one-hot encoder that groups rare categories."""
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=max_categories,
        min_frequency=min_frequency,
    )
    return CategoryColumns(encoder)


def _adapt_columns(estimator: Any, context: FitContext) -> None:
    estimator.set_params(columns=list(context.categorical))


def adapt_one_hot(estimator: Any, context: FitContext) -> None:
    """Set the categorical columns; return a sparse matrix if the encoding is wide."""
    _adapt_columns(estimator, context)
    limit = estimator.encoder.max_categories or 255
    levels = context.n_levels or (limit,) * len(context.categorical)
    width = sum(min(n, limit) for n in levels)
    wide = width * context.n_samples > _MAX_DENSE_CELLS
    estimator.set_params(sparse_threshold=0.3 if wide or context.sparse else 0.0)


def _make_sampler(name: str, **parameters: Any) -> Any:
    from imblearn import over_sampling  # the import takes 0.25 seconds

    return getattr(over_sampling, name)(**parameters)


def _adapt_smote(estimator: Any, context: FitContext) -> None:
    """Bound the number of neighbors by the other rows of the smallest class.

    A row without neighbors makes no further ones: then no class gets more rows.
    """
    if context.smallest_class == 1:
        estimator.set_params(sampling_strategy={})
    k_neighbors = max(1, min(estimator.k_neighbors, context.smallest_class - 1))
    estimator.set_params(k_neighbors=k_neighbors)


def _adapt_polynomial(estimator: Any, context: FitContext) -> None:
    if context.n_features * (context.n_features + 3) / 2 > _MAX_POLYNOMIAL_COLUMNS:
        estimator.set_params(degree=1)


def _adapt_nystroem(estimator: Any, context: FitContext) -> None:
    """Divide gamma by the number of columns, the scale of squared distances."""
    estimator.set_params(gamma=estimator.gamma / context.n_features)
    bound("n_components", "n_samples", estimator, context)


def _adapt_pairs(estimator: Any, context: FitContext) -> None:
    codes = list(context.categorical)
    estimator.set_params(categorical_features=codes, keys=context.random_folds)


def make_l1_selector(threshold: float | str = "mean", **parameters: Any) -> SelectFromModel:
    """Build a selector from an L1-penalized linear support vector machine."""
    return SelectFromModel(LinearSVC(penalty="l1", dual=False, **parameters), threshold=threshold)


def chi2_of_positive_part(X: Any, y: Any) -> Any:
    """Compute the score chi2 with negative values clipped at zero."""
    return chi2(positive_part(X), y)


SCORES = {
    "chi2": chi2_of_positive_part,
    "f_classif": f_classif,
    "mutual_information": partial(mutual_info_classif, random_state=0),
}


def make_select_percentile(percentile: float, score: str) -> SelectPercentile:
    """Build a univariate selector from the name of its score."""
    return SelectPercentile(SCORES[score], percentile=percentile)


ONE_HOT = Component(
    "one_hot",
    make_one_hot,
    adapt=adapt_one_hot,
    dense_only=False,
    handles_missing=True,
    handles_categories=True,
)
CLASS_WEIGHTS = Component("weights", balancing="weights")

ENCODERS = [
    Component("ordinal"),  # the codes
    ONE_HOT.vary(
        {
            "max_categories": Integer(5, 100, log=True, default=30),
            "min_frequency": [None, 0.002, 0.01, 0.05],
        }
    ),
    Component(
        "target",
        CategoryColumns(CrossFittedTargetEncoder()),
        adapt=_adapt_columns,
        dense_only=True,
        handles_missing=True,
        handles_categories=True,
    ),
]

IMPUTERS = [
    Component("none"),
    Component(
        "simple",
        ArrayImputer(keep_empty_features=True),
        {"strategy": ["median", "mean"], "add_indicator": [True, False]},
        handles_categories=True,
    ),
]

BALANCERS = [
    Component("none", weight=7.0),
    CLASS_WEIGHTS,
    Component(
        "over_sampling",
        partial(_make_sampler, "RandomOverSampler"),
        balancing="sampler",
        handles_missing=True,
        handles_categories=True,
        keeps_categories=True,
    ),
    Component(
        "smote",
        partial(_make_sampler, "SMOTE"),
        {"k_neighbors": Integer(2, 15, default=5)},
        adapt=_adapt_smote,
        balancing="sampler",
    ),
]


def group_weights(sensitive: Iterable[str]) -> Component:
    """Sample weights by group and class, with a strength for each sensitive feature."""
    strengths = {f"strength_{name}": Real(0.0, _MAX_STRENGTH, default=1.0) for name in sensitive}
    return Component("group_weights", parameters=strengths, balancing="groups", weight=7.0)


SCALERS = [
    Component("none"),
    Component(
        "standard",
        ArrayScaler(),
        adapt=partial(false_if_sparse, "with_mean"),
        dense_only=False,
        weight=2.0,
    ),
    Component("robust_smooth", RobustSmoothScaler()),
    Component(
        "quantile",
        QuantileTransformer(output_distribution="normal"),
        {"n_quantiles": Integer(10, 1000, log=True, default=300)},
        adapt=partial(bound, "n_quantiles", "n_samples"),
        dense_only=True,  # it refuses sparse columns with negative values
    ),
    Component("min_max", MinMaxScaler(clip=True), weight=0.5),
]

TRANSFORMERS = [
    Component("none", weight=6.0),
    Component(
        "pca",
        PCA(svd_solver="full"),
        {"n_components": Real(0.5, 0.9999, default=0.99), "whiten": [False, True]},
    ),
    Component(
        "polynomial",
        PolynomialFeatures(degree=2, include_bias=False),
        {"interaction_only": [False, True]},
        adapt=_adapt_polynomial,
    ),
    Component(
        "nystroem",
        Nystroem(n_jobs=1),
        {
            "gamma": Real(0.01, 10.0, log=True, default=0.5),
            "n_components": Integer(30, 1000, log=True, default=200),
        },
        adapt=_adapt_nystroem,
    ),
    Component(
        "random_trees_embedding",
        RandomTreesEmbedding(n_jobs=1),
        {
            "n_estimators": Integer(10, 100, log=True, default=50),
            "max_depth": Integer(2, 6, default=4),
        },
    ),
    Component(
        "pairs",
        PairFeatures(),
        adapt=_adapt_pairs,
        handles_categories=True,
        keeps_categories=True,
        max_samples=_MAX_PAIRED_ROWS,
    ),
]

SELECTORS = [
    Component("none", weight=6.0),
    Component(
        "select_percentile",
        make_select_percentile,
        {
            "percentile": Real(5.0, 95.0, default=60.0),
            "score": ["f_classif", "mutual_information"],
        },
        handles_categories=True,
    ),
    Component(
        "select_extra_trees",
        SelectFromModel(ExtraTreesClassifier(50, min_samples_leaf=3, n_jobs=1)),
        {"threshold": ["median", "0.5*mean", "mean", "0.25*mean"]},
        handles_categories=True,
    ),
    Component(
        "select_l1",
        partial(make_l1_selector, threshold=1e-5, tol=1e-3),
        {"C": Real(0.003, 3.0, log=True, default=0.1)},
    ),
]
