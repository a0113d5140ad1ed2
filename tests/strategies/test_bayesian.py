"""Units and transformations of losses."""

import numpy as np

from skauto.strategies._bayesian import performance_unit


def test_performance_is_in_units_of_the_losses_when_they_are_shares():
    for y, scale in (
        ([0.0, 0.2, 1.0], 1.0),
        ([1.0, 2.0, 5.0, 1e6], 2 * (3.5 - 1.0)),
        ([7.0, 7.0], 2.0),
        ([-2.0, -1.0, 0.0], 2.0),
    ):
        assert performance_unit(np.array(y)) == scale
