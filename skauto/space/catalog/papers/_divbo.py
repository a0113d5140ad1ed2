"""The search space of DivBO, as differences of mindware from auto-sklearn.

Y. Shen et al., "DivBO: diversity-aware CASH for ensemble learning", NeurIPS 2022.
"""

from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Integer, Real
from skauto.space._space import SearchSpace
from skauto.space.catalog._adapt import rows_in_bag
from skauto.space.catalog._preprocessors import CLASS_WEIGHTS
from skauto.space.catalog.papers._auto_sklearn_classifiers import CLASSIFIERS, KERNEL_CONDITIONS
from skauto.space.catalog.papers._auto_sklearn_transformers import SCALERS, TRANSFORMERS
from skauto.space.catalog.papers._base import LOGISTIC_REGRESSION, NONE, TRUNCATED_SVD, paper_space
from skauto.utils import input_feature_names

_DIMENSIONS = Integer(50, 5000, log=True, default=100)


def make_linear_svc(
    penalty: str = "l2", loss: str = "squared_hinge", dual: bool | None = None, **parameters: Any
) -> LinearSVC:
    """Build a linear support vector machine; the hinge loss needs the dual problem."""
    if dual is None:
        dual = loss == "hinge"
    return LinearSVC(penalty=penalty, loss=loss, dual=dual, **parameters)


def make_lda_decomposer(shrinkage: str = "none") -> LinearDiscriminantAnalysis:
    """Build the transformer; "eigen" is the only solver with shrinkage that can transform."""
    if shrinkage == "none":
        return LinearDiscriminantAnalysis(solver="svd")
    return LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")


def _shallow_if_many_rows(estimator: Any, context: FitContext) -> None:
    if context.n_samples > 5000:
        estimator.set_params(max_depth=min(estimator.max_depth, 6))


class CrossFeatures(TransformerMixin, BaseEstimator):
    """Append the products of pairs of binary columns.

    Of more than `max_columns` binary columns, a random subset is used. Products that are constant
    are left out; ``pairs_`` (n_pairs, 2) are the columns of the others.
    """

    def __init__(self, max_columns: int = 60, seed: int = 1) -> None:
        self.max_columns = max_columns
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> "CrossFeatures":
        """Choose the pairs of columns."""
        X = validate_data(self, X)
        binary = np.flatnonzero(((X == 0) | (X == 1)).all(axis=0))
        if len(binary) > self.max_columns:
            rng = np.random.default_rng(self.seed)
            binary = np.sort(rng.choice(binary, self.max_columns, replace=False))
        first, second = np.triu_indices(len(binary), k=1)
        pairs = np.column_stack([binary[first], binary[second]])
        self.pairs_ = pairs[np.ptp(self._products(X, pairs), axis=0) > 0]
        return self

    def transform(self, X: Any) -> Any:
        """Append the products, one column for each pair."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.hstack([X, self._products(X, self.pairs_)])

    @staticmethod
    def _products(X: Any, pairs: Any) -> Any:
        return X[:, pairs[:, 0]] * X[:, pairs[:, 1]]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns, then of the products."""
        names = input_feature_names(self, input_features)
        products = [f"{names[i]} {names[j]}" for i, j in self.pairs_]
        return np.asarray([*names, *products], dtype=object)


# in the order of the paper's Table 6
_CLASSIFIERS = [
    CLASSIFIERS["adaboost"].vary({"max_depth": Integer(2, 8, default=3)}),
    CLASSIFIERS["random_forest"],
    CLASSIFIERS["extra_trees"],
    CLASSIFIERS["gradient_boosting"].vary(
        {"n_estimators": [100], "max_depth": Integer(1, 8, default=3)}
    ),
    CLASSIFIERS["k_nearest_neighbors"].vary(drop=["p"]),
    CLASSIFIERS["lda"],
    CLASSIFIERS["qda"],
    LOGISTIC_REGRESSION,
    CLASSIFIERS["liblinear_svc"].vary(
        {"loss": ["squared_hinge", "hinge"], "dual": [True, False]},
        # the hinge loss needs the L2 penalty and the dual problem; L1 needs the primal problem
        conditions={"loss": ("penalty", ["l2"]), "dual": ("loss", ["squared_hinge"])},
        estimator=make_linear_svc,
    ),
    CLASSIFIERS["libsvm_svc"].vary({"max_iter": [10000]}),
    Component(
        "lightgbm",
        LGBMClassifier(max_depth=15, subsample_freq=1, n_jobs=1, verbose=-1, force_col_wise=True),
        {
            "n_estimators": Integer(100, 1000, default=500),
            "num_leaves": Integer(31, 2047, default=128),
            "learning_rate": Real(1e-3, 0.3, log=True, default=0.1),
            "min_child_samples": Integer(5, 30, default=20),
            "subsample": Real(0.7, 1.0, default=1.0),
            "colsample_bytree": Real(0.7, 1.0, default=1.0),
        },
        adapt=rows_in_bag,
        cost=4.5,
    ),
]

# in the order of the paper's Table 7
_TRANSFORMERS = [
    NONE,
    Component(
        "cross_features",
        CrossFeatures(),
        {"seed": Integer(1, 100_000, default=1)},
        dense_only=True,
    ),
    TRANSFORMERS["fast_ica"],
    TRANSFORMERS["feature_agglomeration"],
    TRANSFORMERS["kernel_pca"],
    TRANSFORMERS["kitchen_sinks"].vary({"n_components": _DIMENSIONS}),
    Component(
        "lda_decomposer", make_lda_decomposer, {"shrinkage": ["none", "auto"]}, dense_only=True
    ),
    TRANSFORMERS["nystroem_sampler"].vary(
        {"n_components": _DIMENSIONS, "kernel": ["rbf", "poly", "sigmoid", "cosine", "chi2"]},
        conditions={"gamma": ("kernel", ["rbf", "poly", "sigmoid", "chi2"]), **KERNEL_CONDITIONS},
    ),
    TRANSFORMERS["pca"],
    TRANSFORMERS["polynomial"].vary({"include_bias": [False]}),
    TRANSFORMERS["random_trees_embedding"].vary(adapt=_shallow_if_many_rows),
    TRUNCATED_SVD,
    TRANSFORMERS["select_percentile"].vary(
        {"percentile": Real(5.0, 99.0, default=50.0), "score": ["chi2", "f_classif"]}
    ),
    TRANSFORMERS["select_rates"],
    TRANSFORMERS["extra_trees_preproc"],
    TRANSFORMERS["liblinear_svc_preprocessor"],
]


def divbo() -> SearchSpace:
    """Build DivBO's space (Tables 6 and 7): 11 classifiers, 20 operators.

    It has no forbidden pairs, and 94 hyper-parameters. The tables have 101: also ``algorithm`` of
    AdaBoost, ``criterion`` of gradient boosting, ``n_components`` of LDA, ``bootstrap`` of the
    trees embedding, and the constants ``penalty``, ``loss`` and ``dual`` of the linear selector.
    """
    return paper_space(
        "divbo",
        default={"classifier": "random_forest"},
        balancer=[NONE, CLASS_WEIGHTS],
        scaler=list(SCALERS.values()),
        transformer=_TRANSFORMERS,
        classifier=_CLASSIFIERS,
    )
