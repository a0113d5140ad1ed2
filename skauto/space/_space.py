"""Search spaces: steps with algorithms, and configurations as vectors."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skauto.data import DataFacts
from skauto.space._component import Component
from skauto.space._configuration import Configuration
from skauto.space._layout import Column, Layout
from skauto.space._parameter import plain
from skauto.space._parameters import Categorical
from skauto.space._structures import Choice, Pair, Structures
from skauto.space._usable import incompatible_pairs, usable_components
from skauto.utils import BoolArray, FloatArray, IntArray, fingerprint, known_names

Names = str | Iterable[str]

# Cached properties.
_CACHED = ("layout", "_structures")


class SearchSpace:
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

    def __init__(
        self,
        steps: Sequence[str] = ("classifier",),
        name: str = "custom",
        *,
        default: Mapping[str, str] | None = None,
        anchor: str | None = None,
    ) -> None:
        if isinstance(steps, str):
            raise TypeError(f"steps must be a sequence of names, got the string {steps!r}")
        self.steps = tuple(steps)
        if not self.steps or len(set(self.steps)) < len(self.steps):
            raise ValueError(f"steps must be one or more different names, got {list(steps)!r}")
        self.name = name
        self.anchor = anchor
        self.default_choices = dict(default or {})
        for step in [*self.default_choices, *([anchor] if anchor else [])]:
            self._check_step(step)
        self._components: dict[str, dict[str, Component]] = {step: {} for step in self.steps}
        self._forbidden: list[Pair] = []

    def components(self, step: str) -> tuple[Component, ...]:
        """Return the algorithms of one step, in the order in which they were added."""
        self._check_step(step)
        return tuple(self._components[step].values())

    def component(self, step: str, name: str) -> Component:
        """Return one algorithm of one step."""
        self._check_component(step, name)
        return self._components[step][name]

    def _check_step(self, step: str) -> None:
        if step not in self.steps:
            raise ValueError(f"unknown step {step!r}; {known_names(step, self.steps)}")

    def _check_component(self, step: str, name: Any) -> None:
        self._check_step(step)
        if name not in self._components[step]:
            known = known_names(name, self._components[step])
            raise ValueError(f"step {step!r} has no algorithm {name!r}; {known}")

    def add(
        self,
        step: str,
        name: str | Component,
        estimator: Any = None,
        parameters: Mapping[str, Any] | None = None,
        **component_options: Any,
    ) -> Self:
        """Add an algorithm to a step of this space, or replace the one of the same name.

        `name` is a component, or a name that comes with the other arguments of `Component`.
        This changes the space and returns it, so that calls can be chained. :meth:`subspace`
        returns a copy.
        """
        self._check_step(step)
        if isinstance(name, Component):
            component = name
        else:
            component = Component(name, estimator, parameters, **component_options)
        self._components[step][component.name] = component
        self._clear_cache()
        return self

    def forbid(self, first: Mapping[str, Names], second: Mapping[str, Names]) -> Self:
        """Forbid all pairs of some algorithms of two steps of this space, and return the space.

        `first` and `second` map a step to one or more of its algorithms.
        """
        pair = self._read_choice(first), self._read_choice(second)
        if pair[0][0] == pair[1][0]:
            raise ValueError(f"forbid needs two different steps, got {pair[0][0]!r} twice")
        self._forbidden.append(pair)
        self._clear_cache()
        return self

    def _read_choice(self, choice: Mapping[str, Names]) -> Choice:
        if len(choice) != 1:
            raise ValueError(
                "forbid takes {step: algorithms} with one step on each side, "
                f"got {dict(choice)!r}"
            )
        ((step, names),) = choice.items()
        return step, self._read_names(step, names)

    def _read_names(self, step: str, names: Names) -> tuple[str, ...]:
        names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
        for name in names:
            self._check_component(step, name)
        return names

    def _clear_cache(self) -> None:
        for key in _CACHED:
            self.__dict__.pop(key, None)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without cached properties: the same before and after their use."""
        return {key: value for key, value in self.__dict__.items() if key not in _CACHED}

    @cached_property
    def layout(self) -> Layout:
        """Columns of the vectors, and arrays that describe them."""
        for step, components in self._components.items():
            if not components:
                raise ValueError(
                    f"step {step!r} has no algorithm; add one with "
                    f"space.add({step!r}, name, estimator)"
                )
        return Layout([(step, self.components(step)) for step in self.steps])

    @cached_property
    def _structures(self) -> Structures:
        anchor = None if self.anchor is None else self.steps.index(self.anchor)
        return Structures(self.layout, self._forbidden, anchor)

    @property
    def structures(self) -> IntArray:
        """All legal structures, as indices of algorithms, of shape (n_structures, n_steps)."""
        return self._structures.all

    def is_legal(self, structures: IntArray) -> BoolArray:
        """Return the mask (k,) of the structures (k, n_steps) without forbidden pairs."""
        return self._structures.legal(structures)

    def _read_structure(self, structure: Sequence[str] | ArrayLike) -> IntArray:
        """Convert names or indices, one per step, to indices of a legal structure."""
        entries: list[Any] = list(np.asarray(structure).tolist())
        if len(entries) != len(self.steps):
            raise ValueError(
                f"a structure has one algorithm for each of {list(self.steps)}, got {entries!r}"
            )
        row = np.empty(len(self.steps), dtype=np.intp)
        for i, entry in enumerate(entries):
            if isinstance(entry, str):
                self._check_component(self.steps[i], entry)
                row[i] = self.layout.index[i][entry]
            elif 0 <= int(entry) < len(self.layout.components[i]):
                row[i] = int(entry)
            else:
                raise ValueError(
                    f"step {self.steps[i]!r} has {len(self.layout.components[i])} algorithms, "
                    f"got the index {entry!r}"
                )
        if not self._structures.legal(row[None])[0]:
            first, second = self._structures.forbidden_pair(row)
            raise ValueError(f"{first!r} with {second!r} is forbidden in space {self.name!r}")
        return row

    def default_structure(self, choices: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Return the names of the default structure, given the algorithms of some steps.

        Each other step takes the algorithm that the chosen algorithms prefer (later steps first),
        or else the default of the space, or else its first algorithm. If this structure is
        illegal, the legal structure that differs in the fewest steps is returned.
        """
        choices = dict(choices or {})
        for step, name in choices.items():
            self._check_component(step, name)
        wanted = {**choices}
        for step in (*choices, *reversed(self.steps)):
            known = self._components[step]
            usual = self.default_choices.get(step)
            first = usual if usual in known else next(iter(known))
            chosen = wanted.setdefault(step, first)
            for other, name in known[chosen].prefers.items():
                if name in self._components.get(other, {}):
                    wanted.setdefault(other, name)
        row = np.array(
            [self.layout.index[i][wanted[step]] for i, step in enumerate(self.steps)], np.intp
        )
        if self._structures.legal(row[None])[0]:
            return self._structures.names(row)
        fixed = [self.steps.index(step) for step in choices]
        legal = self.structures[(self.structures[:, fixed] == row[fixed]).all(axis=1)]
        if not len(legal):
            raise ValueError(f"no legal structure of space {self.name!r} has {choices!r}")
        return self._structures.names(legal[int(np.argmax((legal == row).sum(axis=1)))])

    def subspace(self, choices: Mapping[str, Names]) -> Self:
        """Return the subspace with only some of the algorithms, which shares its components.

        `choices` maps steps to the algorithms to keep; other steps keep all their algorithms.
        """
        kept = {step: list(known) for step, known in self._components.items()}
        for step, names in choices.items():
            wanted = self._read_names(step, names)
            kept[step] = [name for name in kept[step] if name in wanted]
        part = type(self)(self.steps, self.name, default=self.default_choices, anchor=self.anchor)
        for step, names in kept.items():
            part._components[step] = {name: self._components[step][name] for name in names}
        part._forbidden = list(self._forbidden)
        return part

    def for_data(self, facts: DataFacts) -> Self:
        """Return the subspace for a data set, which shares its components.

        It excludes algorithms that would fail on the data, or would do the same as another:

        - Without missing values, the step ``"imputer"`` has one algorithm, if possible the
          passthrough. With missing values, algorithms that do not accept NaN are forbidden after
          the passthrough.
        - Without categories, the step ``"encoder"`` has one algorithm, if possible the
          passthrough. With categories, algorithms that do not handle category codes are forbidden
          after encoders that keep the codes.
        - Algorithms for dense data only are excluded for sparse data.
        - Samplers, and classifiers without ``sample_weight``, are excluded if the user passes
          sample weights.
        - Algorithms are excluded above their maximum number of rows or columns.
        - Hyper-parameters for categories are fixed at their defaults without categories.
        """
        kept = {
            step: usable_components(
                self.components(step), step, facts, last=step == self.steps[-1]
            )
            for step in self.steps
        }
        part = self.subspace({step: [c.name for c in kept[step]] for step in kept})
        if not facts.has_categories:
            part._components = {
                step: {name: c.without_categories() for name, c in known.items()}
                for step, known in part._components.items()
            }
        rules = []
        if facts.has_missing:
            rules.append(("imputer", "passthrough", "handles_missing"))
        if facts.has_categories:
            rules.append(("encoder", "keeps_categories", "handles_categories"))
        for rule in rules:
            for pair in incompatible_pairs(kept, *rule):
                part.forbid(*pair)
        return part.subspace(
            {step: [c.name for c in part._legal_components(step)] for step in part.steps}
        )

    def _legal_components(self, step: str) -> list[Component]:
        """List the algorithms of a step that are in a legal structure, if those can be listed."""
        components = list(self.components(step))
        if not self._structures.listable:
            return components
        used = np.unique(self.structures[:, self.steps.index(step)])
        return [components[j] for j in used]

    def fingerprint(self) -> str:
        """Return a hash of the algorithms, their settings and the forbidden pairs.

        It is equal in another process, and for spaces that forbid the same pairs in other words.
        """
        components = [
            (
                step,
                component.name,
                component.estimator,
                component.settings,
                list(component.parameters.items()),
                component.conditions,
                component.adapt,
                component.balancing,
            )
            for step in self.steps
            for component in self.components(step)
        ]
        forbidden = {
            tuple(sorted([(step, name), (other_step, other)]))
            for (step, chosen), (other_step, others) in self._forbidden
            for name in self._components[step].keys() & set(chosen)
            for other in self._components[other_step].keys() & set(others)
        }
        return fingerprint([components, sorted(forbidden)])

    def __repr__(self) -> str:
        steps = ", ".join(f"{step}: {len(c)}" for step, c in self._components.items())
        return f"<SearchSpace {self.name!r} ({steps})>"

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
