"""Components and steps that the spaces of the papers share."""

from collections.abc import Mapping, Sequence

from sklearn.impute import SimpleImputer

from skauto.space._component import Component
from skauto.space._parameters import Categorical
from skauto.space._space import SearchSpace
from skauto.space.catalog._default import make_space
from skauto.space.catalog._preprocessors import adapt_one_hot, make_one_hot

NONE = Component("none")

ONE_HOT = Component(
    "one_hot",
    make_one_hot,
    adapt=adapt_one_hot,
    dense_only=False,
    handles_missing=True,
    handles_categories=True,
)

# the strategy as a hyper-parameter
IMPUTER = Component(
    "simple",
    SimpleImputer(keep_empty_features=True),
    {"strategy": Categorical(["mean", "median", "most_frequent"])},
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

CLASS_WEIGHTS = Component("weights", balancing="weights")


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
