"""Classifiers of the papers' spaces: auto-sklearn's, and what other papers change in them.

Ranges are auto-sklearn's (2019), of which MOSAIC's space is a copy. Hyper-parameters that
scikit-learn 1.9 has lost, or that change nothing, are left out everywhere: ``algorithm`` of
AdaBoost, ``criterion`` of gradient boosting, ``n_components`` of LDA as a classifier, ``epsilon``
of SGD, ``loss`` of the linear support vector machine where ``dual=False`` allows only one.
Passive-aggressive learning is SGD with its learning rates ``pa1`` and ``pa2``. LightGBM stands in
for XGBoost. Margins are not calibrated.
"""

from typing import Any

from lightgbm import LGBMClassifier
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skauto.space._component import Component, FitContext
from skauto.space._parameters import Categorical, Integer, Parameter, Real
from skauto.space.catalog._adapt import (
    exponent_to_columns,
    factor_to_depth,
    neighbors_to_rows,
    rows_in_bag,
)
from skauto.space.catalog._classifiers import make_lda
from skauto.space.catalog._estimators import ClippedMultinomialNB

_GAMMA = (2.0**-15, 8.0)
_C = (2.0**-5, 2.0**15)
_MAX_LEAVES = 1024


# ------------------------------------------------------------------------------- auto-sklearn 0.5


def _tolerance(default: float = 1e-4) -> Real:
    return Real(1e-5, 1e-1, log=True, default=default)


def _splits() -> dict[str, Parameter]:
    return {
        "min_samples_split": Integer(2, 20, default=2),
        "min_samples_leaf": Integer(1, 20, default=1),
    }


def adaboost() -> Component:
    """Boosted small trees."""
    return Component(
        "adaboost",
        make_adaboost,
        {
            "n_estimators": Integer(50, 500, default=50),
            "learning_rate": Real(0.01, 2.0, log=True, default=0.1),
            "max_depth": Integer(1, 10, default=1),
        },
        cost=4.0,
    )


def make_adaboost(max_depth: int = 1, **parameters: Any) -> AdaBoostClassifier:
    """Build AdaBoost on trees of a given depth."""
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=max_depth), **parameters)


def bernoulli_nb() -> Component:
    """Naive Bayes on the signs of the columns."""
    return Component(
        "bernoulli_nb",
        BernoulliNB(),
        {
            "alpha": Real(0.01, 100.0, log=True, default=1.0),
            "fit_prior": Categorical([True, False]),
        },
        cost=0.1,
    )


def multinomial_nb() -> Component:
    """Naive Bayes on counts; negative values count as zero, as in auto-sklearn."""
    return Component(
        "multinomial_nb",
        ClippedMultinomialNB(),
        {
            "alpha": Real(0.01, 100.0, log=True, default=1.0),
            "fit_prior": Categorical([True, False]),
        },
        cost=0.1,
    )


def gaussian_nb() -> Component:
    """Naive Bayes with normal distributions."""
    return Component("gaussian_nb", GaussianNB(), dense_only=True, cost=0.1)


def decision_tree() -> Component:
    """One tree; its depth is a multiple of the number of columns."""
    return Component(
        "decision_tree",
        DecisionTreeClassifier(),
        {
            "criterion": Categorical(["gini", "entropy"]),
            "max_depth": Real(0.0, 2.0, default=0.5),
            **_splits(),
        },
        adapt=factor_to_depth,
        cost=0.4,
    )


def extra_trees() -> Component:
    """Randomised trees."""
    return Component(
        "extra_trees",
        ExtraTreesClassifier(n_jobs=1),
        {**_forest(), "bootstrap": Categorical([False, True])},
        adapt=exponent_to_columns,
        cost=3.0,
    )


def random_forest() -> Component:
    """Random forest."""
    return Component(
        "random_forest",
        RandomForestClassifier(n_jobs=1),
        {**_forest(), "bootstrap": Categorical([True, False])},
        adapt=exponent_to_columns,
        cost=3.5,
    )


def _forest() -> dict[str, Parameter]:
    return {
        "n_estimators": Categorical([100]),
        "criterion": Categorical(["gini", "entropy"]),
        "max_features": Real(0.0, 1.0, default=0.5),
        **_splits(),
    }


def gradient_boosting() -> Component:
    """Gradient boosting, scikit-learn's older kind."""
    return Component(
        "gradient_boosting",
        GradientBoostingClassifier(),
        {
            "learning_rate": Real(0.01, 1.0, log=True, default=0.1),
            "n_estimators": Integer(50, 500, default=100),
            "max_depth": Integer(1, 10, default=3),
            **_splits(),
            "subsample": Real(0.01, 1.0, default=1.0),
            "max_features": Real(0.1, 1.0, default=1.0),
        },
        cost=5.0,
    )


def k_nearest_neighbors() -> Component:
    """Vote of the nearest rows."""
    return Component(
        "k_nearest_neighbors",
        KNeighborsClassifier(n_jobs=1),
        {
            "n_neighbors": Integer(1, 100, log=True, default=1),
            "weights": Categorical(["uniform", "distance"]),
            "p": Categorical([2, 1]),
        },
        adapt=neighbors_to_rows,
        cost=0.6,
    )


def lda() -> Component:
    """Linear discriminant analysis."""
    return Component(
        "lda",
        make_lda,
        {
            "shrinkage": Categorical(["none", "auto", "manual"]),
            "shrinkage_factor": Real(0.0, 1.0, default=0.5),
            "tol": _tolerance(),
        },
        conditions={"shrinkage_factor": ("shrinkage", ["manual"])},
        dense_only=True,
        cost=0.2,
    )


def qda() -> Component:
    """Quadratic discriminant analysis."""
    return Component(
        "qda",
        QuadraticDiscriminantAnalysis(),
        {"reg_param": Real(0.0, 1.0, default=0.0)},
        cost=0.3,
    )


def liblinear_svc() -> Component:
    """Linear support vector machine."""
    return Component(
        "liblinear_svc",
        LinearSVC(dual=False),
        {
            "penalty": Categorical(["l2", "l1"]),
            "tol": _tolerance(),
            "C": Real(*_C, log=True, default=1.0),
        },
        cost=0.7,
    )


def libsvm_svc() -> Component:
    """Kernel machine."""
    return Component(
        "libsvm_svc",
        SVC(max_iter=100_000),  # as a bound only: good settings need fewer steps
        {
            "C": Real(*_C, log=True, default=1.0),
            "kernel": Categorical(["rbf", "poly", "sigmoid"]),
            "gamma": Real(*_GAMMA, log=True, default=0.1),
            "degree": Integer(2, 5, default=3),
            "coef0": Real(-1.0, 1.0, default=0.0),
            "shrinking": Categorical([True, False]),
            "tol": _tolerance(1e-3),
        },
        conditions={"degree": ("kernel", ["poly"]), "coef0": ("kernel", ["poly", "sigmoid"])},
        cost=6.0,
    )


def passive_aggressive() -> Component:
    """Passive-aggressive learning (PA-I for the hinge, PA-II for the squared hinge)."""
    return Component(
        "passive_aggressive",
        make_passive_aggressive,
        {
            "C": Real(1e-5, 10.0, log=True, default=1.0),
            "loss": Categorical(["hinge", "squared_hinge"]),
            "tol": _tolerance(),
            "average": Categorical([False, True]),
        },
        cost=0.5,
    )


def make_passive_aggressive(
    C: float = 1.0, loss: str = "hinge", n_epochs: int | None = None, **parameters: Any
) -> SGDClassifier:
    """Build passive-aggressive learning out of SGD."""
    rate = {"hinge": "pa1", "squared_hinge": "pa2"}[loss]
    return make_sgd(n_epochs, loss="hinge", penalty=None, learning_rate=rate, eta0=C, **parameters)


def sgd() -> Component:
    """Linear models by stochastic gradient descent."""
    return Component(
        "sgd",
        make_sgd,
        {
            "loss": Categorical(
                ["log_loss", "hinge", "modified_huber", "squared_hinge", "perceptron"]
            ),
            "penalty": Categorical(["l2", "l1", "elasticnet"]),
            "alpha": Real(1e-7, 1e-1, log=True, default=1e-4),
            "l1_ratio": Real(1e-9, 1.0, log=True, default=0.15),
            "tol": _tolerance(),
            "learning_rate": Categorical(["invscaling", "optimal", "constant"]),
            "eta0": Real(1e-7, 1e-1, log=True, default=0.01),
            "power_t": Real(1e-5, 1.0, default=0.5),
            "average": Categorical([False, True]),
        },
        conditions={
            "l1_ratio": ("penalty", ["elasticnet"]),
            "eta0": ("learning_rate", ["invscaling", "constant"]),
            "power_t": ("learning_rate", ["invscaling"]),
        },
        cost=0.5,
    )


def make_sgd(n_epochs: int | None = None, **parameters: Any) -> SGDClassifier:
    """Build SGD that runs until it converges, or for a number of epochs."""
    if n_epochs is not None:
        parameters.update(max_iter=n_epochs, tol=None)
    return SGDClassifier(n_jobs=1, **parameters)


def xgradient_boosting() -> Component:
    """LightGBM in the place of XGBoost; it has no ``colsample_bylevel`` nor ``normalize_type``."""
    dart = ("boosting_type", ["dart"])
    return Component(
        "xgradient_boosting",
        make_xgradient_boosting,
        {
            "max_depth": Integer(1, 20, default=3),
            "learning_rate": Real(1e-3, 1.0, log=True, default=0.1),
            "boosting_type": Categorical(["gbdt", "dart"]),
            "subsample": Real(0.01, 1.0, default=1.0),
            "min_child_weight": Integer(0, 20, default=1),
            "colsample_bytree": Real(0.1, 1.0, default=1.0),
            "feature_fraction_bynode": Real(0.1, 1.0, default=1.0),
            "reg_alpha": Real(1e-10, 1e-1, log=True, default=1e-10),
            "reg_lambda": Real(1e-10, 1e-1, log=True, default=1e-10),
            "uniform_drop": Categorical([True, False]),
            "drop_rate": Real(1e-10, 1.0 - 1e-10, default=0.5),
        },
        conditions={"uniform_drop": dart, "drop_rate": dart},
        adapt=rows_in_bag,
        handles_missing=True,
        cost=4.5,
    )


def make_xgradient_boosting(
    max_depth: int = 3, n_estimators: int = 512, **parameters: Any
) -> LGBMClassifier:
    """Build LightGBM with as many leaves as the depth allows."""
    return LGBMClassifier(
        n_estimators=n_estimators,
        max_depth=max_depth,
        num_leaves=min(2**max_depth, _MAX_LEAVES),
        subsample_freq=1,
        n_jobs=1,
        verbose=-1,
        force_col_wise=True,
        **parameters,
    )


def mosaic_classifiers() -> list[Component]:
    """The 16 classifiers of MOSAIC.

    Returns
    -------
    list of Component
        In alphabetical order.
    """
    return [
        adaboost(),
        bernoulli_nb(),
        decision_tree(),
        extra_trees(),
        gaussian_nb(),
        gradient_boosting(),
        k_nearest_neighbors(),
        lda(),
        liblinear_svc(),
        libsvm_svc(),
        multinomial_nb(),
        passive_aggressive(),
        qda(),
        random_forest(),
        sgd(),
        xgradient_boosting(),
    ]


# ------------------------------------------------------------------------------------------ FLASH


def flash_classifiers() -> list[Component]:
    """The 14 classifiers of FLASH (its public space, where that differs from auto-sklearn's).

    Returns
    -------
    list of Component
        In the order of the paper's Table 5.
    """
    epochs = {"n_epochs": Integer(5, 1000, default=20)}
    return [
        adaboost().vary({"learning_rate": Real(1e-4, 2.0, log=True, default=0.1)}),
        decision_tree(),
        extra_trees(),
        gaussian_nb(),
        gradient_boosting().vary(
            {
                "learning_rate": Real(1e-4, 1.0, log=True, default=0.1),
                "n_estimators": Categorical([100]),
            }
        ),
        k_nearest_neighbors().vary({"n_neighbors": Integer(1, 100, default=1)}),
        lda(),
        liblinear_svc().vary(drop=["penalty"]),
        libsvm_svc().vary({"degree": Integer(1, 5, default=3), "tol": _tolerance()}),
        multinomial_nb(),
        passive_aggressive().vary(epochs, drop=["tol", "average"]),
        qda().vary({"reg_param": Real(0.0, 1.0, default=0.5)}),
        random_forest(),
        sgd().vary(
            {
                "loss": Categorical(
                    ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"]
                ),
                "alpha": Real(1e-6, 1e-1, log=True, default=1e-4),
                "l1_ratio": Real(0.0, 1.0, default=0.15),
                "learning_rate": Categorical(["optimal", "invscaling", "constant"]),
                "eta0": Real(1e-6, 1e-1, default=0.01),
                **epochs,
            },
            drop=["tol"],
        ),
    ]


# ------------------------------------------------------------------------------------------ DivBO


def logistic_regression() -> Component:
    """Logistic regression; liblinear takes several classes one against the rest."""
    return Component(
        "logistic_regression",
        make_logistic_regression,
        {
            "C": Real(2.0**-5, 10.0, log=True, default=1.0),
            "tol": Real(1e-6, 1e-2, log=True, default=1e-4),
            "penalty": Categorical(["l2", "l1"]),
            "solver": Categorical(["liblinear", "saga"]),
        },
        cost=0.8,
    )


def make_logistic_regression(
    penalty: str = "l2", solver: str = "liblinear", max_iter: int = 3000, **parameters: Any
) -> LogisticRegression | OneVsRestClassifier:
    """Build a logistic regression from the names of older scikit-learn versions."""
    model = LogisticRegression(
        l1_ratio={"l2": 0.0, "l1": 1.0}[penalty], solver=solver, max_iter=max_iter, **parameters
    )
    return OneVsRestClassifier(model, n_jobs=1) if solver == "liblinear" else model


def divbo_lightgbm() -> Component:
    """LightGBM with DivBO's ranges."""
    return Component(
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
    )


def divbo_classifiers() -> list[Component]:
    """The 11 classifiers of DivBO (from mindware, where that differs from auto-sklearn).

    Returns
    -------
    list of Component
        In the order of the paper's Table 6.
    """
    return [
        adaboost().vary({"max_depth": Integer(2, 8, default=3)}),
        random_forest(),
        extra_trees(),
        gradient_boosting().vary(
            {"n_estimators": Categorical([100]), "max_depth": Integer(1, 8, default=3)}
        ),
        k_nearest_neighbors().vary(drop=["p"]),
        lda(),
        qda(),
        logistic_regression(),
        liblinear_svc().vary(
            {
                "loss": Categorical(["squared_hinge", "hinge"]),
                "dual": Categorical([True, False]),
            },
            # hinge needs the quadratic penalty and the dual; l1 needs the primal
            conditions={
                "loss": ("penalty", ["l2"]),
                "dual": ("loss", ["squared_hinge"]),
            },
            estimator=make_liblinear_svc,
        ),
        libsvm_svc().vary({"max_iter": Categorical([10000])}),
        divbo_lightgbm(),
    ]


def make_liblinear_svc(
    penalty: str = "l2", loss: str = "squared_hinge", dual: bool | None = None, **parameters: Any
) -> LinearSVC:
    """Build a linear support vector machine from a legal combination of its choices."""
    if dual is None:
        dual = loss == "hinge"
    return LinearSVC(penalty=penalty, loss=loss, dual=dual, **parameters)


# ------------------------------------------------------------------------------------------- ADMM


def admm_classifiers() -> list[Component]:
    """The 11 estimators of ADMM's larger space.

    The paper prints how many hyper-parameters each has; names and ranges are auto-sklearn's, or
    ours where that has none.

    Returns
    -------
    list of Component
        In the order of the paper's Table A2.
    """
    trees = {"n_estimators": Integer(50, 300, default=100)}
    return [
        gaussian_nb(),
        qda(),
        gradient_boosting().vary(
            {"loss": Categorical(["log_loss", "exponential"])}, adapt=_log_loss_for_many_classes
        ),
        k_nearest_neighbors(),
        random_forest().vary(trees),
        extra_trees().vary(trees),
        adaboost().vary(drop=["max_depth"]),
        decision_tree().vary(
            {
                "min_weight_fraction_leaf": Real(0.0, 0.5, default=0.0),
                "min_impurity_decrease": Real(0.0, 0.2, default=0.0),
            }
        ),
        gaussian_process(),
        logistic_regression().vary({"fit_intercept": Categorical([True, False])}),
        mlp(),
    ]


def _log_loss_for_many_classes(estimator: Any, context: FitContext) -> None:
    """Use the log loss for several classes: the exponential loss is for two."""
    if context.n_classes > 2:
        estimator.set_params(loss="log_loss")


def gaussian_process() -> Component:
    """Gaussian process classifier; its cost grows with the cube of the number of rows."""
    return Component(
        "gaussian_process",
        GaussianProcessClassifier(n_jobs=1, copy_X_train=False),
        {
            "n_restarts_optimizer": Integer(0, 3, default=0),
            "max_iter_predict": Integer(50, 200, default=100),
        },
        max_samples=1000,
        cost=8.0,
    )


def mlp() -> Component:
    """Neural network with auto-sklearn's later ranges."""
    return Component(
        "mlp",
        make_mlp,
        {
            "alpha": Real(1e-7, 1e-1, log=True, default=1e-4),
            "learning_rate_init": Real(1e-4, 0.5, log=True, default=1e-3),
            "depth": Integer(1, 3, default=1),
            "width": Integer(16, 264, log=True, default=32),
            "activation": Categorical(["relu", "tanh"]),
            "early_stopping": Categorical([True, False]),
            "batch_size": Integer(16, 256, log=True, default=200),
        },
        adapt=_batch_to_rows,
        cost=7.0,
    )


def make_mlp(
    depth: int = 1, width: int = 32, early_stopping: bool = True, **parameters: Any
) -> MLPClassifier:
    """Build a network of equal layers, stopped by a validation split or by the training loss."""
    return MLPClassifier(
        hidden_layer_sizes=(width,) * depth,
        early_stopping=early_stopping,
        n_iter_no_change=10 if early_stopping else 32,
        **parameters,
    )


def _batch_to_rows(estimator: Any, context: FitContext) -> None:
    estimator.set_params(batch_size=min(estimator.batch_size, context.n_samples))


# -------------------------------------------------------------------------------------- FanG-HPO


def fang_mlp() -> Component:
    """Neural network of FanG-HPO (Table 2): sizes of unused layers stay free coordinates."""
    return Component(
        "mlp",
        make_fang_mlp,
        {
            "n_layers": Integer(1, 4, default=1),
            **{f"layer_{i}": Integer(2, 32, log=True, default=8) for i in range(1, 5)},
            "alpha": Real(1e-6, 1e-1, log=True, default=1e-4),
            "learning_rate_init": Real(1e-6, 1e-1, log=True, default=1e-3),
            "beta_1": Real(1e-3, 0.99, log=True, default=0.9),
            "beta_2": Real(1e-3, 0.99, log=True, default=0.99),
            "tol": Real(1e-5, 1e-2, log=True, default=1e-4),
        },
    )


def make_fang_mlp(
    n_layers: int = 1,
    layer_1: int = 8,
    layer_2: int = 8,
    layer_3: int = 8,
    layer_4: int = 8,
    **parameters: Any,
) -> MLPClassifier:
    """Build a network of up to four layers."""
    layers = (layer_1, layer_2, layer_3, layer_4)[:n_layers]
    return MLPClassifier(hidden_layer_sizes=layers, **parameters)


def fang_gradient_boosting() -> Component:
    """LightGBM in the place of XGBoost, with the ranges of FanG-HPO (Table 3)."""
    return Component(
        "gradient_boosting",
        make_fang_gradient_boosting,
        {
            "n_estimators": Integer(1, 256, log=True, default=100),
            "learning_rate": Real(0.01, 1.0, log=True, default=0.1),
            "min_split_gain": Real(0.0, 0.1, default=0.0),
            "reg_alpha": Real(1e-3, 1e3, log=True, default=1e-3),
            "reg_lambda": Real(1e-3, 1e3, log=True, default=1.0),
            "subsample": Real(0.01, 1.0, default=1.0),
            "max_depth": Integer(1, 16, default=6),
        },
        adapt=rows_in_bag,
        handles_missing=True,
    )


def make_fang_gradient_boosting(max_depth: int = 6, **parameters: Any) -> LGBMClassifier:
    """Build LightGBM with as many leaves as the depth allows."""
    return LGBMClassifier(
        max_depth=max_depth,
        num_leaves=min(2**max_depth, 131072),
        subsample_freq=1,
        n_jobs=1,
        verbose=-1,
        force_col_wise=True,
        **parameters,
    )
