"""Output of steps as a dataframe."""

import warnings

import numpy as np
import pandas as pd

from skauto import AutoClassifier


def test_output_of_the_steps_can_be_a_dataframe(table):
    X, y = table
    best = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y).best_estimator_
    expected = best.predict_proba(X)
    best.set_output(transform="pandas")
    Z = best[:-1].transform(X)
    assert isinstance(Z, pd.DataFrame)
    assert list(Z.columns) == list(best[:-1].get_feature_names_out())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(best.predict_proba(X), expected, atol=1e-6)
        np.testing.assert_allclose(best[-1].predict_proba(Z.to_numpy()), expected, atol=1e-6)
        best.set_output(transform="default")
        assert isinstance(best[:-1].transform(X), np.ndarray)
        np.testing.assert_allclose(best.predict_proba(X), expected, atol=1e-6)


def test_output_of_steps_leaves_the_ensemble_as_it_was(table):
    X, y = table
    automl = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y)
    expected = automl.predict_proba(X)
    automl.best_estimator_.set_output(transform="pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(automl.predict_proba(X), expected)
