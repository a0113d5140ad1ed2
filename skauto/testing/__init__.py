"""Checks of strategies, components, constraints and displays that others write."""

from skauto.testing._components import check_component
from skauto.testing._constraints import check_constraint
from skauto.testing._displays import check_display
from skauto.testing._strategies import check_strategy

__all__ = ["check_component", "check_constraint", "check_display", "check_strategy"]
