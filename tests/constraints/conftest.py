"""What tests of several kinds of constraints are measured on."""

import numpy as np
import pytest

from skauto.constraints import Evidence

CLASSES = np.array(["no", "yes"])


@pytest.fixture
def evidence(rng):
    p = rng.random(400)
    y = (p + 0.4 * rng.normal(size=400) > 0.5).astype(int)
    groups = {"sex": rng.integers(0, 2, 400), "age": rng.integers(0, 4, 400)}
    return Evidence(np.column_stack([1 - p, p]), y, CLASSES, groups=groups, X=rng.random((400, 2)))
