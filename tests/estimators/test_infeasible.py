"""What is said where no ensemble keeps the limits."""

import pytest
from sklearn.datasets import make_classification

from skauto import SearchOptions
from skauto.constraints import FalseNegativeRate, ModelSize
from skauto.exceptions import InfeasibleError, InfeasibleWarning
from tests.ensemble.ballast import fit


@pytest.fixture(scope="module")
def table():
    return make_classification(900, 6, random_state=0)


@pytest.mark.parametrize("kwargs", [{}, {"options": SearchOptions(refit=False)}])
def test_a_refusal_names_limit_best_value_and_trial(table, kwargs):
    message = (
        r"'model_size' has the limit 900; the best value that was reached is \d+, "
        r"by trial 0 \(gaussian_nb\)"
    )
    with pytest.warns(InfeasibleWarning, match=message):
        clf = fit(table, [ModelSize(900)], **kwargs)
    assert not clf.feasible_
    assert clf.member_weights_ == {0: 1.0}
    with pytest.raises(InfeasibleError, match=message):
        fit(table, [ModelSize(900)], on_infeasible="raise", **kwargs)


def test_limits_that_exclude_each_other_are_named_so(table):
    limits = [ModelSize(4_000), FalseNegativeRate(0.1)]
    frame = fit(table, [ModelSize(), FalseNegativeRate()]).leaderboard()
    assert (frame["false_negative_rate"] < 0.1).sum() == 1, frame
    with pytest.warns(InfeasibleWarning, match="which misses another limit"):
        fit(table, limits, decision="argmax")
