"""Components and steps that the spaces of the papers share."""

from collections.abc import Mapping, Sequence
from typing import Any

from lightgbm import LGBMClassifier
from sklearn.decomposition import TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from skauto.space._component import Component
from skauto.space._parameters import Integer, Real
from skauto.space._space import SearchSpace
from skauto.space.catalog._adapt import components_below_columns
from skauto.space.catalog._default import make_space
from skauto.space.catalog._preprocessors import ONE_HOT

NONE = Component("none")

# the strategy as a hyper-parameter
IMPUTER = Component(
    "simple",
    SimpleImputer(keep_empty_features=True),
    {"strategy": ["mean", "median", "most_frequent"]},
    handles_categories=True,
)

# one imputer per strategy
IMPUTERS = {
    strategy: Component(
        strategy,
        SimpleImputer(strategy=strategy, keep_empty_features=True),
        handles_categories=True,
    )
    for strategy in ("mean", "median", "most_frequent")
}


def make_penalized_logistic(
    penalty: str = "l2", solver: str = "liblinear", max_iter: int = 3000, **parameters: Any
) -> LogisticRegression | OneVsRestClassifier:
    """Build a logistic regression; liblinear is one-vs-rest for several classes."""
    model = LogisticRegression(
        l1_ratio={"l2": 0.0, "l1": 1.0}[penalty], solver=solver, max_iter=max_iter, **parameters
    )
    return OneVsRestClassifier(model, n_jobs=1) if solver == "liblinear" else model


def make_boosted_trees(
    max_depth: int = 6, max_leaves: int = 131_072, **parameters: Any
) -> LGBMClassifier:
    """Build LightGBM with the maximum number of leaves for the depth."""
    return LGBMClassifier(
        max_depth=max_depth,
        num_leaves=min(2**max_depth, max_leaves),
        subsample_freq=1,
        n_jobs=1,
        verbose=-1,
        force_col_wise=True,
        **parameters,
    )


LOGISTIC_REGRESSION = Component(
    "logistic_regression",
    make_penalized_logistic,
    {
        "C": Real(2.0**-5, 10.0, log=True, default=1.0),
        "tol": Real(1e-6, 1e-2, log=True, default=1e-4),
        "penalty": ["l2", "l1"],
        "solver": ["liblinear", "saga"],
    },
    cost=0.8,
)

TRUNCATED_SVD = Component(
    "truncated_svd",
    TruncatedSVD(),
    {"n_components": Integer(10, 256, default=128)},
    adapt=components_below_columns,
)


def by_name(*components: Component) -> dict[str, Component]:
    """Index components by their names."""
    return {component.name: component for component in components}


def paper_space(
    name: str, *, default: Mapping[str, str] | None = None, **components: Sequence[Component]
) -> SearchSpace:
    """Build a space from the steps for which a paper has several algorithms."""
    fixed: dict[str, Sequence[Component]] = {
        "encoder": [ONE_HOT],
        "imputer": [IMPUTERS["median"]],
        "balancer": [NONE],
        "scaler": [NONE],
        "transformer": [NONE],
        "selector": [NONE],
    }
    return make_space(name, {**fixed, **components}, default=default)
