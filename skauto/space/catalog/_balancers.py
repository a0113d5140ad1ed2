"""Balancers of classes of unequal size."""

from collections.abc import Iterable
from typing import Any

from skauto.space._component import Component
from skauto.space._parameters import Integer, Real

# Strength 1 makes group and class independent. Larger strengths compensate for columns that are
# correlated with the group.
_MAX_STRENGTH = 4.0


def none(weight: float = 1.0) -> Component:
    """No balancing."""
    return Component("none", weight=weight)


def weights() -> Component:
    """Class weights in the fit of the classifier."""
    return Component("weights", balancing="weights")


def group_weights(sensitive: Iterable[str], weight: float = 1.0) -> Component:
    """Sample weights by group and class, with a strength for each sensitive feature."""
    strengths = {f"strength_{name}": Real(0.0, _MAX_STRENGTH, default=1.0) for name in sensitive}
    return Component("group_weights", parameters=strengths, balancing="groups", weight=weight)


def over_sampling() -> Component:
    """Random over-sampling of the smaller classes."""
    return Component(
        "over_sampling",
        make_over_sampler,
        balancing="sampler",
        handles_missing=True,
        handles_categories=True,
        keeps_categories=True,
    )


def smote() -> Component:
    """SMOTE: synthetic rows, interpolated between rows of the smaller classes."""
    return Component(
        "smote",
        make_smote,
        {"k_neighbors": Integer(2, 15, default=5)},
        balancing="sampler",
    )


def make_over_sampler() -> Any:
    """Build a random over-sampler."""
    from imblearn.over_sampling import RandomOverSampler

    return RandomOverSampler()


def make_smote(k_neighbors: int = 5) -> Any:
    """Build SMOTE."""
    from skauto.space.catalog._samplers import CappedSMOTE

    return CappedSMOTE(k_neighbors=k_neighbors)
