"""The plot of recall and precision."""

import numpy as np
import pytest

from skauto.plotting import OperatingPointDisplay
from tests.estimators.imbalanced import fitted, imbalanced_data


@pytest.fixture
def clf():
    X, y = imbalanced_data()
    return fitted(X[:1000], y[:1000])


def test_the_display_marks_the_chosen_point(clf):
    display = OperatingPointDisplay.from_estimator(clf, pos_label="yes")
    assert display.chosen_line_ is None
    assert display.ax_.get_xlabel() == "share of rows flagged as yes"
    recall = display.lines_[0].get_xydata()
    np.testing.assert_array_equal(recall, clf.operating_points("yes")[["flagged", "recall"]])
    clf.choose_operating_point(recall=0.9, pos_label="no")
    display = OperatingPointDisplay.from_estimator(clf)
    assert display.chosen_line_.get_xdata()[0] == clf.operating_point_["flagged"]
    assert OperatingPointDisplay.from_estimator(clf, pos_label="yes").chosen_line_ is None
