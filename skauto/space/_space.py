"""Search spaces: configurations as vectors, defaults, samples and neighbors."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skauto.space._component import Component
from skauto.space._configuration import Configuration
from skauto.space._definition import SpaceDefinition
from skauto.space._layout import Column
from skauto.space._parameter import plain
from skauto.space._parameters import Categorical
from skauto.utils import FloatArray, IntArray, known_names


class SearchSpace(SpaceDefinition):
    """Ordered steps with the algorithms to choose from and their hyper-parameters.

    A structure is the choice of one algorithm per step. Configurations are encoded as vectors, the
    rows of an array. The first columns of a vector are the structure: the index of the algorithm
    of each step. Then follows one column for each hyper-parameter of each algorithm: its value
    mapped to the unit interval, or NaN if it is inactive.

    Parameters
    ----------
    steps : sequence of str, default=("classifier",)
        Names of the steps, in the order of the pipeline.
    name : str, default="custom"
        Name of the space.
    default : mapping of str to str, default=None
        Algorithms of some steps in the default configuration. Other steps take the algorithm that
        a later step prefers, or else their first algorithm.
    anchor : str, default=None
        Step whose algorithms are drawn with their weights, independently of the number of legal
        structures of each. With None, all legal structures are equally likely up to the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import loguniform, randint
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skauto.space import SearchSpace
    >>> space = SearchSpace(("scaler", "classifier"))
    >>> space = space.add("scaler", "none").add("scaler", "standard", StandardScaler())
    >>> space = space.add("classifier", "tree", DecisionTreeClassifier(),
    ...                   {"max_depth": randint(1, 11), "criterion": ["gini", "entropy"]})
    >>> space = space.add("classifier", "logistic", LogisticRegression(),
    ...                   {"C": loguniform(0.01, 100)})
    >>> space.forbid({"scaler": "standard"}, {"classifier": "tree"}).structures.tolist()
    [[0, 0], [0, 1], [1, 1]]
    >>> space.default()
    <Configuration scaler=none, classifier=tree(max_depth=6, criterion='gini')>
    >>> vectors = space.sample(1000, np.random.default_rng(0))
    >>> vectors.shape
    (1000, 5)
    >>> space.decode(vectors[0])
    <Configuration scaler=standard, classifier=logistic(C=0.569145)>
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        """Meaning of each column of a vector."""
        return self.layout.columns

    @property
    def n_dimensions(self) -> int:
        """Number of columns of a vector."""
        return self.layout.n_columns

    def sample(
        self, n: int, rng: np.random.Generator, structures: ArrayLike | None = None
    ) -> FloatArray:
        """Draw n configurations from the prior, as vectors of shape (n, n_dimensions).

        A legal structure is drawn first, by rejection sampling (see `anchor`), and then the
        hyper-parameters of its algorithms. Given `structures` (k, n_steps), one of them is drawn
        uniformly instead.
        """
        layout = self.layout
        if structures is None:
            chosen = self._structures.sample(n, rng)
        else:
            allowed = np.atleast_2d(np.asarray(structures, dtype=np.intp))
            chosen = allowed[rng.integers(len(allowed), size=n)]
        vectors = np.full((n, layout.n_columns), np.nan)
        vectors[:, : layout.n_steps] = chosen
        for i, components in enumerate(layout.components):
            for j, component in enumerate(components):
                if not component.parameters:
                    continue
                rows = np.flatnonzero(chosen[:, i] == j)
                draws = rng.random((len(component.parameters), len(rows)))
                for (key, column), u in zip(layout.spans[i][j].items(), draws, strict=True):
                    vectors[rows, column] = component.parameters[key].snap(u)
        layout.deactivate(vectors)
        return vectors

    def fill_inactive(self, vectors: ArrayLike) -> FloatArray:
        """Return a copy of vectors with the defaults of inactive hyper-parameters."""
        filled = np.array(vectors, dtype=np.float64)
        if filled.ndim != 2 or filled.shape[1] != self.layout.n_columns:
            raise ValueError(
                f"vectors of space {self.name!r} have shape (n, {self.layout.n_columns}), "
                f"got {filled.shape}"
            )
        self.layout.fill(filled)
        return filled

    def one_hot(self, vectors: ArrayLike) -> FloatArray:
        """Return the one-hot encoding of vectors, the input of distance-based surrogates.

        It has one column per algorithm of each step, then one per numeric hyper-parameter (its
        unit value) and one per choice of each categorical hyper-parameter. Inactive
        hyper-parameters have their defaults.
        """
        filled = self.fill_inactive(vectors)
        blocks = [self.one_hot_structures(filled)]
        units = filled[:, self.layout.n_steps :].T
        for own, parameter in zip(units, self.layout.parameters, strict=True):
            if isinstance(parameter, Categorical):
                blocks.append(np.eye(parameter.n_choices)[parameter.indices(own)])
            else:
                blocks.append(own[:, None])
        return np.hstack(blocks)

    def one_hot_structures(self, structures: ArrayLike) -> FloatArray:
        """Return the one-hot encoding of structures, shape (n, n_algorithms).

        Rows of ``structures`` may also be vectors, which start with a structure.
        """
        rows = np.atleast_2d(np.asarray(structures))[:, : self.layout.n_steps].astype(np.intp)
        sizes = self.layout.n_algorithms
        encoded = np.zeros((len(rows), int(sizes.sum())))
        encoded[np.arange(len(rows))[:, None], rows + np.cumsum(sizes) - sizes] = 1.0
        return encoded

    def default_vector(self, structure: Sequence[str] | ArrayLike | None = None) -> FloatArray:
        """Return the vector of the default configuration, shape (n_dimensions,); see `default`."""
        row = self._read_structure(self.default_structure() if structure is None else structure)
        vector = np.full((1, self.layout.n_columns), np.nan)
        vector[0, : self.layout.n_steps] = row
        self.layout.complete(vector)
        return vector[0]

    def default(self, structure: Sequence[str] | ArrayLike | None = None) -> Configuration:
        """Return the default configuration of a structure; None takes `default_structure`."""
        return self.decode(self.default_vector(structure))

    def default_configurations(self, step: str | None = None) -> list[Configuration]:
        """Return the default configuration of each algorithm of a step, the cheapest first.

        None takes the last step. Each configuration has the other steps that its algorithm
        prefers. Algorithms without a legal structure are excluded.
        """
        step = self.steps[-1] if step is None else step
        self._check_step(step)
        components = self._legal_components(step)
        components.sort(key=lambda component: component.cost)
        return [self.default(self.default_structure({step: c.name})) for c in components]

    def decode(self, vector: ArrayLike) -> Configuration:
        """Convert one vector of shape (n_dimensions,) to a configuration."""
        array = np.asarray(vector, dtype=np.float64)
        if array.shape != (self.n_dimensions,):
            raise ValueError(
                f"a vector of space {self.name!r} has shape ({self.n_dimensions},), "
                f"got {array.shape}"
            )
        return self.layout.decode(array)

    def encode(self, configurations: Iterable[Configuration]) -> FloatArray:
        """Convert complete, legal configurations to vectors of shape (n, n_dimensions)."""
        layout, configurations = self.layout, list(configurations)
        vectors = np.full((len(configurations), layout.n_columns), np.nan)
        with contextlib.suppress(KeyError, ValueError, TypeError, AttributeError):
            for vector, configuration in zip(vectors, configurations, strict=True):
                layout.write(configuration, vector)
            legal = self.is_legal(vectors[:, : layout.n_steps].astype(np.intp))
            given = ~np.isnan(vectors[:, layout.n_steps :])
            if legal.all() and np.array_equal(given, layout.active(vectors)):
                return vectors
        for configuration in configurations:  # raise an error that names the reason
            self.validate(configuration)
        raise AssertionError("validate accepts what encode refuses")

    def validate(self, configuration: Configuration) -> None:
        """Raise a ValueError unless a configuration is in the space: complete and legal."""
        if not isinstance(configuration, Configuration):
            raise TypeError(
                f"expected a Configuration, got {configuration!r}; "
                "build one with Configuration.from_dict or space.complete"
            )
        if configuration.steps != self.steps:
            raise ValueError(
                f"the configuration has the steps {list(configuration.steps)}, "
                f"space {self.name!r} has {list(self.steps)}"
            )
        self._read_structure(configuration.structure)
        for step, name in configuration.components:
            _check_complete(step, self._components[step][name], configuration.parameters(step))

    def complete(self, steps: Mapping[str, str | tuple[str, Mapping[str, Any]]]) -> Configuration:
        """Complete a partial configuration by defaults, to a complete and legal one.

        `steps` maps some steps to the name of an algorithm, or to a pair of this name and some
        hyper-parameters. See `default_structure` for the other steps.
        """
        given = {
            step: (choice, {}) if isinstance(choice, str) else choice
            for step, choice in steps.items()
        }
        structure = self.default_structure({step: name for step, (name, _) in given.items()})
        choices = {}
        for step, name in zip(self.steps, structure, strict=True):
            component = self._components[step][name]
            values = {key: plain(value) for key, value in given.get(step, (name, {}))[1].items()}
            _check_values(step, component, values)
            filled = {k: values.get(k, p.default) for k, p in component.parameters.items()}
            active = component.active(filled)
            kept = {k: v for k, v in filled.items() if k in active or k in values}
            choices[step] = (name, kept)
        configuration = Configuration(choices)
        self.validate(configuration)
        return configuration

    def neighbors(
        self,
        vector: ArrayLike,
        rng: np.random.Generator,
        n_numeric: int = 4,
        scale: float = 0.2,
        fixed_steps: Iterable[str] = (),
    ) -> FloatArray:
        """Return the neighbors of a vector, shape (n_neighbors, n_dimensions).

        They differ from it in a single choice: another choice of an active categorical
        hyper-parameter, one of `n_numeric` near values of an active numeric hyper-parameter
        (normal, with standard deviation `scale` on the unit interval, without duplicates), or
        another algorithm, with its default hyper-parameters, in a step not in `fixed_steps`.
        Their order is random.
        """
        origins = np.asarray(vector, dtype=np.float64)[None]
        vectors, _ = self.neighborhoods(origins, rng, n_numeric, scale, fixed_steps)
        return rng.permutation(vectors)

    def neighborhoods(
        self,
        vectors: ArrayLike,
        rng: np.random.Generator,
        n_numeric: int = 4,
        scale: float = 0.2,
        fixed_steps: Iterable[str] = (),
    ) -> tuple[FloatArray, IntArray]:
        """Return the neighbors of several vectors, and the row of the vector of each.

        See `neighbors`. The rows increase. Faster than one by one.
        """
        origins = np.asarray(vectors, dtype=np.float64).reshape(-1, self.n_dimensions)
        rows, moved = self.layout.parameter_moves(origins, rng, n_numeric, scale)
        others, switched = self._structures.moves(origins, frozenset(fixed_steps))
        neighbors = np.vstack([moved, switched])
        self.layout.complete(neighbors)
        rows = np.concatenate([rows, others])
        order = rows.argsort(kind="stable")
        return neighbors[order], rows[order]


def _check_values(step: str, component: Component, values: Mapping[str, Any]) -> None:
    """Raise a ValueError if a hyper-parameter is unknown or its value is not legal."""
    where = f"algorithm {component.name!r} of step {step!r}"
    for key, value in values.items():
        if key not in component.parameters:
            known = known_names(key, component.parameters)
            raise ValueError(f"{where} has no hyper-parameter {key!r}; {known}")
        parameter = component.parameters[key]
        if not parameter.contains(value):
            raise ValueError(f"{where}: {key!r} must be {parameter.describe()}, got {value!r}")


def _check_complete(step: str, component: Component, values: Mapping[str, Any]) -> None:
    """Raise a ValueError unless the values are legal and those of the active hyper-parameters."""
    _check_values(step, component, values)
    where = f"algorithm {component.name!r} of step {step!r}"
    active = component.active(values)
    for key in active:
        if key not in values:
            raise ValueError(
                f"{where} lacks its hyper-parameter {key!r}, which must be "
                f"{component.parameters[key].describe()}; space.complete fills in defaults"
            )
    for key in values:
        if key not in active:
            parent, allowed = component.conditions[key]
            raise ValueError(
                f"{where}: {key!r} is active only if {parent!r} is one of "
                f"{list(allowed)}; leave it out, or change {parent!r}"
            )
