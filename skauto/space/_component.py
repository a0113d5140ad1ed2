"""One algorithm of one step: its estimator, hyper-parameters and traits."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.utils import InputTags, get_tags

from skauto.space._parameters import Categorical, Parameter, Real, as_parameter


@dataclass(frozen=True)
class FitContext:
    """The data that a step is fitted on.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_features : int
        Number of columns that reach this step.
    n_classes : int
        Number of classes.
    categorical : tuple of int, default=()
        Columns that hold category codes 0, 1, ..., with NaN for missing.
    n_levels : tuple of int, default=()
        Number of categories of each of them.
    sparse : bool, default=False
        Whether the matrix is sparse.

    Examples
    --------
    >>> from skauto.space import FitContext
    >>> FitContext(n_samples=100, n_features=4, n_classes=2).sparse
    False
    """

    n_samples: int
    n_features: int
    n_classes: int
    categorical: tuple[int, ...] = ()
    n_levels: tuple[int, ...] = ()
    sparse: bool = False


def _is_prototype(estimator: Any) -> bool:
    return hasattr(estimator, "get_params") and not isinstance(estimator, type)


def _input_tags(estimator: Any) -> InputTags:
    """Input tags of an estimator; None accepts everything, of a callable nothing is known."""
    if _is_prototype(estimator):
        return get_tags(estimator).input_tags
    return InputTags(sparse=True, allow_nan=estimator is None)


class Component:
    """One algorithm: an estimator, its hyper-parameters and its traits.

    Parameters
    ----------
    name : str
        Name of the algorithm within its step.
    estimator : estimator, callable or None, default=None
        A prototype, which is cloned; or a callable that takes the hyper-parameters by name and
        returns an estimator; or None for a step that is left out.
    parameters : mapping of str to list, distribution or Parameter, default=None
        The hyper-parameters, as :func:`as_parameter` takes them. One with a single choice is a
        fixed setting.
    defaults : mapping of str to object, default=None
        Default values of hyper-parameters, where they are not the first choice or the middle.
    conditions : mapping of str to (str, list), default=None
        ``{"degree": ("kernel", ["poly"])}`` makes ``degree`` active only where ``kernel`` is
        active and has one of the listed values.
    adapt : callable, default=None
        ``adapt(estimator, context)`` is called just before the estimator is fitted and sets what
        depends on the data, as told by a `FitContext`.
    dense_only : bool, default=None
        Whether it refuses sparse matrices; None asks the tags of the estimator, and means no for
        callables.
    handles_missing : bool, default=None
        Whether it accepts NaN; None asks the tags of the estimator, and means no for callables.
    handles_categories : bool, default=None
        Whether columns of category codes make sense as its input; None means only if it is left
        out.
    keeps_categories : bool, default=None
        Whether columns of category codes come out as they went in; None means only if it is left
        out.
    category_parameters : sequence of str, default=()
        Hyper-parameters that change nothing where there are no categorical columns.
    balancing : {"weights", "sampler", "groups"}, default=None
        How it counters unequal class sizes, if it does: by class weights, by choosing rows, or by
        weights for which the classes are independent of sensitive groups.
    max_samples : int, default=None
        Number of rows above which it is not worth trying.
    max_features : int, default=None
        Number of columns of the data above which it is not worth trying.
    cost : float, default=1.0
        Relative cost of fitting it: cheaper ones are tried first.
    weight : float, default=1.0
        Relative probability of being drawn among the algorithms of its step.
    prefers : mapping of str to str, default=None
        Algorithms of other steps that its default configuration should have.

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
        defaults: Mapping[str, Any] | None = None,
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
        self.parameters, self.settings = self._read_parameters(parameters or {}, defaults or {})
        self.conditions = self._read_conditions(conditions or {})
        self.adapt = adapt
        tags = _input_tags(estimator)
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

    def _read_parameters(
        self, specs: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> tuple[dict[str, Parameter], dict[str, Any]]:
        """Separate hyper-parameters from settings, which have a single choice."""
        unknown = [key for key in defaults if key not in specs]
        if unknown:
            raise ValueError(
                f"{self.name}: defaults has {unknown[0]!r}, which is not among the "
                f"hyper-parameters {list(specs)}"
            )
        parameters, settings = {}, {}
        for key, spec in specs.items():
            if key == "name":
                raise ValueError(f"{self.name}: a hyper-parameter cannot be called 'name'")
            try:
                parameter = as_parameter(spec, defaults.get(key))
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
        """Check the conditions and sort them: parents come before their children."""
        ordered: dict[str, tuple[str, tuple[Any, ...]]] = {}
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
        waiting = dict(conditions)
        while waiting:
            ready = [child for child, (parent, _) in waiting.items() if parent not in waiting]
            if not ready:
                raise ValueError(f"{self.name}: conditions form a circle: {sorted(waiting)}")
            for child in ready:
                parent, values = waiting.pop(child)
                ordered[child] = (parent, tuple(values))
        return ordered

    def vary(
        self,
        parameters: Mapping[str, Any] | None = None,
        *,
        drop: Sequence[str] = (),
        **changes: Any,
    ) -> "Component":
        """Return a copy with some hyper-parameters or traits changed.

        Parameters
        ----------
        parameters : mapping, default=None
            Hyper-parameters to add or to replace.
        drop : sequence of str, default=()
            Hyper-parameters to leave to the estimator's own default.
        **changes : dict
            New values of other attributes, for example ``name`` or ``cost``. New ``conditions``
            replace all the old ones.

        Returns
        -------
        Component
            The copy.

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
        other.parameters, other.settings = other._read_parameters(kept, {})
        conditions = {
            child: (parent, values)
            for child, (parent, values) in self.conditions.items()
            if child in other.parameters and parent in other.parameters
        }
        other.conditions = other._read_conditions(changes.pop("conditions", conditions))
        for key, value in changes.items():
            if not hasattr(self, key):
                raise TypeError(f"a component has no attribute {key!r}")
            setattr(other, key, value)
        return other

    def without_categories(self) -> "Component":
        """Return the component for data without categorical columns.

        Returns
        -------
        Component
            With `category_parameters` fixed at their defaults; itself if there are none.

        Examples
        --------
        >>> from skauto.space import get_space
        >>> lightgbm = get_space("default").component("classifier", "lightgbm")
        >>> "cat_smooth" in lightgbm.without_categories().parameters
        False
        """
        free = [key for key in self.category_parameters if key in self.parameters]
        return self.vary({key: [self.parameters[key].default] for key in free}) if free else self

    @property
    def passthrough(self) -> bool:
        """Whether the step is left out."""
        return self.estimator is None

    def default_values(self) -> dict[str, Any]:
        """Default values of the hyper-parameters that are active by default.

        Returns
        -------
        dict
            Name to value.
        """
        values = {key: parameter.default for key, parameter in self.parameters.items()}
        return {key: values[key] for key in self.active(values)}

    def active(self, values: Mapping[str, Any]) -> list[str]:
        """Names of the hyper-parameters that are active, given the values of their parents.

        Parameters
        ----------
        values : mapping of str to object
            Name to value; may hold values of inactive ones.

        Returns
        -------
        list of str
            In the order of `parameters`.
        """
        inactive: set[str] = set()
        for child, (parent, allowed) in self.conditions.items():
            if parent in inactive or values.get(parent) not in allowed:
                inactive.add(child)
        return [key for key in self.parameters if key not in inactive]

    def make(self, values: Mapping[str, Any]) -> Any:
        """Build the estimator.

        Parameters
        ----------
        values : mapping of str to object
            Values of hyper-parameters; those not named keep the estimator's own defaults.

        Returns
        -------
        estimator or None
            A new, unfitted estimator; None if the step is left out.
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
