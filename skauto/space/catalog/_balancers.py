"""Balancers of classes of unequal size."""

from collections.abc import Iterable
from typing import Any

from skauto.space._component import Component
from skauto.space._parameters import Integer, Real

# Strength 1 makes group and class independent. Larger strengths compensate for columns that are
# correlated with the group.
_MAX_STRENGTH = 4.0


def none(**options: Any) -> Component:
    """No balancing."""
    return Component("none", **options)


def weights(**options: Any) -> Component:
    """Class weights in the fit of the classifier."""
    return Component("weights", balancing="weights", **options)


def group_weights(sensitive: Iterable[str], **options: Any) -> Component:
    """Sample weights by group and class, with a strength for each sensitive feature."""
    strengths = {f"strength_{name}": Real(0.0, _MAX_STRENGTH, default=1.0) for name in sensitive}
    return Component("group_weights", parameters=strengths, balancing="groups", **options)


def over_sampling(**options: Any) -> Component:
    """Random over-sampling of the smaller classes."""
    return Component(
        "over_sampling",
        make_over_sampler,
        balancing="sampler",
        handles_missing=True,
        handles_categories=True,
        keeps_categories=True,
        **options,
    )


def smote(**options: Any) -> Component:
    """SMOTE: synthetic rows, interpolated between rows of the smaller classes."""
    return Component(
        "smote",
        make_smote,
        {"k_neighbors": Integer(2, 15, default=5)},
        balancing="sampler",
        **options,
    )


def make_over_sampler() -> Any:
    """Build a random over-sampler."""
    from imblearn.over_sampling import RandomOverSampler

    return RandomOverSampler()


def make_smote(k_neighbors: int = 5) -> Any:
    """Build SMOTE."""
    from skauto.space.catalog._samplers import CappedSMOTE

    return CappedSMOTE(k_neighbors=k_neighbors)
