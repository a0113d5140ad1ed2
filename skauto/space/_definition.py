"""The steps of a search space, their algorithms, and the structures that are legal."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skauto.data import DataFacts
from skauto.space._component import Component
from skauto.space._layout import Layout
from skauto.space._structures import Choice, Pair, Structures
from skauto.space._usable import incompatible_pairs, usable_components
from skauto.utils import BoolArray, IntArray, fingerprint, known_names

Names = str | Iterable[str]

# Cached properties.
_CACHED = ("layout", "_structures")


class SpaceDefinition:
    """Ordered steps with the algorithms to choose from; see `SearchSpace` for the parameters."""

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
