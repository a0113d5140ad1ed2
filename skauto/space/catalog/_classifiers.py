"""Classifiers of the `default` space."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Integer, Real
from skauto.space.catalog._adapt import bound, exponent_to_columns, rounds_to_data, rows_in_bag
from skauto.space.catalog._estimators import ScaledGammaSVC
from skauto.space.catalog._lightgbm import LightGBMClassifier
from skauto.space.catalog._network import NetworkClassifier

_NUMBERS = {"encoder": "one_hot", "imputer": "simple"}
_SCALED = {**_NUMBERS, "scaler": "standard"}
# Maximum size of a forest.
_FOREST_BYTES = 16_000_000
RAW = {"encoder": "ordinal", "imputer": "none", "scaler": "none"}
_FOR_CATEGORIES: dict[str, Any] = {
    "cat_smooth": Real(0.01, 100.0, log=True, default=10.0),
    "cat_l2": Real(0.01, 20.0, log=True, default=10.0),
    "max_cat_to_onehot": Integer(2, 100, log=True, default=4),
    "min_data_per_group": Integer(2, 200, log=True, default=20),
}
_FOREST: dict[str, Any] = {
    "n_estimators": [100],
    "criterion": ["gini", "entropy"],
    "max_features": Real(0.1, 1.0, default=0.5),
    "min_samples_leaf": Integer(1, 20, log=True, default=2),
    "min_samples_split": Integer(2, 20, log=True, default=2),
}


def _adapt_lightgbm(estimator: Any, context: FitContext) -> None:
    """Set categorical columns, rounds and bins; fewer bins for few rows halve the fit time."""
    rows_in_bag(estimator, context)
    rounds_to_data(estimator, context)
    estimator.set_params(
        categorical_features=list(context.categorical),
        max_bin=int(np.clip(context.n_samples // 32, 63, 255)),
    )


def _adapt_forest(estimator: Any, context: FitContext) -> None:
    """Bound the number of trees by the rows, and the leaves of a tree by the forest's size."""
    n_estimators = min(estimator.n_estimators, max(50, 400_000 // context.n_samples))
    n_nodes = _FOREST_BYTES / (n_estimators * node_bytes(context.n_classes))
    n_leaves = min(15_000, int(n_nodes / 2))  # a binary tree has twice as many nodes as leaves
    estimator.set_params(
        n_estimators=n_estimators,
        max_leaf_nodes=n_leaves if n_leaves < context.n_samples else None,
    )
    exponent_to_columns(estimator, context)


def node_bytes(n_classes: int) -> int:
    """Return the size in bytes of a node of a scikit-learn tree."""
    return 64 + 8 * n_classes


def _make_svm(**parameters: Any) -> CalibratedClassifierCV:
    return CalibratedClassifierCV(ScaledGammaSVC(**parameters), ensemble=False, cv=3, n_jobs=1)


def make_lda(
    shrinkage: str = "none", shrinkage_factor: float = 0.5, **parameters: Any
) -> LinearDiscriminantAnalysis:
    """Build a linear discriminant analysis from the kind of its shrinkage."""
    if shrinkage == "none":
        return LinearDiscriminantAnalysis(solver="svd", **parameters)
    value = shrinkage_factor if shrinkage == "manual" else "auto"
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=value, **parameters)


def _adapt_mlp(estimator: Any, context: FitContext) -> None:
    """Set smaller batches for few rows, and larger batches and fewer epochs for many rows."""
    n_samples = context.n_samples
    estimator.set_params(
        max_rounds=int(np.clip(64 * (4000 / n_samples) ** 0.5, 8, 64)),
        batch_size=int(np.clip(n_samples // 8, 32, 256)) if n_samples < 50_000 else 1024,
    )


CLASSIFIERS = [
    Component(
        "lightgbm",
        LightGBMClassifier(subsample_freq=1, n_jobs=1, verbose=-1, force_col_wise=True),
        {
            "learning_rate": Real(0.01, 0.3, log=True, default=0.1),
            "num_leaves": Integer(4, 256, log=True, default=31),
            "min_child_samples": Integer(1, 100, log=True, default=20),
            "subsample": Real(0.5, 1.0, default=0.9),
            "colsample_bytree": Real(0.2, 1.0, default=0.7),
            "reg_alpha": Real(1e-3, 10.0, log=True, default=0.01),
            "reg_lambda": Real(1e-3, 100.0, log=True, default=1.0),
            "extra_trees": [False, True],
            **_FOR_CATEGORIES,
        },
        category_parameters=list(_FOR_CATEGORIES),
        adapt=_adapt_lightgbm,
        handles_categories=True,
        cost=1.0,
        prefers=RAW,
        weight=2.0,
        size_parameter="max_rounds",
    ),
    Component(
        "extra_trees",
        ExtraTreesClassifier(n_jobs=1),
        {
            **_FOREST,
            "criterion": ["entropy", "gini"],
            "max_features": Real(0.1, 1.0, default=0.8),
            "bootstrap": [False, True],
        },
        adapt=_adapt_forest,
        handles_categories=True,
        cost=3.0,
        prefers=RAW,
        size_parameter="n_estimators",
    ),
    Component(
        "random_forest",
        RandomForestClassifier(n_jobs=1),
        _FOREST,
        adapt=_adapt_forest,
        handles_categories=True,
        cost=4.0,
        prefers=RAW,
        size_parameter="n_estimators",
    ),
    Component(
        "logistic_regression",
        LogisticRegression(max_iter=300),
        {"C": Real(1e-4, 1e3, log=True, default=1.0)},
        cost=0.5,
        prefers=_SCALED,
    ),
    Component(
        "svm",
        _make_svm,
        {
            "C": Real(0.03, 1e3, log=True, default=10.0),
            "kernel": ["rbf", "poly"],
            "gamma": Real(0.01, 30.0, log=True, default=1.0),
            "degree": Integer(2, 4, default=2),
            "coef0": Real(0.0, 2.0, default=1.0),
        },
        conditions={"degree": ("kernel", ["poly"]), "coef0": ("kernel", ["poly"])},
        max_samples=20_000,
        cost=5.0,
        prefers=_SCALED,
    ),
    Component(
        "lda",
        make_lda,
        {
            "shrinkage": ["auto", "none", "manual"],
            "shrinkage_factor": Real(1e-4, 1.0, log=True, default=0.1),
        },
        conditions={"shrinkage_factor": ("shrinkage", ["manual"])},
        dense_only=True,
        max_features=3000,
        cost=0.2,
        prefers=_SCALED,
    ),
    Component(
        "qda",
        QuadraticDiscriminantAnalysis(solver="eigen"),
        {"shrinkage": Real(1e-3, 1.0, log=True, default=0.02)},
        weight=0.5,
        max_features=500,
        cost=0.3,
        prefers=_SCALED,
    ),
    Component(
        "k_nearest_neighbors",
        KNeighborsClassifier(n_jobs=1),
        {
            "n_neighbors": Integer(1, 200, log=True, default=15),
            "weights": ["distance", "uniform"],
            "p": [2, 1],
        },
        adapt=partial(bound, "n_neighbors", "n_samples"),
        max_samples=100_000,
        cost=0.6,
        prefers=_SCALED,
    ),
    Component(
        "mlp",
        NetworkClassifier(),
        {
            "depth": Integer(1, 3, default=2),
            "width": Integer(16, 256, log=True, default=64),
            "learning_rate": Real(3e-3, 0.2, log=True, default=0.04),
            "label_smoothing": [0.1, 0.0],
            "dropout": [0.0, 0.15, 0.3],
            "n_members": [4, 1, 2, 8],
        },
        adapt=_adapt_mlp,
        cost=6.0,
        prefers={**_NUMBERS, "scaler": "robust_smooth"},
        size_parameter="n_members",
    ),
    Component(
        "gaussian_nb",
        GaussianNB(),
        {"var_smoothing": Real(1e-10, 1.0, log=True, default=1e-6)},
        weight=0.5,
        cost=0.1,
        prefers=_NUMBERS,
    ),
]
