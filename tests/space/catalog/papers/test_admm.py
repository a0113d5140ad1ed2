"""Counts of the spaces of ADMM."""

from skauto.space import get_space
from tests.space.catalog.counts import n_parameters


def test_admm_counts_by_module():
    space = get_space("admm_large")
    assert n_parameters(space, "scaler") == 8
    assert n_parameters(space, "transformer") == 31
    assert n_parameters(space, "selector") == 5
    assert n_parameters(space, "classifier") == 48 - 2
    small = get_space("admm_small")
    assert [n_parameters(small, s) for s in ("scaler", "transformer", "classifier")] == [6, 5, 24]
    # the first structure tried is naive Bayes with nothing in the optional steps
    assert space.default().structure[3:] == ("none", "none", "none", "gaussian_nb")
