"""Search spaces: ordered steps with their algorithms and hyper-parameters."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skauto.data import DataFacts
from skauto.space._component import Component
from skauto.space._configuration import Configuration
from skauto.space._encoding import decode, encode
from skauto.space._layout import Column, Layout
from skauto.space._neighbors import parameter_moves, structure_moves
from skauto.space._parameter import plain
from skauto.space._structures import Forbidden, Structures
from skauto.space._usable import incompatible_pairs, usable_components
from skauto.space._validation import check_complete, check_values, known_names
from skauto.utils import BoolArray, FloatArray, IntArray

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

    Attributes
    ----------
    steps : tuple of str
        Names of the steps.
    structures : ndarray of int of shape (n_structures, n_steps)
        All legal structures.
    columns : tuple of Column
        Meaning of each column of a vector.

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
        self._forbidden: list[Forbidden] = []

    # -------------------------------------------------------------------------------- components

    def components(self, step: str) -> tuple[Component, ...]:
        """Return the algorithms of one step.

        Parameters
        ----------
        step : str
            Name of the step.

        Returns
        -------
        tuple of Component
            In the order in which they were added.
        """
        self._check_step(step)
        return tuple(self._components[step].values())

    def component(self, step: str, name: str) -> Component:
        """Return one algorithm of one step.

        Parameters
        ----------
        step : str
            Name of the step.
        name : str
            Name of the algorithm.

        Returns
        -------
        Component
            The algorithm.
        """
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
    ) -> "SearchSpace":
        """Add an algorithm to a step, or replace the one of the same name.

        Parameters
        ----------
        step : str
            Name of the step.
        name : str or Component
            Name of the algorithm, or a component.
        estimator : estimator, callable or None, default=None
            See `Component`.
        parameters : mapping, default=None
            See `Component`.
        **component_options : dict
            Other arguments of `Component`.

        Returns
        -------
        SearchSpace
            The space itself.
        """
        self._check_step(step)
        if isinstance(name, Component):
            component = name
        else:
            component = Component(name, estimator, parameters, **component_options)
        self._components[step][component.name] = component
        self._clear_cache()
        return self

    def forbid(self, first: Mapping[str, Names], second: Mapping[str, Names]) -> "SearchSpace":
        """Forbid pairs of algorithms of two steps.

        Parameters
        ----------
        first, second : mapping of str to str or list of str
            A step and one or more of its algorithms. All pairs of the two are forbidden.

        Returns
        -------
        SearchSpace
            The space itself.
        """
        (step_a, names_a), (step_b, names_b) = self._read_choice(first), self._read_choice(second)
        if step_a == step_b:
            raise ValueError(f"forbid needs two different steps, got {step_a!r} twice")
        self._forbidden.append(Forbidden(step_a, names_a, step_b, names_b))
        self._clear_cache()
        return self

    def _read_choice(self, choice: Mapping[str, Names]) -> tuple[str, tuple[str, ...]]:
        if len(choice) != 1:
            raise ValueError(
                "forbid takes {step: algorithms} with one step on each side, "
                f"got {dict(choice)!r}"
            )
        ((step, names),) = choice.items()
        names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
        for name in names:
            self._check_component(step, name)
        return step, names

    def _clear_cache(self) -> None:
        """Clear cached properties after the space has changed."""
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
        return Layout([(step, list(self._components[step].values())) for step in self.steps])

    # -------------------------------------------------------------------------------- structures

    @cached_property
    def _structures(self) -> Structures:
        anchor = None if self.anchor is None else self.steps.index(self.anchor)
        return Structures(self.layout, self._forbidden, anchor)

    @property
    def structures(self) -> IntArray:
        """All legal structures, as indices of algorithms, of shape (n_structures, n_steps)."""
        return self._structures.all

    def is_legal(self, structures: IntArray) -> BoolArray:
        """Return the mask of structures without forbidden pairs.

        Parameters
        ----------
        structures : ndarray of int of shape (k, n_steps)
            Indices of algorithms.

        Returns
        -------
        ndarray of bool of shape (k,)
            True where legal.
        """
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
        """Return the default structure, given the algorithms of some steps.

        Each other step takes the algorithm that the chosen algorithms prefer (later steps first),
        or else the default of the space, or else its first algorithm. If this structure is
        illegal, the legal structure that differs in the fewest steps is returned.

        Parameters
        ----------
        choices : mapping of str to str, default=None
            Algorithms of some steps.

        Returns
        -------
        tuple of str
            One algorithm per step.
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

    # ----------------------------------------------------------------------------------- vectors

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
        """Draw configurations from the prior.

        A legal structure is drawn first, by rejection sampling (see `anchor`), and then the
        hyper-parameters of its algorithms.

        Parameters
        ----------
        n : int
            Number of configurations.
        rng : numpy.random.Generator
            Source of randomness.
        structures : array-like of int of shape (k, n_steps), default=None
            Structures to draw from uniformly; None means all legal structures.

        Returns
        -------
        ndarray of shape (n, n_dimensions)
            Vectors.
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

    def active(self, vectors: ArrayLike) -> BoolArray:
        """Return the mask of active columns.

        Parameters
        ----------
        vectors : array-like of shape (n, n_dimensions)
            Vectors.

        Returns
        -------
        ndarray of bool of shape (n, n_dimensions)
            True for the structure and for active hyper-parameters.
        """
        return ~np.isnan(self._read_vectors(vectors))

    def fill_inactive(self, vectors: ArrayLike) -> FloatArray:
        """Replace inactive hyper-parameters by their defaults.

        Parameters
        ----------
        vectors : array-like of shape (n, n_dimensions)
            Vectors.

        Returns
        -------
        ndarray of shape (n, n_dimensions)
            A copy without NaN.
        """
        filled = self._read_vectors(vectors).copy()
        values = filled[:, self.layout.n_steps :]
        np.copyto(values, self.layout.default_units, where=np.isnan(values))
        return filled

    def one_hot(self, vectors: ArrayLike) -> FloatArray:
        """Return the one-hot encoding of vectors, the input of distance-based surrogates.

        Parameters
        ----------
        vectors : array-like of shape (n, n_dimensions)
            Vectors.

        Returns
        -------
        ndarray of shape (n, n_columns)
            One column per algorithm of each step, then one per numeric hyper-parameter (its unit
            value) and one per choice of each categorical hyper-parameter. Inactive
            hyper-parameters have their defaults.
        """
        filled = self.fill_inactive(vectors)
        n_steps = self.layout.n_steps
        structures = self.layout.one_hot_structures(filled[:, :n_steps].astype(np.intp))
        return np.hstack([structures, self.layout.one_hot_parameters(filled[:, n_steps:])])

    def one_hot_structures(self, structures: ArrayLike) -> FloatArray:
        """Return the one-hot encoding of structures: one column per algorithm of each step.

        Parameters
        ----------
        structures : array-like of int of shape (n, n_steps)
            Structures, or vectors that start with them.

        Returns
        -------
        ndarray of shape (n, n_algorithms)
            Zeros and ones.
        """
        rows = np.atleast_2d(np.asarray(structures))[:, : self.layout.n_steps]
        return self.layout.one_hot_structures(rows.astype(np.intp))

    def _read_vectors(self, vectors: ArrayLike) -> FloatArray:
        array = np.asarray(vectors, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != self.layout.n_columns:
            raise ValueError(
                f"vectors of space {self.name!r} have shape (n, {self.layout.n_columns}), "
                f"got {array.shape}"
            )
        return array

    # ------------------------------------------------------------- vectors <-> configurations

    def default_vector(self, structure: Sequence[str] | ArrayLike | None = None) -> FloatArray:
        """Return the vector of the default configuration.

        Parameters
        ----------
        structure : sequence of str or int, default=None
            One algorithm per step; None takes `default_structure`.

        Returns
        -------
        ndarray of shape (n_dimensions,)
            The vector.
        """
        row = self._read_structure(self.default_structure() if structure is None else structure)
        vector = np.full((1, self.layout.n_columns), np.nan)
        vector[0, : self.layout.n_steps] = row
        self.layout.complete(vector)
        return vector[0]

    def default(self, structure: Sequence[str] | ArrayLike | None = None) -> Configuration:
        """Return the default configuration.

        Parameters
        ----------
        structure : sequence of str or int, default=None
            One algorithm per step; None takes `default_structure`.

        Returns
        -------
        Configuration
            This structure with default hyper-parameters.
        """
        return self.decode(self.default_vector(structure))

    def default_configurations(self, step: str | None = None) -> list[Configuration]:
        """Return the default configuration of each algorithm of a step, the cheapest first.

        Parameters
        ----------
        step : str, default=None
            Name of the step; None takes the last step.

        Returns
        -------
        list of Configuration
            Each has the other steps that its algorithm prefers. Algorithms without a legal
            structure are excluded.
        """
        step = self.steps[-1] if step is None else step
        self._check_step(step)
        components = self._legal_components(step)
        components.sort(key=lambda component: component.cost)
        return [self.default(self.default_structure({step: c.name})) for c in components]

    def decode(self, vector: ArrayLike) -> Configuration:
        """Convert one vector to a configuration.

        Parameters
        ----------
        vector : array-like of shape (n_dimensions,)
            The vector.

        Returns
        -------
        Configuration
            The configuration.
        """
        layout = self.layout
        array = np.asarray(vector, dtype=np.float64)
        if array.shape != (layout.n_columns,):
            raise ValueError(
                f"a vector of space {self.name!r} has shape ({layout.n_columns},), "
                f"got {array.shape}"
            )
        return decode(layout, array)

    def encode(self, configurations: Iterable[Configuration]) -> FloatArray:
        """Convert configurations to vectors.

        Parameters
        ----------
        configurations : iterable of Configuration
            Complete, legal configurations.

        Returns
        -------
        ndarray of shape (n, n_dimensions)
            The vectors.
        """
        configurations = list(configurations)
        vectors = encode(self.layout, self._structures, configurations)
        if vectors is None:
            for configuration in configurations:
                self.validate(configuration)
            raise AssertionError("validate accepts what encode refuses")
        return vectors

    def validate(self, configuration: Configuration) -> None:
        """Check that a configuration is in the space.

        Parameters
        ----------
        configuration : Configuration
            The configuration.

        Raises
        ------
        ValueError
            If a step or hyper-parameter is wrong.
        """
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
            check_complete(step, self._components[step][name], configuration.parameters(step))

    def complete(self, steps: Mapping[str, str | tuple[str, Mapping[str, Any]]]) -> Configuration:
        """Complete a partial configuration by defaults.

        Parameters
        ----------
        steps : mapping
            Some steps to the name of an algorithm, or to a pair of this name and a mapping of some
            hyper-parameters. See `default_structure` for the other steps.

        Returns
        -------
        Configuration
            A complete, legal configuration.
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
            check_values(step, component, values)
            filled = {k: values.get(k, p.default) for k, p in component.parameters.items()}
            active = component.active(filled)
            kept = {k: v for k, v in filled.items() if k in active or k in values}
            choices[step] = (name, kept)
        configuration = Configuration(choices)
        self.validate(configuration)
        return configuration

    # -------------------------------------------------------------------------------- neighbours

    def neighbors(
        self,
        vector: ArrayLike,
        rng: np.random.Generator,
        n_numeric: int = 4,
        scale: float = 0.2,
        fixed_steps: Iterable[str] = (),
    ) -> FloatArray:
        """Return the neighbours of a configuration, which differ from it in a single choice.

        The neighbours have another choice of one active categorical hyper-parameter, a near value
        of one active numeric hyper-parameter, or another algorithm, with its default
        hyper-parameters, in one step.

        Parameters
        ----------
        vector : array-like of shape (n_dimensions,)
            The configuration.
        rng : numpy.random.Generator
            Source of randomness.
        n_numeric : int, default=4
            Number of draws for each numeric hyper-parameter. Duplicates are dropped.
        scale : float, default=0.2
            Standard deviation of these draws on the unit interval.
        fixed_steps : iterable of str, default=()
            Steps whose algorithm does not change.

        Returns
        -------
        ndarray of shape (n_neighbors, n_dimensions)
            Vectors of the neighbours.
        """
        origin = np.asarray(vector, dtype=np.float64)
        return np.vstack(
            [
                parameter_moves(self.layout, origin, rng, n_numeric, scale),
                structure_moves(self._structures, origin, frozenset(fixed_steps)),
            ]
        )

    # --------------------------------------------------------------------------------- subspaces

    def subspace(self, choices: Mapping[str, Names]) -> "SearchSpace":
        """Return the subspace with only some of the algorithms.

        Parameters
        ----------
        choices : mapping of str to str or list of str
            Algorithms to keep in some steps; other steps keep all their algorithms.

        Returns
        -------
        SearchSpace
            A space that shares its components with this one.
        """
        kept = {step: list(known) for step, known in self._components.items()}
        for step, names in choices.items():
            names = [names] if isinstance(names, str) else list(names)
            for name in names:
                self._check_component(step, name)
            kept[step] = [name for name in kept[step] if name in names]
        part = SearchSpace(self.steps, self.name, default=self.default_choices, anchor=self.anchor)
        for step, names in kept.items():
            part._components[step] = {name: self._components[step][name] for name in names}
        for rule in self._forbidden:
            first = tuple(name for name in rule.first if name in kept[rule.first_step])
            second = tuple(name for name in rule.second if name in kept[rule.second_step])
            if first and second:
                part._forbidden.append(Forbidden(rule.first_step, first, rule.second_step, second))
        return part

    def for_data(self, facts: DataFacts) -> "SearchSpace":
        """Return the subspace for a data set.

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

        Parameters
        ----------
        facts : DataFacts
            Properties of the data.

        Returns
        -------
        SearchSpace
            A space that shares its components with this one.
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
            for names, other, lacking in incompatible_pairs(kept, *rule):
                part.forbid({rule[0]: names}, {other: lacking})
        part._prune()
        return part

    def _legal_components(self, step: str) -> list[Component]:
        """List the algorithms of a step that are in a legal structure, if those can be listed."""
        components = list(self.components(step))
        if not self._structures.listable:
            return components
        used = np.unique(self.structures[:, self.steps.index(step)])
        return [components[j] for j in used]

    def _prune(self) -> None:
        """Remove algorithms without a legal structure, and the rules about them."""
        kept = {step: [c.name for c in self._legal_components(step)] for step in self.steps}
        part = self.subspace(kept)
        self._components, self._forbidden = part._components, part._forbidden
        self._clear_cache()

    def __repr__(self) -> str:
        steps = ", ".join(f"{step}: {len(c)}" for step, c in self._components.items())
        return f"<SearchSpace {self.name!r} ({steps})>"
