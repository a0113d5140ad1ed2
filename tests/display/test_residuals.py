"""ResidualsDisplay: the iterations of ADMM."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skauto import AutoClassifier
from skauto.plotting import ResidualsDisplay
from skauto.strategies import ADMM
from tests.display.conftest import fit


def test_lines_are_the_records_of_the_strategy():
    clf = fit(ADMM(budget=3, growth=0, n_initial=3), max_evals=30, cv=0.3)
    records = pd.DataFrame(clf.strategy_.residuals_)
    assert len(records) >= 2
    display = ResidualsDisplay.from_estimator(clf)
    assert sorted(display.lines_) == ["dual", "primal"]  # nothing was limited
    for column, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), records["n_trials"])
        np.testing.assert_array_equal(line.get_ydata(), records[column])


def test_violations_are_drawn_and_orders_of_magnitude_need_a_logarithm():
    frame = pd.DataFrame(
        {
            "n_trials": [10, 20, 30],
            "primal": [1.0, 0.1, 0.001],
            "dual": [1.0, 0.5, 0.0],
            "violation": [2.0, np.nan, 0.0],
        }
    )
    display = ResidualsDisplay(frame).plot()
    assert sorted(display.lines_) == ["dual", "primal", "violation"]
    assert display.ax_.get_yscale() == "symlog"
    assert display.ax_.get_ylim()[0] == 0.0


def test_a_search_that_ended_in_its_first_iteration_has_no_record():
    clf = fit("admm", max_evals=6, cv=0.3)
    with pytest.raises(ValueError, match="ADMM, has recorded nothing"):
        ResidualsDisplay.from_estimator(clf)


def test_an_unfitted_estimator_is_refused():
    with pytest.raises(NotFittedError):
        ResidualsDisplay.from_estimator(AutoClassifier("admm"))
