"""The search space of FLASH, as differences of its public file from auto-sklearn.

Y. Zhang et al., "FLASH: fast Bayesian optimization for data analytic pipelines", KDD 2016.
"""

from functools import partial
from typing import Any

from sklearn.base import clone
from sklearn.cluster import FeatureAgglomeration

from skauto.space._component import Component
from skauto.space._distributions import as_parameter
from skauto.space._parameters import Integer, Real
from skauto.space._space import SearchSpace
from skauto.space.catalog._preprocessors import CLASS_WEIGHTS
from skauto.space.catalog.papers._auto_sklearn_classifiers import CLASSIFIERS, GAMMA, TOLERANCE
from skauto.space.catalog.papers._auto_sklearn_transformers import (
    SCALERS,
    TRANSFORMERS,
    make_feature_agglomeration,
)
from skauto.space.catalog.papers._base import NONE, paper_space

_EPOCHS = {"n_epochs": Integer(5, 1000, default=20)}

# linkage and metric are one hyper-parameter
_LINKAGES = {
    "ward": {"linkage": "ward", "metric": "euclidean"},
    **{
        f"{linkage}_{metric}": {"linkage": linkage, "metric": metric}
        for linkage in ("complete", "average")
        for metric in ("euclidean", "manhattan", "cosine")
    },
}


def make_linked_agglomeration(kind: str = "ward", **parameters: Any) -> FeatureAgglomeration:
    """Build a feature agglomeration from the joint name of linkage and metric."""
    return make_feature_agglomeration(**_LINKAGES[kind], **parameters)


def make_kernel_method(prototype: Any, **parameters: Any) -> Any:
    """Build a kernel method from hyper-parameters with the kernel as a suffix."""
    plain = {}
    for key, value in parameters.items():
        plain[key.partition("_")[0] if key.startswith(("gamma_", "coef0_")) else key] = value
    return clone(prototype).set_params(**plain)


def _with_kernel_parameters(
    component: Component, with_gamma: list[str], default_gamma: float
) -> Component:
    """Return a copy with a separate gamma and coef0 for each kernel."""
    gammas = {f"gamma_{kernel}": as_parameter(GAMMA, default_gamma) for kernel in with_gamma}
    offsets = {f"coef0_{kernel}": Real(-1.0, 1.0, default=0.0) for kernel in ("poly", "sigmoid")}
    conditions = {key: ("kernel", [key.rpartition("_")[2]]) for key in (*gammas, *offsets)}
    return component.vary(
        {**gammas, **offsets},
        drop=["gamma", "coef0"],
        conditions={"degree": ("kernel", ["poly"]), **conditions},
        estimator=partial(make_kernel_method, component.estimator),
    )


# in the order of the paper's Table 5
_CLASSIFIERS = [
    CLASSIFIERS["adaboost"].vary({"learning_rate": Real(1e-4, 2.0, log=True, default=0.1)}),
    CLASSIFIERS["decision_tree"],
    CLASSIFIERS["extra_trees"],
    CLASSIFIERS["gaussian_nb"],
    CLASSIFIERS["gradient_boosting"].vary(
        {"learning_rate": Real(1e-4, 1.0, log=True, default=0.1), "n_estimators": [100]}
    ),
    CLASSIFIERS["k_nearest_neighbors"].vary({"n_neighbors": Integer(1, 100, default=1)}),
    CLASSIFIERS["lda"],
    CLASSIFIERS["liblinear_svc"].vary(drop=["penalty"]),
    CLASSIFIERS["libsvm_svc"].vary({"degree": Integer(1, 5, default=3), "tol": TOLERANCE}),
    CLASSIFIERS["multinomial_nb"],
    CLASSIFIERS["passive_aggressive"].vary(_EPOCHS, drop=["tol", "average"]),
    CLASSIFIERS["qda"].vary({"reg_param": Real(0.0, 1.0, default=0.5)}),
    CLASSIFIERS["random_forest"],
    CLASSIFIERS["sgd"].vary(
        {
            "loss": ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"],
            "alpha": Real(1e-6, 1e-1, log=True, default=1e-4),
            "l1_ratio": Real(0.0, 1.0, default=0.15),
            "learning_rate": ["optimal", "invscaling", "constant"],
            "eta0": Real(1e-6, 1e-1, default=0.01),
            **_EPOCHS,
        },
        drop=["tol"],
    ),
]

_TRANSFORMERS = [
    NONE,
    TRANSFORMERS["extra_trees_preproc"],
    TRANSFORMERS["fast_ica"],
    TRANSFORMERS["feature_agglomeration"].vary(
        {"kind": list(_LINKAGES)}, drop=["linkage", "metric"], estimator=make_linked_agglomeration
    ),
    _with_kernel_parameters(TRANSFORMERS["kernel_pca"], ["rbf", "poly"], default_gamma=1.0),
    TRANSFORMERS["kitchen_sinks"].vary({"gamma": Real(0.3, 2.0, default=1.0)}),
    TRANSFORMERS["liblinear_svc_preprocessor"],
    _with_kernel_parameters(
        TRANSFORMERS["nystroem_sampler"].vary(
            {"kernel": ["rbf", "poly", "sigmoid", "cosine", "chi2"]}
        ),
        ["rbf", "poly", "sigmoid", "chi2"],
        default_gamma=0.1,
    ),
    TRANSFORMERS["pca"],
    TRANSFORMERS["polynomial"],
    TRANSFORMERS["random_trees_embedding"],
    TRANSFORMERS["select_percentile"].vary({"score": ["chi2", "f_classif"]}),
    TRANSFORMERS["select_rates"],
]


def flash() -> SearchSpace:
    """Build FLASH's space (Table 5): 4 x 2 x 13 x 14 = 1,456 paths over 33 algorithms.

    It has no forbidden pairs, and 99 hyper-parameters. The paper counts 102: also ``algorithm`` of
    AdaBoost, ``n_components`` of LDA and ``epsilon`` of SGD.
    """
    return paper_space(
        "flash",
        default={"classifier": "random_forest"},
        balancer=[NONE, CLASS_WEIGHTS],
        scaler=[SCALERS[name] for name in ("none", "min_max", "normalize", "standard")],
        transformer=_TRANSFORMERS,
        classifier=_CLASSIFIERS,
    )
