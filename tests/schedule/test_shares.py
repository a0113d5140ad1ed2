"""Shares of the time limit."""

import numpy as np
import pytest

from skauto.schedule import (
    seconds_of_offsets,
)
from skauto.utils import Budget


def test_offsets_have_what_remains_or_a_fiftieth():
    budget = Budget(time_limit=100.0)
    assert seconds_of_offsets(budget) == pytest.approx(100.0, abs=1.0)
    budget.started -= 99.5
    assert seconds_of_offsets(budget) == pytest.approx(2.0)
    assert seconds_of_offsets(Budget()) == np.inf
