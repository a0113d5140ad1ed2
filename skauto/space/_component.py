"""Components: one algorithm with its estimator, hyper-parameters and properties."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from sklearn.base import clone
from sklearn.utils import InputTags, get_tags

from skauto.space._distributions import as_parameter
from skauto.space._parameter import Parameter, plain
from skauto.space._parameters import Categorical, Real
from skauto.utils import known_names


@dataclass(frozen=True)
class FitContext:
    """Properties of the data that a step is fitted on.

    Attributes
    ----------
    n_samples : int
        Number of rows.
    n_features : int
        Number of columns in the input of the step.
    n_classes : int
        Number of classes.
    categorical : tuple of int
        Columns of category codes 0, 1, ..., with NaN for missing values.
    n_levels : tuple of int
        Number of categories of each of them.
    sparse : bool
        Whether the matrix is sparse.
    smallest_class : int
        Number of rows of the smallest class.
    random_folds : bool
        Whether validation rows are random: False for groups and an order in time.
    """

    n_samples: int
    n_features: int
    n_classes: int
    categorical: tuple[int, ...] = ()
    n_levels: tuple[int, ...] = ()
    sparse: bool = False
    smallest_class: int = 0
    random_folds: bool = True


def _is_prototype(estimator: Any) -> bool:
    return hasattr(estimator, "get_params") and not isinstance(estimator, type)


class Component:
    """One algorithm: an estimator, its hyper-parameters and its properties.

    Parameters
    ----------
    name : str
        Name of the algorithm within its step.
    estimator : estimator, callable or None, default=None
        An unfitted estimator, which is cloned; a callable that takes the hyper-parameters as
        keyword arguments and returns an estimator; or None for a passthrough step.
    parameters : mapping of str to list, distribution or Parameter, default=None
        The hyper-parameters, see :func:`as_parameter`. A hyper-parameter with a single choice is a
        fixed setting. The default value is the first choice or the middle of the range;
        ``as_parameter(spec, default)`` sets another.
    conditions : mapping of str to (str, list), default=None
        ``{"degree": ("kernel", ["poly"])}`` makes ``degree`` active only if ``kernel`` is active
        and has one of the listed values.
    adapt : callable, default=None
        ``adapt(estimator, context)`` is called before the estimator is fitted. It sets parameters
        that depend on the data, given a `FitContext`.
    dense_only : bool, default=None
        Whether it refuses sparse matrices; None reads the tags of the estimator, and means False
        for callables.
    handles_missing : bool, default=None
        Whether it accepts NaN; None reads the tags of the estimator, and means False for
        callables.
    handles_categories : bool, default=None
        Whether it can use columns of category codes; None means True for a passthrough only.
    keeps_categories : bool, default=None
        Whether it outputs columns of category codes unchanged; None means True for a passthrough
        only.
    category_parameters : sequence of str, default=()
        Hyper-parameters that have no effect without categorical columns.
    balancing : {"weights", "sampler", "groups"}, default=None
        How it handles class imbalance: by class weights, by resampling rows, or by sample weights
        that make the class independent of sensitive groups. None if it does not.
    max_samples : int, default=None
        Number of rows above which it is not used.
    max_features : int, default=None
        Number of columns of the data above which it is not used.
    cost : float, default=1.0
        Relative cost of a fit: cheaper components are tried first.
    weight : float, default=1.0
        Relative probability of being drawn among the algorithms of its step.
    prefers : mapping of str to str, default=None
        Algorithms of other steps in its default configuration.
    size_parameter : str, default=None
        Hyper-parameter to which the size of the fitted model and its latency are about
        proportional, such as the number of trees. ``"max_rounds"`` bounds boosting rounds, and
        goes with ``"learning_rate"``. Searches under limits try smaller values.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.svm import SVC
    >>> from skauto.space import Component
    >>> svc = Component(
    ...     "svc",
    ...     SVC(),
    ...     {"C": loguniform(0.01, 100), "kernel": ["rbf", "poly"], "degree": [2, 3]},
    ...     conditions={"degree": ("kernel", ["poly"])},
    ... )
    >>> svc.make({"C": 10.0, "kernel": "poly", "degree": 3})
    SVC(C=10.0, kernel='poly')
    """

    def __init__(
        self,
        name: str,
        estimator: Any = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        conditions: Mapping[str, tuple[str, Sequence[Any]]] | None = None,
        adapt: Callable[[Any, FitContext], None] | None = None,
        dense_only: bool | None = None,
        handles_missing: bool | None = None,
        handles_categories: bool | None = None,
        keeps_categories: bool | None = None,
        category_parameters: Sequence[str] = (),
        balancing: str | None = None,
        max_samples: int | None = None,
        max_features: int | None = None,
        cost: float = 1.0,
        weight: float = 1.0,
        prefers: Mapping[str, str] | None = None,
        size_parameter: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"name of a component must be a string, got {name!r}")
        if balancing not in (None, "weights", "sampler", "groups"):
            raise ValueError(
                f"{name}: balancing must be 'weights', 'sampler', 'groups' or None, "
                f"got {balancing!r}"
            )
        if not weight > 0:
            raise ValueError(f"{name}: weight must be positive, got {weight!r}")
        self.name = name
        self.estimator = estimator
        self.parameters, self.settings = self._read_parameters(parameters or {})
        self.conditions = self._read_conditions(conditions or {})
        self.adapt = adapt
        tags = InputTags(sparse=True, allow_nan=estimator is None)
        if _is_prototype(estimator):
            tags = get_tags(estimator).input_tags
        self.dense_only = not tags.sparse if dense_only is None else dense_only
        self.handles_missing = tags.allow_nan if handles_missing is None else handles_missing
        passthrough = estimator is None
        self.handles_categories = passthrough if handles_categories is None else handles_categories
        self.keeps_categories = passthrough if keeps_categories is None else keeps_categories
        self.category_parameters = tuple(category_parameters)
        self.balancing = balancing
        self.max_samples = max_samples
        self.max_features = max_features
        self.cost = cost
        self.weight = weight
        self.prefers = dict(prefers or {})
        self.size_parameter = size_parameter
        self._check_size_parameter()

    def _read_parameters(
        self, specs: Mapping[str, Any]
    ) -> tuple[dict[str, Parameter], dict[str, Any]]:
        """Separate hyper-parameters from fixed settings, which have a single choice."""
        parameters, settings = {}, {}
        for key, spec in specs.items():
            if key == "name":
                raise ValueError(f"{self.name}: a hyper-parameter cannot be called 'name'")
            try:
                parameter = as_parameter(spec)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{self.name}, hyper-parameter {key!r}: {error}") from error
            if isinstance(parameter, Categorical) and parameter.n_choices == 1:
                settings[key] = parameter.default
            else:
                parameters[key] = parameter
        return parameters, settings

    def _read_conditions(
        self, conditions: Mapping[str, tuple[str, Sequence[Any]]]
    ) -> dict[str, tuple[str, tuple[Any, ...]]]:
        """Validate the conditions and sort them topologically: parents before children."""
        for child, (parent, values) in conditions.items():
            for key in (child, parent):
                if key not in self.parameters:
                    raise ValueError(
                        f"{self.name}: condition on {child!r} names {key!r}, which is not among "
                        f"the hyper-parameters {list(self.parameters)}"
                    )
            if self.parameters[parent].n_choices is None:
                raise ValueError(
                    f"{self.name}: {child!r} cannot depend on {parent!r}, which is continuous"
                )
            for value in values:
                if not self.parameters[parent].contains(value):
                    raise ValueError(
                        f"{self.name}: condition on {child!r} lets {parent!r} be {value!r}; "
                        f"it must be {self.parameters[parent].describe()}"
                    )
        parents = {child: [parent] for child, (parent, _) in conditions.items()}
        try:
            order = [key for key in TopologicalSorter(parents).static_order() if key in parents]
        except CycleError:
            raise ValueError(f"{self.name}: conditions form a cycle: {sorted(parents)}") from None
        return {key: (conditions[key][0], tuple(map(plain, conditions[key][1]))) for key in order}

    def _check_size_parameter(self) -> None:
        """Raise unless the size parameter is one of the component or of its estimator."""
        if self.size_parameter is None:
            return
        known = [*self.parameters, *self.settings]
        if _is_prototype(self.estimator):
            known += self.estimator.get_params()
        elif self.estimator is not None:
            arguments = inspect.signature(self.estimator).parameters.values()
            if any(argument.kind is argument.VAR_KEYWORD for argument in arguments):
                return
            known += [argument.name for argument in arguments]
        if self.size_parameter not in known:
            names = known_names(self.size_parameter, dict.fromkeys(known))
            raise ValueError(
                f"{self.name}: size_parameter must be None or the name of a hyper-parameter, got "
                f"{self.size_parameter!r}; {names}"
            )

    def vary(
        self,
        parameters: Mapping[str, Any] | None = None,
        *,
        drop: Sequence[str] = (),
        **changes: Any,
    ) -> "Component":
        """Return a copy with other hyper-parameters or properties.

        `parameters` are hyper-parameters to add or to replace, and those in `drop` are removed, so
        that the default of the estimator applies. `changes` are new values of other attributes,
        for example ``name`` or ``cost``. New ``conditions`` replace all old conditions. Otherwise,
        a hyper-parameter that is now fixed removes those that it makes inactive.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from skauto.space import Component
        >>> tree = Component("tree", DecisionTreeClassifier(), {"max_depth": [1, 2, 3]})
        >>> tree.vary({"max_depth": [1, 2], "criterion": ["gini", "entropy"]})
        <Component 'tree', 2 hyper-parameters>
        """
        other = copy(self)
        specs: dict[str, Any] = {key: [value] for key, value in self.settings.items()}
        specs.update(self.parameters)
        specs.update(parameters or {})
        kept = {key: spec for key, spec in specs.items() if key not in drop}
        other.parameters, other.settings = other._read_parameters(kept)
        if "conditions" not in changes:
            other._remove_never_active(self.conditions)
            changes["conditions"] = {
                child: (parent, values)
                for child, (parent, values) in self.conditions.items()
                if child in other.parameters and parent in other.parameters
            }
        other.conditions = other._read_conditions(changes.pop("conditions"))
        for key, value in changes.items():
            if not hasattr(self, key):
                raise TypeError(f"a component has no attribute {key!r}")
            setattr(other, key, value)
        other._check_size_parameter()
        return other

    def _remove_never_active(self, conditions: Mapping[str, tuple[str, Sequence[Any]]]) -> None:
        """Remove the hyper-parameters whose condition a fixed setting violates, parents first."""
        never: set[str] = set()
        for child, (parent, allowed) in conditions.items():
            fixed = parent in self.settings and self.settings[parent] not in allowed
            if fixed or parent in never:
                never.add(child)
                self.parameters.pop(child, None)
                self.settings.pop(child, None)

    def without_categories(self) -> "Component":
        """Return a copy with `category_parameters` fixed at their defaults; itself without any."""
        free = [key for key in self.category_parameters if key in self.parameters]
        return self.vary({key: [self.parameters[key].default] for key in free}) if free else self

    @property
    def passthrough(self) -> bool:
        """Whether the step returns its input unchanged."""
        return self.estimator is None

    def default_values(self) -> dict[str, Any]:
        """Return the default values of the hyper-parameters that are active by default."""
        values = {key: parameter.default for key, parameter in self.parameters.items()}
        return {key: values[key] for key in self.active(values)}

    def active(self, values: Mapping[str, Any]) -> list[str]:
        """Return the names of the active hyper-parameters, given the values of their parents.

        `values` may contain inactive hyper-parameters. The names are in the order of `parameters`.
        """
        inactive: set[str] = set()
        for child, (parent, allowed) in self.conditions.items():
            if parent in inactive or values.get(parent) not in allowed:
                inactive.add(child)
        return [key for key in self.parameters if key not in inactive]

    def make(self, values: Mapping[str, Any]) -> Any:
        """Build a new, unfitted estimator; None for a passthrough.

        The estimator's own defaults apply to hyper-parameters without a value.
        """
        if self.estimator is None:
            return None
        arguments = {**self.settings, **values}
        for key, parameter in self.parameters.items():
            if isinstance(parameter, Real) and key in values:
                arguments[key] = float(values[key])
        if _is_prototype(self.estimator):
            estimator = clone(self.estimator)
            return estimator.set_params(**arguments) if arguments else estimator
        return self.estimator(**arguments)

    def __repr__(self) -> str:
        return f"<Component {self.name!r}, {len(self.parameters)} hyper-parameters>"
