"""PermutationImportanceDisplay."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from skauto.plotting import PermutationImportanceDisplay
from tests.inspection.dates import fit, month_decides


@pytest.fixture(scope="module")
def data():
    return month_decides()


def test_the_display_shows_the_most_important_column_first(data):
    automl = fit(data, DecisionTreeClassifier(max_depth=3, random_state=0))
    display = PermutationImportanceDisplay.from_estimator(automl, *data, random_state=0)
    assert display.shown_["column"].tolist() == ["day", "noise"]
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, display.shown_["mean"])
    assert display.ax_.get_xlabel() == "loss of accuracy when permuted"
    plt.close("all")
