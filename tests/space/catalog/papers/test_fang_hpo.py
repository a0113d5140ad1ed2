"""The spaces of FanG-HPO."""

import numpy as np

from skauto.space import get_space


def test_fang_spaces_are_boxes(rng):
    for name, d in (("fang_mlp", 10), ("fang_gbm", 7)):
        space = get_space(name)
        assert not np.isnan(space.sample(100, rng)).any()
        assert space.n_dimensions == 7 + d
