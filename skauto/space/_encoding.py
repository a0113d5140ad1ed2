"""Encoding of configurations as vectors, and decoding."""

import numpy as np

from skauto.space._configuration import Configuration
from skauto.space._layout import Layout
from skauto.space._structures import Structures
from skauto.utils import FloatArray


def decode(layout: Layout, vector: FloatArray) -> Configuration:
    """Convert a vector of shape (n_columns,) to a configuration."""
    names, settings = [], []
    for i, step in enumerate(layout.steps):
        j = int(vector[i])
        component = layout.components[i][j]
        values = {}
        for key, column in layout.spans[i][j].items():
            u = vector[column]
            if u == u:  # not NaN: active
                values[key] = component.parameters[key].from_unit([u])[0]
        names.append((step, component.name))
        settings.append(values)
    return Configuration._from_parts(tuple(names), tuple(settings))


def encode(
    layout: Layout, structures: Structures, configurations: list[Configuration]
) -> FloatArray | None:
    """Convert configurations to vectors, shape (n, n_columns); None if one is not in the space."""
    vectors = np.full((len(configurations), layout.n_columns), np.nan)
    try:
        for vector, configuration in zip(vectors, configurations, strict=True):
            _fill(layout, vector, configuration)
    except (KeyError, ValueError, TypeError, AttributeError):
        return None
    legal = structures.legal(vectors[:, : layout.n_steps].astype(np.intp))
    given = ~np.isnan(vectors[:, layout.n_steps :])
    return vectors if legal.all() and np.array_equal(given, layout.active(vectors)) else None


def _fill(layout: Layout, vector: FloatArray, configuration: Configuration) -> None:
    """Write the algorithms and values of a configuration into a vector."""
    if configuration.steps != layout.steps:
        raise ValueError("the configuration has other steps")
    for i, name in enumerate(configuration.structure):
        j = layout.index[i][name]
        vector[i] = j
        for key, value in configuration._settings[i].items():
            column = layout.spans[i][j][key]
            vector[column] = layout.parameter(column).to_unit([value])[0]
