"""Encoding of configurations as vectors, and decoding."""

from typing import Any

import numpy as np

from skauto.space._configuration import Configuration
from skauto.space._layout import Layout
from skauto.space._structures import Structures
from skauto.utils import FloatArray

_Choices = tuple[tuple[str, str], ...]


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
        if not _fill(layout, vectors, configurations):
            return None
    except (KeyError, ValueError, TypeError, AttributeError):
        return None
    legal = structures.legal(vectors[:, : layout.n_steps].astype(np.intp))
    given = ~np.isnan(vectors[:, layout.n_steps :])
    return vectors if legal.all() and np.array_equal(given, layout.active(vectors)) else None


def _fill(layout: Layout, vectors: FloatArray, configurations: list[Configuration]) -> bool:
    """Write algorithms and values into `vectors`; return whether all are in the space."""
    uses = _write_structures(layout, vectors, configurations)
    if uses is None:
        return False
    n_given = n_known = 0
    for spans, step_uses in zip(layout.spans, uses, strict=True):
        for span, (rows, values) in zip(spans, step_uses, strict=True):
            n_given += sum(map(len, values))
            for key, column in span.items():
                having = [row for row, v in zip(rows, values, strict=True) if key in v]
                given = [v[key] for v in values if key in v]
                n_known += len(given)
                if given:
                    vectors[having, column] = layout.parameter(column).to_unit(given)
    return n_given == n_known


def _write_structures(
    layout: Layout, vectors: FloatArray, configurations: list[Configuration]
) -> list[list[tuple[list[int], list[dict[str, Any]]]]] | None:
    """Write the algorithms into `vectors`.

    Returns, for each algorithm of each step, the rows that use it and their hyper-parameters; None
    if the steps of a configuration differ.
    """
    uses: list[list[tuple[list[int], list[dict[str, Any]]]]]
    uses = [[([], []) for _ in components] for components in layout.components]
    known: dict[_Choices, list[int]] = {}
    for row, configuration in enumerate(configurations):
        choices = configuration._components
        structure = known.get(choices)
        if structure is None:
            if [step for step, _ in choices] != list(layout.steps):
                return None
            structure = [layout.index[i][name] for i, (_, name) in enumerate(choices)]
            known[choices] = structure
        vectors[row, : layout.n_steps] = structure
        for use, j, settings in zip(uses, structure, configuration._settings, strict=True):
            if settings:
                rows, values = use[j]
                rows.append(row)
                values.append(settings)
    return uses
