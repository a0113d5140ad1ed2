"""The default search space."""

from collections.abc import Iterable, Mapping, Sequence

from skauto.space._component import Component
from skauto.space._parameters import Integer
from skauto.space._space import SearchSpace
from skauto.space._usable import takes_weights
from skauto.space.catalog import _preprocessors
from skauto.space.catalog._classifiers import CLASSIFIERS

_PREPROCESSORS = {
    "encoder": _preprocessors.ENCODERS,
    "imputer": _preprocessors.IMPUTERS,
    "balancer": _preprocessors.BALANCERS,
    "scaler": _preprocessors.SCALERS,
    "transformer": _preprocessors.TRANSFORMERS,
    "selector": _preprocessors.SELECTORS,
}

# Classifiers that accept pairs of columns.
_BOOSTED = ("lightgbm", "catboost", "xgboost")
# Minimum number of trees or boosting rounds.
_FEWEST_TREES = 4


def default(
    sensitive: Iterable[str] = (),
    vary_size: bool = False,
    name: str = "default",
    classifiers: Sequence[Component] = CLASSIFIERS,
) -> SearchSpace:
    """Build the default space, for searches of seconds to an hour.

    If there are sensitive features, the default balancer weighs rows by group and class. With
    `vary_size`, the number of trees is a hyper-parameter. Classifiers that handle categories must
    be tree ensembles.
    """
    usual = {"classifier": "lightgbm"} | ({"balancer": "group_weights"} if sensitive else {})
    if vary_size:
        classifiers = [_with_size(component) for component in classifiers]
    components = {**_PREPROCESSORS, "classifier": classifiers}
    space = make_space(name, components, default=usual, anchor="classifier")
    _forbid_pointless(space)
    if sensitive:
        unweighted = [c.name for c in space.components("classifier") if not takes_weights(c)]
        space.add("balancer", _preprocessors.group_weights(sensitive))
        space.forbid({"balancer": "group_weights"}, {"classifier": unweighted})
    return space


def _with_size(component: Component) -> Component:
    """Make the size parameter a hyper-parameter, up to its value in the default space."""
    key = component.size_parameter
    if key is None or key in component.parameters:
        return component
    most = component.make({}).get_params()[key]
    return component.vary({key: Integer(_FEWEST_TREES, most, log=True, default=most)})


def make_space(
    name: str,
    components: Mapping[str, Iterable[Component]],
    *,
    default: Mapping[str, str] | None = None,
    anchor: str | None = None,
) -> SearchSpace:
    """Build a space from the algorithms of each step, see `SearchSpace`."""
    space = SearchSpace(tuple(components), name, default=default, anchor=anchor)
    for step, algorithms in components.items():
        for component in algorithms:
            space.add(step, component.vary())  # a copy, because the space may be modified
    return space


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
    # ratios can be missing values
    others = [c.name for c in space.components("classifier") if c.name not in _BOOSTED]
    selectors = [c.name for c in space.components("selector") if not c.passthrough]
    space.forbid({"transformer": "pairs"}, {"classifier": others})
    space.forbid({"transformer": "pairs"}, {"selector": selectors})
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
