"""The checks of a strategy name the rule that is violated."""

import numpy as np
import pytest

from skauto.history import Proposal
from skauto.strategies import RandomSearch, Strategy
from skauto.testing import check_strategy


class Draws(Strategy):
    """Draws from the global state."""

    def suggest(self, history, pending):
        np.random.rand()
        configuration = self.sample_new()
        return configuration and Proposal(configuration)


class Repeats(Strategy):
    """Proposes the default for ever."""

    def suggest(self, history, pending):
        return Proposal(self.space.default())


class StopsAtFailures(RandomSearch):
    """Ends at the first failed trial."""

    def suggest(self, history, pending):
        failed = len(history) and not history[-1].ok
        return None if failed else super().suggest(history, pending)


class Computes(RandomSearch):
    """Its constructor sets more than its arguments."""

    def __init__(self):
        self.n_drawn = 0


@pytest.mark.parametrize(
    ("strategy", "rule"),
    [
        (Draws(), "global random state"),
        (Repeats(), "proposed twice"),
        (StopsAtFailures(), "half bad"),
        (Computes(), "n_drawn"),
    ],
)
def test_a_strategy_is_refused_with_the_rule(strategy, rule):
    with pytest.raises(AssertionError, match=rule):
        check_strategy(strategy)
