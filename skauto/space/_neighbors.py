"""Configurations that differ from a given one in a single choice."""

from collections.abc import Collection

import numpy as np

from skauto.space._layout import Layout
from skauto.space._parameter import clipped
from skauto.space._parameters import Categorical
from skauto.space._structures import Structures
from skauto.utils import FloatArray


def parameter_moves(
    layout: Layout, origin: FloatArray, rng: np.random.Generator, n_numeric: int, scale: float
) -> FloatArray:
    """Return vectors with one other hyper-parameter: every other choice, or a few near values."""
    columns: list[int] = []
    units: list[float] = []
    for column in range(layout.n_steps, layout.n_columns):
        u = origin[column]
        if u != u:
            continue
        parameter = layout.parameter(column)
        if isinstance(parameter, Categorical):
            candidates = (np.arange(parameter.n_choices) + 0.5) / parameter.n_choices
        else:
            draws = clipped(rng.normal(u, scale, size=n_numeric), 0.0, 1.0)
            candidates = np.unique(parameter.snap(draws))
        candidates = candidates[candidates != u]
        columns.extend([column] * len(candidates))
        units.extend(candidates.tolist())
    moved = np.tile(origin, (len(columns), 1))
    moved[np.arange(len(columns)), np.array(columns, dtype=np.intp)] = units
    layout.complete(moved)
    return moved


def structure_moves(
    structures: Structures, origin: FloatArray, fixed_steps: Collection[str]
) -> FloatArray:
    """Return vectors with another algorithm, with default hyper-parameters, in one step."""
    layout = structures.layout
    row = origin[: layout.n_steps].astype(np.intp)
    changed = [np.empty((0, layout.n_steps), np.intp)]
    for i, components in enumerate(layout.components):
        if layout.steps[i] not in fixed_steps:
            others = [j for j in range(len(components)) if j != row[i]]
            block = np.tile(row, (len(others), 1))
            block[:, i] = others
            changed.append(block)
    rows = np.concatenate(changed)
    rows = rows[structures.legal(rows)]
    moved = np.tile(origin, (len(rows), 1))
    moved[:, : layout.n_steps] = rows
    layout.complete(moved)
    return moved
