"""What the spaces of the papers have in common."""

from collections.abc import Mapping, Sequence

from sklearn.impute import SimpleImputer

from skauto.space._component import Component
from skauto.space._parameters import Categorical
from skauto.space._space import SearchSpace
from skauto.space.catalog._encoders import adapt_one_hot, make_one_hot
from skauto.space.catalog._steps import STEPS, make_space

NONE = Component("none")

ONE_HOT = Component(
    "one_hot",
    make_one_hot,
    adapt=adapt_one_hot,
    dense_only=False,
    handles_missing=True,
    handles_categories=True,
)

IMPUTER = Component(
    "simple",
    SimpleImputer(keep_empty_features=True),
    {"strategy": Categorical(["mean", "median", "most_frequent"])},
    handles_categories=True,
)
"""Imputation whose strategy is a hyper-parameter."""

IMPUTERS = {
    strategy: Component(
        strategy,
        SimpleImputer(strategy=strategy, keep_empty_features=True),
        handles_categories=True,
    )
    for strategy in ("mean", "median", "most_frequent")
}
"""Imputation whose strategy is an algorithm of its own."""

CLASS_WEIGHTS = Component("weights", balancing="weights")


def by_name(*components: Component) -> dict[str, Component]:
    """Index components by their names.

    Parameters
    ----------
    *components : Component
        Components of one step.

    Returns
    -------
    dict of str to Component
        In the given order.
    """
    return {component.name: component for component in components}


def paper_space(
    name: str,
    *,
    default: Mapping[str, str] | None = None,
    **components: Sequence[Component],
) -> SearchSpace:
    """Build a space from the steps in which a paper has a choice.

    The other steps have a single algorithm: one-hot encoding, imputation by
    the median, and nothing elsewhere.

    Parameters
    ----------
    name : str
        Name of the space.
    default : mapping of str to str, default=None
        See `SearchSpace`.
    **components : sequence of Component
        The algorithms of these steps.

    Returns
    -------
    SearchSpace
        A new space.
    """
    fixed: dict[str, Sequence[Component]] = dict.fromkeys(STEPS, [NONE])
    fixed |= {"encoder": [ONE_HOT], "imputer": [IMPUTERS["median"]]}
    return make_space(name, {**fixed, **components}, default=default)
