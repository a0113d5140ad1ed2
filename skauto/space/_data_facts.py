"""What is known about a data set beforehand, and which algorithms it rules out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sklearn.utils.validation import has_fit_parameter

from skauto.space._component import Component

if TYPE_CHECKING:
    from skauto.space._space import SearchSpace


@dataclass(frozen=True)
class DataFacts:
    """What is known about a data set before any pipeline is fitted.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_features : int
        Number of columns.
    has_missing : bool, default=False
        Whether values are missing.
    has_categories : bool, default=False
        Whether there are categorical columns.
    sparse : bool, default=False
        Whether the matrix is sparse.
    weighted : bool, default=False
        Whether the user gives sample weights.

    Examples
    --------
    >>> from skauto.space import DataFacts
    >>> DataFacts(n_samples=100, n_features=4, has_missing=True).has_missing
    True
    """

    n_samples: int
    n_features: int
    has_missing: bool = False
    has_categories: bool = False
    sparse: bool = False
    weighted: bool = False


def usable_components(space: SearchSpace, step: str, facts: DataFacts) -> list[Component]:
    """List the algorithms of a step that can work on a data set and do not repeat another."""
    usable = [c for c in space.components(step) if _is_usable(c, facts)]
    if facts.weighted and step == space.steps[-1]:
        usable = [c for c in usable if takes_weights(c)]
    if not usable:
        raise ValueError(f"step {step!r} has no algorithm that can be used with {facts}")
    idle = (step == "imputer" and not facts.has_missing) or (
        step == "encoder" and not facts.has_categories
    )
    return [next((c for c in usable if c.passthrough), usable[0])] if idle else usable


def forbid_behind(space: SearchSpace, step: str, idle_trait: str, trait: str) -> None:
    """Forbid, behind components of `step` that let something pass, all that cannot take it."""
    if step not in space.steps:
        return
    idle = [c.name for c in space.components(step) if getattr(c, idle_trait)]
    for other in space.steps[space.steps.index(step) + 1 :]:
        if other in ("encoder", "imputer"):
            continue
        lacking = [c.name for c in space.components(other) if not getattr(c, trait)]
        if idle and lacking:
            space.forbid({step: idle}, {other: lacking})


def _is_usable(component: Component, facts: DataFacts) -> bool:
    if facts.sparse and component.dense_only:
        return False
    if facts.weighted and component.balancing == "sampler":
        return False
    if component.max_samples is not None and facts.n_samples > component.max_samples:
        return False
    return component.max_features is None or facts.n_features <= component.max_features


def takes_weights(component: Component) -> bool:
    """Whether the estimator of a component can be fitted with weights of the rows."""
    estimator = component.make(component.default_values())
    return estimator is None or has_fit_parameter(estimator, "sample_weight")
