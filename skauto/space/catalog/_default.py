"""The default search space."""

from collections.abc import Iterable

from skauto.space._component import Component
from skauto.space._space import SearchSpace
from skauto.space._usable import takes_weights
from skauto.space.catalog import (
    _balancers,
    _classifiers,
    _encoders,
    _imputers,
    _scalers,
    _selectors,
    _transformers,
)
from skauto.space.catalog._steps import make_space


def default(sensitive: Iterable[str] = ()) -> SearchSpace:
    """Build the default space, for searches of seconds to an hour.

    If there are sensitive features, the default balancer weighs rows by group and class.
    """
    return build("default", _classifiers.default_classifiers(), sensitive)


def build(name: str, classifiers: Iterable[Component], sensitive: Iterable[str]) -> SearchSpace:
    """Build a space with the preprocessors of the default space and some classifiers.

    Classifiers that handle categories must be tree ensembles.
    """
    usual = {"classifier": "lightgbm"} | ({"balancer": "group_weights"} if sensitive else {})
    components = {**_preprocessors(), "classifier": list(classifiers)}
    space = make_space(name, components, default=usual, anchor="classifier")
    _forbid_pointless(space)
    if sensitive:
        unweighted = [c.name for c in space.components("classifier") if not takes_weights(c)]
        space.add("balancer", _balancers.group_weights(sensitive, weight=7.0))
        space.forbid({"balancer": "group_weights"}, {"classifier": unweighted})
    return space


def _preprocessors() -> dict[str, list[Component]]:
    """Return the algorithms of every step except the classifier."""
    return {
        "encoder": [_encoders.ordinal(), _encoders.one_hot(), _encoders.target()],
        "imputer": [_imputers.none(), _imputers.simple()],
        "balancer": [
            _balancers.none(weight=7.0),
            _balancers.weights(),
            _balancers.over_sampling(),
            _balancers.smote(),
        ],
        "scaler": [
            _scalers.none(),
            _scalers.standard(weight=2.0),
            _scalers.robust_smooth(),
            _scalers.quantile_normal(),
            _scalers.min_max(weight=0.5),
        ],
        "transformer": [
            _transformers.none(weight=6.0),
            _transformers.pca(),
            _transformers.quadratic(),
            _transformers.scaled_nystroem(),
            _transformers.tree_embedding(),
        ],
        "selector": [
            _selectors.none(weight=6.0),
            _selectors.percentile(),
            _selectors.extra_trees(),
            _selectors.l1(),
        ],
    }


def _forbid_pointless(space: SearchSpace) -> None:
    """Forbid pairs of algorithms that fail, or that cannot improve the classifier."""
    trees = [c.name for c in space.components("classifier") if c.handles_categories]
    scaled = ["logistic_regression", "svm", "k_nearest_neighbors", "mlp"]
    dense = [c.name for c in space.components("classifier") if c.dense_only]

    # trees are invariant to monotonic transformations of a column
    scalers = ["standard", "robust_smooth", "quantile", "min_max"]
    space.forbid({"scaler": scalers}, {"classifier": trees})
    space.forbid(
        {"transformer": ["pca", "polynomial", "nystroem", "random_trees_embedding"]},
        {"classifier": trees},
    )
    space.forbid({"selector": "select_l1"}, {"classifier": trees})
    # distances, penalties and gradient steps need columns of the same scale
    space.forbid({"scaler": "none"}, {"classifier": scaled})
    space.forbid({"scaler": "none"}, {"transformer": ["pca", "polynomial", "nystroem"]})
    space.forbid({"scaler": "none"}, {"selector": "select_l1"})
    # naive Bayes is invariant to the scale of a column
    space.forbid({"scaler": ["standard", "min_max"]}, {"classifier": "gaussian_nb"})
    # these expansions are for linear models
    space.forbid(
        {"transformer": ["nystroem", "random_trees_embedding", "polynomial"]},
        {"classifier": ["svm", "k_nearest_neighbors", "qda", "gaussian_nb", "mlp"]},
    )
    # the embedding is sparse
    space.forbid({"transformer": "random_trees_embedding"}, {"classifier": dense})
    # their fit has no class weights
    space.forbid({"balancer": "weights"}, {"classifier": ["k_nearest_neighbors", "lda", "qda"]})
    # class weights have the same effect at less cost
    space.forbid(
        {"balancer": "over_sampling"}, {"classifier": [*trees, "logistic_regression", "svm"]}
    )
