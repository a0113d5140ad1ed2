"""Search spaces: the algorithms and hyper-parameters to choose from."""

from skauto.space._component import Component, FitContext
from skauto.space._configuration import Configuration
from skauto.space._distributions import Distribution, as_parameter
from skauto.space._layout import Column
from skauto.space._parameter import Parameter
from skauto.space._parameters import Categorical, Integer, Real
from skauto.space._space import SearchSpace
from skauto.space.catalog import get_space

__all__ = [
    "Categorical",
    "Column",
    "Component",
    "Configuration",
    "Distribution",
    "FitContext",
    "Integer",
    "Parameter",
    "Real",
    "SearchSpace",
    "as_parameter",
    "get_space",
]
