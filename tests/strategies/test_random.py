"""Random search."""

import numpy as np
from scipy.stats import chisquare

from skauto.history import History
from skauto.space import Real, SearchSpace
from skauto.strategies import RandomSearch


def test_proposals_follow_the_prior():
    space = SearchSpace()
    for name in "abc":
        space.add("classifier", name, parameters={"x": Real(1, 100, log=True)})
    strategy = RandomSearch().start(space, np.random.default_rng(0))
    drawn = [strategy.ask(History()).configuration for _ in range(3000)]
    counts = [sum(c["classifier"] == name for c in drawn) for name in "abc"]
    assert chisquare(counts).pvalue > 0.001
    decades = [np.log10(c.parameters("classifier")["x"]) for c in drawn]
    assert chisquare(np.histogram(decades, bins=10, range=(0, 2))[0]).pvalue > 0.001
