"""The columns of the vectors of a search space, and vectorized operations on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skauto.space._component import Component
from skauto.space._configuration import Configuration
from skauto.space._parameter import Parameter, clipped
from skauto.space._parameters import Categorical
from skauto.utils import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Column:
    """One column of the vectors: the algorithm of a step, or a hyper-parameter.

    Attributes
    ----------
    step : str
        Name of the step.
    component : str or None
        Name of the algorithm that has the hyper-parameter; None in a column of algorithms.
    parameter : str or None
        Name of the hyper-parameter; None in a column of algorithms.
    definition : Parameter or None
        The hyper-parameter; None in a column of algorithms.
    """

    step: str
    component: str | None = None
    parameter: str | None = None
    definition: Parameter | None = None


class Layout:
    """The columns of a search space and arrays that describe them, from its steps."""

    def __init__(self, steps: Sequence[tuple[str, Sequence[Component]]]) -> None:
        self.steps = tuple(step for step, _ in steps)
        self.components = tuple(tuple(components) for _, components in steps)
        self.index = tuple({c.name: j for j, c in enumerate(row)} for row in self.components)
        self.n_steps = len(self.steps)
        columns = [Column(step) for step in self.steps]
        spans: list[list[dict[str, int]]] = []
        # child and parent column, and unit values of the parent at which the child is active
        self.conditions: list[tuple[int, int, FloatArray]] = []
        owners: list[tuple[int, int]] = []  # step and algorithm of each hyper-parameter
        for i, step in enumerate(self.steps):
            spans.append([])
            for j, component in enumerate(self.components[i]):
                span = {}
                for key, parameter in component.parameters.items():
                    span[key] = len(columns)
                    columns.append(Column(step, component.name, key, parameter))
                    owners.append((i, j))
                spans[i].append(span)
                for child, (parent, values) in component.conditions.items():
                    allowed = component.parameters[parent].to_unit(values)
                    self.conditions.append((span[child], span[parent], allowed))
        self.columns = tuple(columns)
        self.parameters = tuple(c.definition for c in columns if c.definition is not None)
        self.spans = spans
        self.n_columns = len(columns)
        # as small integers, which `active` compares faster
        self.owner_step, self.owner_component = np.array(owners, np.int16).reshape(-1, 2).T

    def parameter(self, column: int) -> Parameter:
        """Return the hyper-parameter of a column, counted from the first column of all."""
        return self.parameters[column - self.n_steps]

    @cached_property
    def default_units(self) -> FloatArray:
        """Unit value of the default of each hyper-parameter column."""
        return np.array([parameter.default_unit for parameter in self.parameters])

    @cached_property
    def n_algorithms(self) -> IntArray:
        """Number of algorithms of each step."""
        return np.array([len(row) for row in self.components], np.intp)

    @cached_property
    def n_choices(self) -> IntArray:
        """Number of choices of each categorical column; 0 for ordered columns."""
        own = [p.n_choices if isinstance(p, Categorical) else 0 for p in self.parameters]
        return np.concatenate([self.n_algorithms, np.array(own, np.intp)])

    @cached_property
    def is_discrete(self) -> BoolArray:
        """Mask of the columns of hyper-parameters with a finite number of values."""
        own = [parameter.n_choices is not None for parameter in self.parameters]
        return np.array([False] * self.n_steps + own)

    def decode(self, vector: FloatArray) -> Configuration:
        """Convert a vector of shape (n_columns,) to a configuration."""
        names, settings = [], []
        for i, step in enumerate(self.steps):
            j = int(vector[i])
            component = self.components[i][j]
            values = {}
            for key, column in self.spans[i][j].items():
                u = vector[column]
                if u == u:  # not NaN: active
                    values[key] = component.parameters[key].from_unit([u])[0]
            names.append((step, component.name))
            settings.append(values)
        return Configuration._from_parts(tuple(names), tuple(settings))

    def write(self, configuration: Configuration, vector: FloatArray) -> None:
        """Write the algorithms and values of a configuration into a vector of shape (n_columns,).

        An error is raised if an algorithm, a hyper-parameter or a value is not in the space.
        """
        if configuration.steps != self.steps:
            raise ValueError("the configuration has other steps")
        for i, name in enumerate(configuration.structure):
            j = self.index[i][name]
            vector[i] = j
            for key, value in configuration._settings[i].items():
                column = self.spans[i][j][key]
                vector[column] = self.parameter(column).to_unit([value])[0]

    def columns_of(self, structure: IntArray) -> IntArray:
        """Return the columns of the hyper-parameters of the algorithms of a structure."""
        spans = (self.spans[i][j] for i, j in enumerate(structure))
        return np.array([column for span in spans for column in span.values()], np.intp)

    def deactivate(self, vectors: FloatArray) -> None:
        """Set the values of inactive hyper-parameters to NaN, in place."""
        vectors[:, self.n_steps :][~self.active(vectors)] = np.nan

    def active(self, vectors: FloatArray) -> BoolArray:
        """Mask of the active hyper-parameters of each vector, shape (n, n_parameters)."""
        structures = vectors[:, : self.n_steps].T.astype(np.int16)
        active = structures[self.owner_step] == self.owner_component[:, None]
        for child, parent, allowed in self.conditions:
            own = active[child - self.n_steps]
            rows = np.flatnonzero(own)
            holds = (vectors[rows, parent, None] == allowed).any(axis=1)
            own[rows] = active[parent - self.n_steps, rows] & holds
        return active.T

    def fill(self, vectors: FloatArray) -> None:
        """Replace missing values of hyper-parameters by their defaults, in place."""
        values = vectors[:, self.n_steps :]
        np.copyto(values, self.default_units, where=np.isnan(values))

    def parameter_moves(
        self, origins: FloatArray, rng: np.random.Generator, n_numeric: int, scale: float
    ) -> tuple[IntArray, FloatArray]:
        """Return vectors with one other hyper-parameter: every other choice, or near values.

        They have to be completed, and come with the row of the origin of each. The values of each
        hyper-parameter are in random order, because searches take the first of equally good
        vectors.
        """
        active = ~np.isnan(origins[:, self.n_steps :])
        of, columns, units = [], [], []
        for column in (np.flatnonzero(active.any(axis=0)) + self.n_steps).tolist():
            rows = np.flatnonzero(active[:, column - self.n_steps])
            own = origins[rows, column, None]
            parameter = self.parameter(column)
            if isinstance(parameter, Categorical):
                choices = (np.arange(parameter.n_choices) + 0.5) / parameter.n_choices
                near = np.tile(choices, (len(rows), 1))
            else:
                draws = clipped(rng.normal(own, scale, (len(rows), n_numeric)), 0.0, 1.0)
                near = np.sort(parameter.snap(draws.ravel()).reshape(draws.shape), axis=1)
                near[:, 1:][near[:, 1:] == near[:, :-1]] = np.nan  # a duplicate
            near[near == own] = np.nan
            near = rng.permuted(near, axis=1)
            row, place = np.nonzero(~np.isnan(near))
            of.append(rows[row])
            columns.append(np.full(len(row), column))
            units.append(near[row, place])
        if not of:
            return np.empty(0, np.intp), np.empty((0, self.n_columns))
        rows = np.concatenate(of)
        moved = origins[rows]
        moved[np.arange(len(rows)), np.concatenate(columns)] = np.concatenate(units)
        return rows, moved

    def complete(self, vectors: FloatArray) -> None:
        """Complete vectors in place: defaults for missing active values, NaN if inactive."""
        self.fill(vectors)
        self.deactivate(vectors)
