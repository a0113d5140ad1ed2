"""The ``initial`` parameter: configurations that are tried before the strategy is asked."""

from typing import Any

import numpy as np

from skauto.data import DataFacts
from skauto.data._training import ReadTable
from skauto.metalearning import (
    FitTimeModel,
    adapt_configuration,
    load_archive,
    meta_features,
    nearest_configurations,
    portfolio_configurations,
)
from skauto.schedule import max_seconds_of_network
from skauto.space import Configuration, SearchSpace


def initial_configurations(
    initial: Any,
    space: SearchSpace,
    facts: DataFacts,
    time_model: FitTimeModel | None,
    *,
    processor_seconds: float,
    weigh_groups: bool,
) -> list[Configuration]:
    """List the initial configurations of every ``initial`` but "metalearning".

    The `time_model` predicts the seconds of configurations; it is None without a time limit. With
    `weigh_groups`, "portfolio" is replaced by "defaults" in a space with weights by group. An
    entry that is no configuration or lies outside of the space raises an error. Entries may be of
    the whole space, of which `space` is the part for the data.
    """
    if initial is None:
        return []
    if not isinstance(initial, str):
        for configuration in initial:
            if not isinstance(configuration, Configuration):
                raise TypeError(
                    "The 'initial' parameter must hold Configuration objects. Got "
                    f"{type(configuration).__name__} instead."
                )
        return list(dict.fromkeys(_in_space(configuration, space) for configuration in initial))
    components = [c for step in space.steps for c in space.components(step)]
    # The portfolio was learned without weights by group, which the default configurations use.
    weigh_groups = weigh_groups and any(c.balancing == "groups" for c in components)
    if initial == "defaults" or weigh_groups:
        return space.default_configurations()
    return portfolio_configurations(
        space,
        n_samples=facts.n_samples,
        n_classes=facts.n_classes,
        has_categories=facts.has_categories,
        seconds=None if time_model is None else lambda c: time_model.seconds(c, facts),
        max_seconds=max_seconds_of_network(processor_seconds),
    )


def _in_space(configuration: Configuration, space: SearchSpace) -> Configuration:
    """Adapt a configuration of the whole space to its part for the data; raise if it cannot be."""
    if configuration.steps == space.steps:
        adapted = adapt_configuration(configuration, space)
        if adapted is not None:
            return adapted
    try:
        space.validate(configuration)
    except ValueError as exc:
        raise ValueError(
            f"The 'initial' parameter holds {configuration!r}, which is not in the search space "
            f"of these data: {str(exc).rstrip('.')}."
        ) from exc
    return configuration


def similar_configurations(
    space: SearchSpace, table: ReadTable, rng: np.random.Generator
) -> tuple[list[Configuration], list[str]]:
    """List the best configurations on similar data sets, and the names of these sets."""
    other = "Pass 'portfolio', 'defaults', None or a list of Configuration objects."
    try:
        archive = load_archive(space.name)
    except ValueError as exc:
        raise ValueError(
            "The 'initial' parameter 'metalearning' needs a named space with an archive, "
            f"or a part of one. {exc} {other}"
        ) from exc
    categorical = table.reader.categorical_indices_
    features = meta_features(table.Z, table.y, categorical=categorical, rng=rng)
    configurations = nearest_configurations(archive, features, space)
    if not configurations:
        raise ValueError(
            "The 'initial' parameter 'metalearning' found no configuration of the archive "
            f"that lies in this part of the space {space.name!r}. {other}"
        )
    return configurations, [known.name for known in archive.neighbors(features)]
