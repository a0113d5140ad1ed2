"""Classifiers of auto-sklearn 0.5 (2019), the basis of the spaces of the papers.

Hyper-parameters that scikit-learn 1.9 does not have, or that have no effect, are excluded:
``algorithm`` of AdaBoost, ``criterion`` of gradient boosting, ``n_components`` of LDA as a
classifier, ``epsilon`` of SGD, and ``loss`` of the linear support vector machine with
``dual=False``. Passive-aggressive classifiers are SGD with the learning rates ``pa1`` and ``pa2``.
LightGBM replaces XGBoost. Margins are not calibrated.
"""

from functools import partial
from typing import Any

from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skauto.space._component import Component
from skauto.space._parameters import Integer, Real
from skauto.space.catalog._adapt import bound, exponent_to_columns, factor_to_depth, rows_in_bag
from skauto.space.catalog._classifiers import make_lda
from skauto.space.catalog._estimators import positive_part
from skauto.space.catalog.papers._base import by_name, make_boosted_trees

TOLERANCE = Real(1e-5, 1e-1, log=True, default=1e-4)
GAMMA = Real(2.0**-15, 8.0, log=True, default=0.1)
PENALTY = Real(2.0**-5, 2.0**15, log=True, default=1.0)
KERNEL_CONDITIONS = {"degree": ("kernel", ["poly"]), "coef0": ("kernel", ["poly", "sigmoid"])}
_SMOOTHING = {"alpha": Real(0.01, 100.0, log=True, default=1.0), "fit_prior": [True, False]}
SPLITS = {
    "min_samples_split": Integer(2, 20, default=2),
    "min_samples_leaf": Integer(1, 20, default=1),
}
FOREST = {
    "n_estimators": [100],
    "criterion": ["gini", "entropy"],
    "max_features": Real(0.0, 1.0, default=0.5),
    **SPLITS,
}


class ClippedMultinomialNB(MultinomialNB):
    """Multinomial naive Bayes that clips negative values at zero."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ClippedMultinomialNB":
        """Fit the model to the positive part of `X`."""
        return super().fit(positive_part(X), y, sample_weight)

    def predict(self, X: Any) -> Any:
        """Predict classes from the positive part of `X`."""
        return super().predict(positive_part(X))

    def predict_log_proba(self, X: Any) -> Any:
        """Predict log-probabilities of the classes; `predict_proba` calls it."""
        return super().predict_log_proba(positive_part(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags


def make_adaboost(max_depth: int = 1, **parameters: Any) -> AdaBoostClassifier:
    """Build AdaBoost on trees of a given depth."""
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=max_depth), **parameters)


def make_passive_aggressive(
    C: float = 1.0, loss: str = "hinge", n_epochs: int | None = None, **parameters: Any
) -> SGDClassifier:
    """Build a passive-aggressive classifier from SGD."""
    rate = {"hinge": "pa1", "squared_hinge": "pa2"}[loss]
    return make_sgd(n_epochs, loss="hinge", penalty=None, learning_rate=rate, eta0=C, **parameters)


def make_sgd(n_epochs: int | None = None, **parameters: Any) -> SGDClassifier:
    """Build SGD that runs until it converges, or for a number of epochs."""
    if n_epochs is not None:
        parameters.update(max_iter=n_epochs, tol=None)
    return SGDClassifier(n_jobs=1, **parameters)


_DART = ("boosting_type", ["dart"])

CLASSIFIERS = by_name(
    Component(
        "adaboost",
        make_adaboost,
        {
            "n_estimators": Integer(50, 500, default=50),
            "learning_rate": Real(0.01, 2.0, log=True, default=0.1),
            "max_depth": Integer(1, 10, default=1),
        },
        cost=4.0,
    ),
    Component("bernoulli_nb", BernoulliNB(), _SMOOTHING, cost=0.1),
    Component(
        "decision_tree",
        DecisionTreeClassifier(),
        {"criterion": ["gini", "entropy"], "max_depth": Real(0.0, 2.0, default=0.5), **SPLITS},
        adapt=factor_to_depth,
        cost=0.4,
    ),
    Component(
        "extra_trees",
        ExtraTreesClassifier(n_jobs=1),
        {**FOREST, "bootstrap": [False, True]},
        adapt=exponent_to_columns,
        cost=3.0,
    ),
    Component("gaussian_nb", GaussianNB(), dense_only=True, cost=0.1),
    Component(
        "gradient_boosting",
        GradientBoostingClassifier(),
        {
            "learning_rate": Real(0.01, 1.0, log=True, default=0.1),
            "n_estimators": Integer(50, 500, default=100),
            "max_depth": Integer(1, 10, default=3),
            **SPLITS,
            "subsample": Real(0.01, 1.0, default=1.0),
            "max_features": Real(0.1, 1.0, default=1.0),
        },
        cost=5.0,
    ),
    Component(
        "k_nearest_neighbors",
        KNeighborsClassifier(n_jobs=1),
        {
            "n_neighbors": Integer(1, 100, log=True, default=1),
            "weights": ["uniform", "distance"],
            "p": [2, 1],
        },
        adapt=partial(bound, "n_neighbors", "n_samples"),
        cost=0.6,
    ),
    Component(
        "lda",
        make_lda,
        {
            "shrinkage": ["none", "auto", "manual"],
            "shrinkage_factor": Real(0.0, 1.0, default=0.5),
            "tol": TOLERANCE,
        },
        conditions={"shrinkage_factor": ("shrinkage", ["manual"])},
        dense_only=True,
        cost=0.2,
    ),
    Component(
        "liblinear_svc",
        LinearSVC(dual=False),
        {"penalty": ["l2", "l1"], "tol": TOLERANCE, "C": PENALTY},
        cost=0.7,
    ),
    Component(
        "libsvm_svc",
        SVC(max_iter=100_000),  # a bound for solvers that do not converge
        {
            "C": PENALTY,
            "kernel": ["rbf", "poly", "sigmoid"],
            "gamma": GAMMA,
            "degree": Integer(2, 5, default=3),
            "coef0": Real(-1.0, 1.0, default=0.0),
            "shrinking": [True, False],
            "tol": Real(1e-5, 1e-1, log=True, default=1e-3),
        },
        conditions=KERNEL_CONDITIONS,
        cost=6.0,
    ),
    Component("multinomial_nb", ClippedMultinomialNB(), _SMOOTHING, cost=0.1),
    Component(
        "passive_aggressive",
        make_passive_aggressive,
        {
            "C": Real(1e-5, 10.0, log=True, default=1.0),
            "loss": ["hinge", "squared_hinge"],
            "tol": TOLERANCE,
            "average": [False, True],
        },
        cost=0.5,
    ),
    Component(
        "qda",
        QuadraticDiscriminantAnalysis(),
        {"reg_param": Real(0.0, 1.0, default=0.0)},
        cost=0.3,
    ),
    Component(
        "random_forest",
        RandomForestClassifier(n_jobs=1),
        {**FOREST, "bootstrap": [True, False]},
        adapt=exponent_to_columns,
        cost=3.5,
    ),
    Component(
        "sgd",
        make_sgd,
        {
            "loss": ["log_loss", "hinge", "modified_huber", "squared_hinge", "perceptron"],
            "penalty": ["l2", "l1", "elasticnet"],
            "alpha": Real(1e-7, 1e-1, log=True, default=1e-4),
            "l1_ratio": Real(1e-9, 1.0, log=True, default=0.15),
            "tol": TOLERANCE,
            "learning_rate": ["invscaling", "optimal", "constant"],
            "eta0": Real(1e-7, 1e-1, log=True, default=0.01),
            "power_t": Real(1e-5, 1.0, default=0.5),
            "average": [False, True],
        },
        conditions={
            "l1_ratio": ("penalty", ["elasticnet"]),
            "eta0": ("learning_rate", ["invscaling", "constant"]),
            "power_t": ("learning_rate", ["invscaling"]),
        },
        cost=0.5,
    ),
    Component(
        "xgradient_boosting",
        partial(make_boosted_trees, max_depth=3, max_leaves=1024, n_estimators=512),
        {
            "max_depth": Integer(1, 20, default=3),
            "learning_rate": Real(1e-3, 1.0, log=True, default=0.1),
            "boosting_type": ["gbdt", "dart"],
            "subsample": Real(0.01, 1.0, default=1.0),
            "min_child_weight": Integer(0, 20, default=1),
            "colsample_bytree": Real(0.1, 1.0, default=1.0),
            "feature_fraction_bynode": Real(0.1, 1.0, default=1.0),
            "reg_alpha": Real(1e-10, 1e-1, log=True, default=1e-10),
            "reg_lambda": Real(1e-10, 1e-1, log=True, default=1e-10),
            "uniform_drop": [True, False],
            "drop_rate": Real(1e-10, 1.0 - 1e-10, default=0.5),
        },
        conditions={"uniform_drop": _DART, "drop_rate": _DART},
        adapt=rows_in_bag,
        handles_missing=True,
        cost=4.5,
    ),
)
