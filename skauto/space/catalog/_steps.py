"""The steps of the pipelines of the catalog's spaces."""

from collections.abc import Iterable, Mapping

from skauto.space._component import Component
from skauto.space._space import SearchSpace

STEPS = ("encoder", "imputer", "balancer", "scaler", "transformer", "selector", "classifier")


def make_space(
    name: str,
    components: Mapping[str, Iterable[Component]],
    *,
    default: Mapping[str, str] | None = None,
    anchor: str | None = None,
) -> SearchSpace:
    """Build a space with all steps of the catalog, see `SearchSpace`."""
    space = SearchSpace(STEPS, name, default=default, anchor=anchor)
    for step in STEPS:
        for component in components[step]:
            space.add(step, component)
    return space
