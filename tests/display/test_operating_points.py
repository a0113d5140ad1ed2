"""The plot of recall and precision."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from skauto import AutoClassifier
from skauto.plotting import OperatingPointDisplay
from tests.strategy_settings import quick_space


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(1500, 8, n_informative=4, weights=[0.8], flip_y=0.1, random_state=0)
    return X, np.where(y == 1, "yes", "no")


def fitted(X, y, **kwargs):
    return AutoClassifier(max_evals=3, cv=3, space=quick_space(), random_state=0, **kwargs).fit(
        X, y
    )


@pytest.fixture
def clf(data):
    return fitted(data[0][:1000], data[1][:1000])


def test_the_display_marks_the_chosen_point(clf):
    display = OperatingPointDisplay.from_estimator(clf)
    assert display.chosen_line_ is None
    recall = display.lines_[0].get_xydata()
    np.testing.assert_array_equal(recall, clf.operating_points()[["flagged", "recall"]])
    clf.choose_operating_point(recall=0.9, pos_label="no")
    display = OperatingPointDisplay.from_estimator(clf)
    assert display.chosen_line_.get_xdata()[0] == clf.operating_point_["flagged"]
    assert OperatingPointDisplay.from_estimator(clf, pos_label="yes").chosen_line_ is None
