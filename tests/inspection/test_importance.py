"""Importance by raw column on validation rows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.inspection import cross_validated_importance
from skauto.plotting import PermutationImportanceDisplay
from skauto.space import SearchSpace


@pytest.fixture(scope="module")
def data():
    """A date decides, by its month; a number says nothing."""
    rng = np.random.default_rng(0)
    day = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, 160), unit="D")
    X = pd.DataFrame({"noise": rng.normal(size=160), "day": day})
    return X, np.where(X["day"].dt.month <= 6, "early", "late")


def fit(data, classifier):
    space = SearchSpace(["classifier"]).add("classifier", "only", classifier)
    return AutoClassifier(space=space, max_evals=1, cv=2, random_state=0).fit(*data)


def test_what_is_derived_from_a_column_is_permuted_together(data):
    automl = fit(data, DecisionTreeClassifier(max_depth=3, random_state=0))
    result = cross_validated_importance(automl, *data, n_repeats=3, random_state=0)
    assert result.importances.shape == (2, 6)
    np.testing.assert_allclose(result.importances_mean, result.importances.mean(axis=1))
    np.testing.assert_allclose(result.importances_std, result.importances.std(axis=1))
    assert abs(result.importances_mean[0]) < 0.05
    assert result.importances_mean[1] > 0.35  # a guess is right in half of the rows


def test_rows_that_were_fitted_on_do_not_count(rng):
    """A tree that knows its training rows by heart is no better than a guess on others."""
    X, y = rng.normal(size=(200, 1)), rng.integers(0, 2, 200)
    automl = fit((X, y), DecisionTreeClassifier(random_state=0))
    assert automl.score(X, y) == 1.0
    result = cross_validated_importance(automl, X, y, random_state=0)
    assert abs(result.importances_mean[0]) < 0.1


def test_the_same_numbers_for_the_same_seed(data):
    automl = fit(data, GaussianNB())
    first = cross_validated_importance(automl, *data, random_state=1)
    again = cross_validated_importance(automl, *data, random_state=1)
    np.testing.assert_array_equal(first.importances, again.importances)


def test_the_display_shows_the_most_important_column_first(data):
    automl = fit(data, DecisionTreeClassifier(max_depth=3, random_state=0))
    display = PermutationImportanceDisplay.from_estimator(automl, *data, random_state=0)
    assert display.shown_["column"].tolist() == ["day", "noise"]
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, display.shown_["mean"])
    assert display.ax_.get_xlabel() == "loss of accuracy when permuted"
    plt.close("all")
