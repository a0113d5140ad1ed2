"""Components that can be used on a data set, and pairs of components that are incompatible."""

from collections.abc import Iterator, Mapping, Sequence

from sklearn.utils.validation import has_fit_parameter

from skauto.data import DataFacts
from skauto.space._component import Component


def usable_components(
    components: Sequence[Component], step: str, facts: DataFacts, *, last: bool
) -> list[Component]:
    """List the components of a step that can be used on a data set; raise if there is none.

    Of the encoders without categories and of the imputers without missing values, only one is
    listed, because they would all do the same.
    """
    usable = [c for c in components if _is_usable(c, facts)]
    if facts.weighted and last:
        usable = [c for c in usable if takes_weights(c)]
    if not usable:
        raise ValueError(f"step {step!r} has no algorithm that can be used with {facts}")
    idle = (step == "imputer" and not facts.has_missing) or (
        step == "encoder" and not facts.has_categories
    )
    return [next((c for c in usable if c.passthrough), usable[0])] if idle else usable


def incompatible_pairs(
    components: Mapping[str, Sequence[Component]], step: str, idle_trait: str, trait: str
) -> Iterator[tuple[dict[str, list[str]], dict[str, list[str]]]]:
    """Yield the components of `step` with `idle_trait`, and of a later one without `trait`."""
    if step not in components:
        return
    idle = [c.name for c in components[step] if getattr(c, idle_trait)]
    later = list(components)[list(components).index(step) + 1 :]
    for other in later:
        lacking = [c.name for c in components[other] if not getattr(c, trait)]
        if idle and lacking and other not in ("encoder", "imputer"):
            yield {step: idle}, {other: lacking}


def _is_usable(component: Component, facts: DataFacts) -> bool:
    if facts.sparse and component.dense_only:
        return False
    if facts.weighted and component.balancing == "sampler":
        return False
    if component.max_samples is not None and facts.n_samples > component.max_samples:
        return False
    return component.max_features is None or facts.n_features <= component.max_features


def takes_weights(component: Component) -> bool:
    """Return whether the estimator of a component accepts ``sample_weight``."""
    estimator = component.make(component.default_values())
    return estimator is None or has_fit_parameter(estimator, "sample_weight")
