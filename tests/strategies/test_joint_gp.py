"""JOPT, one Gaussian process over all choices: its initial design."""

import numpy as np

from skauto.history import History
from skauto.strategies import JointGP
from tests.strategies.search_loop import rich_space


def test_the_default_configuration_comes_first_but_not_in_the_paper():
    space = rich_space()
    firsts = {
        strategy: {
            strategy.start(space, np.random.default_rng(seed)).ask(History()).configuration
            for seed in range(6)
        }
        for strategy in (JointGP(), JointGP.paper())
    }
    ours, papers = firsts.values()
    assert ours == {space.default()}
    assert len(papers) > 3
