"""Configurations: one algorithm per step with its hyper-parameters."""

from collections.abc import Mapping
from typing import Any

from skauto.space._parameter import plain

_Settings = dict[str, Any]


class Configuration:
    """One algorithm per step, with the values of its active hyper-parameters.

    Configurations are immutable, hashable, comparable and serializable as JSON.

    Parameters
    ----------
    steps : mapping
        Step to the name of its algorithm, or to a pair of this name and a mapping of
        hyper-parameters; in the order of the steps.

    Examples
    --------
    >>> from skauto.space import Configuration
    >>> configuration = Configuration(
    ...     {"scaler": "none", "classifier": ("svc", {"C": 10.0, "kernel": "rbf"})}
    ... )
    >>> configuration["classifier"]
    'svc'
    >>> configuration.parameters("classifier")
    {'C': 10.0, 'kernel': 'rbf'}
    >>> configuration.to_dict()
    {'scaler': {'name': 'none'}, 'classifier': {'name': 'svc', 'C': 10.0, 'kernel': 'rbf'}}
    """

    __slots__ = ("_components", "_hash", "_settings")

    _components: tuple[tuple[str, str], ...]
    _settings: tuple[_Settings, ...]
    _hash: int | None

    def __init__(self, steps: Mapping[str, str | tuple[str, Mapping[str, Any]]]) -> None:
        components, settings = [], []
        for step, choice in steps.items():
            name, values = (choice, {}) if isinstance(choice, str) else choice
            components.append((step, name))
            settings.append({key: plain(value) for key, value in values.items()})
        self._fill(tuple(components), tuple(settings))

    def _fill(
        self, components: tuple[tuple[str, str], ...], settings: tuple[_Settings, ...]
    ) -> None:
        object.__setattr__(self, "_components", components)
        object.__setattr__(self, "_settings", settings)
        object.__setattr__(self, "_hash", None)

    @classmethod
    def _from_parts(
        cls, components: tuple[tuple[str, str], ...], settings: tuple[_Settings, ...]
    ) -> "Configuration":
        """Build a configuration from plain values, without checks and copies."""
        self = object.__new__(cls)
        self._fill(components, settings)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Configuration cannot be changed; build another one")

    @property
    def components(self) -> tuple[tuple[str, str], ...]:
        """Pairs of step and algorithm, in order."""
        return self._components

    @property
    def steps(self) -> tuple[str, ...]:
        """Names of the steps, in order."""
        return tuple(step for step, _ in self._components)

    @property
    def structure(self) -> tuple[str, ...]:
        """Names of the algorithms, in the order of the steps."""
        return tuple(name for _, name in self._components)

    @property
    def algorithm(self) -> str:
        """Name of the algorithm of the last step, the classifier."""
        return self._components[-1][1]

    def parameters(self, step: str) -> _Settings:
        """Return a copy of the hyper-parameters of the algorithm of a step, by name."""
        return dict(self._settings[self._position(step)])

    def __getitem__(self, step: str) -> str:
        return self._components[self._position(step)][1]

    def _position(self, step: str) -> int:
        for i, (known, _) in enumerate(self._components):
            if known == step:
                return i
        raise KeyError(f"no step {step!r}; the steps are {list(self.steps)}")

    def to_dict(self) -> dict[str, _Settings]:
        """Convert the configuration to nested dictionaries, which JSON can represent.

        They are ``{step: {"name": algorithm, hyper-parameter: value, ...}, ...}``.
        """
        return {
            step: {"name": name, **values}
            for (step, name), values in zip(self._components, self._settings, strict=True)
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Mapping[str, Any]]) -> "Configuration":
        """Build a configuration from the output of `to_dict`, which may have been JSON."""
        steps = {}
        for step, entry in data.items():
            if "name" not in entry:
                raise ValueError(f"step {step!r} has no entry 'name', got {dict(entry)!r}")
            values = {key: value for key, value in entry.items() if key != "name"}
            steps[step] = (entry["name"], values)
        return cls(steps)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Configuration):
            return NotImplemented
        return self._components == other._components and self._settings == other._settings

    def __hash__(self) -> int:
        if self._hash is None:
            values = tuple(frozenset(settings.items()) for settings in self._settings)
            object.__setattr__(self, "_hash", hash((self._components, values)))
        assert self._hash is not None
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        # Call the class, because skops can load objects only by calling their class.
        pairs = zip(self._components, self._settings, strict=True)
        return (Configuration, ({step: (name, values) for (step, name), values in pairs},))

    def __repr__(self) -> str:
        parts = []
        for (step, name), values in zip(self._components, self._settings, strict=True):
            shown = ", ".join(
                f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value!r}"
                for key, value in values.items()
            )
            parts.append(f"{step}={name}({shown})" if shown else f"{step}={name}")
        return f"<Configuration {', '.join(parts)}>"
