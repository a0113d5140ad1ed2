"""The two search spaces of ADMM.

S. Liu et al., "An ADMM based framework for AutoML pipeline configuration", AAAI 2020.
The paper prints only the number of hyper-parameters of each algorithm. Names and ranges are from
auto-sklearn, or our own if auto-sklearn has none.
"""

from functools import partial
from typing import Any

from sklearn.decomposition import FactorAnalysis
from sklearn.feature_selection import (
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import Binarizer, KBinsDiscretizer
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Integer, Real
from skauto.space._space import SearchSpace
from skauto.space.catalog._adapt import bound, components_to_both
from skauto.space.catalog.papers._auto_sklearn_classifiers import CLASSIFIERS
from skauto.space.catalog.papers._auto_sklearn_transformers import SCALERS, TRANSFORMERS
from skauto.space.catalog.papers._base import (
    IMPUTER,
    LOGISTIC_REGRESSION,
    NONE,
    TRUNCATED_SVD,
    paper_space,
)

_TREES = {"n_estimators": Integer(50, 300, default=100)}
_COMPONENTS = Integer(2, 100, default=20)
_ALPHA = {"alpha": Real(0.01, 0.5, default=0.1)}


def make_stopped_mlp(
    depth: int = 1, width: int = 32, early_stopping: bool = True, **parameters: Any
) -> MLPClassifier:
    """Build a network of equal layers that stops early by a validation or the training loss."""
    return MLPClassifier(
        hidden_layer_sizes=(width,) * depth,
        early_stopping=early_stopping,
        n_iter_no_change=10 if early_stopping else 32,
        **parameters,
    )


def _log_loss_for_many_classes(estimator: Any, context: FitContext) -> None:
    """Set the log loss for several classes; the exponential loss supports two."""
    if context.n_classes > 2:
        estimator.set_params(loss="log_loss")


_SMALL_SCALERS = [
    NONE,
    SCALERS["normalize"],
    SCALERS["quantile"],
    SCALERS["min_max"],
    SCALERS["standard"],
    # the paper has 2 continuous and 2 discrete hyper-parameters
    SCALERS["robust"].vary({"with_centering": [True, False], "with_scaling": [True, False]}),
]

_LARGE_SCALERS = [
    *_SMALL_SCALERS,
    Component("binarize", Binarizer()),
    Component(
        "bins",
        KBinsDiscretizer(encode="ordinal"),
        {"n_bins": Integer(2, 20, default=5), "strategy": ["quantile", "uniform", "kmeans"]},
    ),
]

_SMALL_TRANSFORMERS = [NONE, TRANSFORMERS["pca"], TRANSFORMERS["polynomial"]]

_LARGE_TRANSFORMERS = [
    NONE,
    Component(
        "sparse_random_projection",
        SparseRandomProjection(n_components=20),
        {"density": Real(0.05, 1.0, log=True, default=0.3), "n_components": _COMPONENTS},
        adapt=partial(bound, "n_components", "n_features"),
    ),
    Component(
        "gaussian_random_projection",
        GaussianRandomProjection(n_components=20),
        {"n_components": _COMPONENTS},
        adapt=partial(bound, "n_components", "n_features"),
    ),
    TRANSFORMERS["kitchen_sinks"].vary(name="rbf_sampler"),
    TRANSFORMERS["nystroem_sampler"].vary(name="nystroem"),
    TRUNCATED_SVD.vary({"n_iter": Integer(2, 10, default=5)}),
    TRANSFORMERS["kernel_pca"].vary({"remove_zero_eig": [True, False]}),
    TRANSFORMERS["fast_ica"].vary({"max_iter": Integer(200, 1000, default=200)}),
    Component(
        "factor_analysis",
        FactorAnalysis(random_state=None),
        {
            "n_components": _COMPONENTS,
            "max_iter": Integer(100, 1000, default=1000),
            "svd_method": ["randomized", "lapack"],
        },
        adapt=components_to_both,
    ),
    TRANSFORMERS["pca"],
    TRANSFORMERS["polynomial"],
]

# The paper prints six selectors. `SelectKBest` with a fixed k is our addition, which gives the
# printed numbers of pipelines and hyper-parameters.
_SELECTORS = [
    NONE,
    Component("select_percentile", SelectPercentile(), {"percentile": Integer(1, 99, default=50)}),
    Component("select_fpr", SelectFpr(), _ALPHA),
    Component("select_fdr", SelectFdr(), _ALPHA),
    Component("select_fwe", SelectFwe(), _ALPHA),
    Component(
        "variance_threshold", VarianceThreshold(), {"threshold": Real(0.0, 0.2, default=0.0)}
    ),
    Component("select_k_best", SelectKBest(k=10), adapt=partial(bound, "k", "n_features")),
]

# in the order of the paper's Table A3
_SMALL_CLASSIFIERS = [
    CLASSIFIERS["gaussian_nb"],
    CLASSIFIERS["qda"],
    CLASSIFIERS["gradient_boosting"].vary(
        {"loss": ["log_loss", "exponential"]}, adapt=_log_loss_for_many_classes
    ),
    CLASSIFIERS["k_nearest_neighbors"],
    CLASSIFIERS["random_forest"].vary(_TREES),
    CLASSIFIERS["extra_trees"].vary(_TREES),
]

# in the order of the paper's Table A2
_LARGE_CLASSIFIERS = [
    *_SMALL_CLASSIFIERS,
    CLASSIFIERS["adaboost"].vary(drop=["max_depth"]),
    CLASSIFIERS["decision_tree"].vary(
        {
            "min_weight_fraction_leaf": Real(0.0, 0.5, default=0.0),
            "min_impurity_decrease": Real(0.0, 0.2, default=0.0),
        }
    ),
    Component(
        "gaussian_process",  # its cost is cubic in the number of rows
        GaussianProcessClassifier(n_jobs=1, copy_X_train=False),
        {
            "n_restarts_optimizer": Integer(0, 3, default=0),
            "max_iter_predict": Integer(50, 200, default=100),
        },
        max_samples=1000,
        cost=8.0,
    ),
    LOGISTIC_REGRESSION.vary({"fit_intercept": [True, False]}),
    Component(
        "mlp",  # ranges of later versions of auto-sklearn
        make_stopped_mlp,
        {
            "alpha": Real(1e-7, 1e-1, log=True, default=1e-4),
            "learning_rate_init": Real(1e-4, 0.5, log=True, default=1e-3),
            "depth": Integer(1, 3, default=1),
            "width": Integer(16, 264, log=True, default=32),
            "activation": ["relu", "tanh"],
            "early_stopping": [True, False],
            "batch_size": Integer(16, 256, log=True, default=200),
        },
        adapt=partial(bound, "batch_size", "n_samples"),
        cost=7.0,
    ),
]


def admm_small() -> SearchSpace:
    """Build ADMM's smaller space (Table A3): 6 x 3 x 6 = 108 pipelines.

    It has 35 hyper-parameters and the strategy of the imputer. The paper has 36 and the imputer:
    also ``criterion`` of gradient boosting.
    """
    return paper_space(
        "admm_small",
        default={"classifier": "gaussian_nb"},
        imputer=[IMPUTER],
        scaler=_SMALL_SCALERS,
        transformer=_SMALL_TRANSFORMERS,
        classifier=_SMALL_CLASSIFIERS,
    )


def admm_large() -> SearchSpace:
    """Build ADMM's larger space (Table A2): 8 x 11 x 7 x 11 = 6,776 pipelines.

    It has 90 hyper-parameters and the strategy of the imputer. The paper has 92: also
    ``criterion`` of gradient boosting and ``algorithm`` of AdaBoost. The seventh selector is our
    addition.
    """
    return paper_space(
        "admm_large",
        default={"classifier": "gaussian_nb"},
        imputer=[IMPUTER],
        scaler=_LARGE_SCALERS,
        transformer=_LARGE_TRANSFORMERS,
        selector=_SELECTORS,
        classifier=_LARGE_CLASSIFIERS,
    )
