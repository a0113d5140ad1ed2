"""Components that several papers share and auto-sklearn does not have."""

from typing import Any

from lightgbm import LGBMClassifier
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from skauto.space._component import Component
from skauto.space._parameters import Categorical, Integer, Real
from skauto.space.catalog._adapt import components_below_columns


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
        "penalty": Categorical(["l2", "l1"]),
        "solver": Categorical(["liblinear", "saga"]),
    },
    cost=0.8,
)

TRUNCATED_SVD = Component(
    "truncated_svd",
    TruncatedSVD(),
    {"n_components": Integer(10, 256, default=128)},
    adapt=components_below_columns,
)
