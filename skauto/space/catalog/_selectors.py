"""Feature selectors."""

from functools import partial

from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import (
    SelectFromModel,
    SelectPercentile,
    f_classif,
    mutual_info_classif,
)
from sklearn.svm import LinearSVC

from skauto.space._component import Component
from skauto.space._parameters import Categorical, Real


def none(weight: float = 1.0) -> Component:
    """No selection."""
    return Component("none", weight=weight)


def percentile() -> Component:
    """Univariate selection of a percentage of the columns (`default` space)."""
    return Component(
        "select_percentile",
        make_percentile,
        {
            "percentile": Real(5.0, 95.0, default=60.0),
            "score": Categorical(["f_classif", "mutual_information"]),
        },
        handles_categories=True,
    )


def make_percentile(percentile: float = 50.0, score: str = "f_classif") -> SelectPercentile:
    """Build a univariate selector from the name of its score."""
    scores = {
        "f_classif": f_classif,
        "mutual_information": partial(mutual_info_classif, random_state=0),
    }
    return SelectPercentile(scores[score], percentile=percentile)


def extra_trees() -> Component:
    """Selection by the feature importances of extra trees (`default` space)."""
    return Component(
        "select_extra_trees",
        SelectFromModel(ExtraTreesClassifier(50, min_samples_leaf=3, n_jobs=1)),
        {
            "threshold": Categorical(["median", "0.5*mean", "mean", "0.25*mean"]),
        },
        handles_categories=True,
    )


def l1() -> Component:
    """Selection by the non-zero weights of an L1-penalised linear model (`default` space)."""
    return Component(
        "select_l1",
        make_l1,
        {"C": Real(0.003, 3.0, log=True, default=0.1)},
    )


def make_l1(C: float = 1.0) -> SelectFromModel:
    """Build a selector from an L1-penalised linear support vector machine."""
    return SelectFromModel(LinearSVC(C=C, penalty="l1", dual=False, tol=1e-3), threshold=1e-5)
