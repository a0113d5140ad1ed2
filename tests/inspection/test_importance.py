"""Importance by raw column on validation rows."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skauto.inspection import cross_validated_importance
from tests.inspection.dates import fit, month_decides


@pytest.fixture(scope="module")
def data():
    return month_decides()


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
