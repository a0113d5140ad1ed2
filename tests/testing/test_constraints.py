"""The check of a constraint."""

import numpy as np
import pytest

from skauto.constraints import Constraint
from skauto.testing import check_constraint


class Share(Constraint):
    """Share of rows with the label 1, or what is no number."""

    def __init__(self, upper=None, broken=False):
        self.upper = upper
        self.broken = broken

    def measure(self, evidence):
        return np.nan if self.broken else float((evidence.labels == 1).mean())


def test_a_constraint_is_accepted_or_refused():
    check_constraint(Share(0.3))
    with pytest.raises(AssertionError, match="value"):
        check_constraint(Share(0.3, broken=True))
