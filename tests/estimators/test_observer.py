"""scikit-learn's callbacks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.callback import ProgressBar

from skauto.exceptions import ColumnKindWarning, NoBetterThanGuessingWarning
from tests.estimators.quick import quick, tiny_space


def test_progress_bar_and_own_callbacks(iris, capsys):
    quick().set_callbacks(ProgressBar()).fit(*iris)

    class StopAfterTwo:
        def setup(self, estimator, context):
            self.n_trials = 0

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.n_trials += context.task_name == "trial"
            return self.n_trials >= 2

        def teardown(self, estimator, context):
            pass

    clf = quick(max_evals=20).set_callbacks(StopAfterTwo()).fit(*iris)
    assert len(clf.history_) == 2


def test_a_table_without_columns_is_not_searched_for_long(iris):
    X = pd.DataFrame({"one": 1, "customer_id": range(150)})
    with pytest.warns((ColumnKindWarning, NoBetterThanGuessingWarning)):
        clf = quick(max_evals=200, space=tiny_space(), initial=None).fit(X, iris[1])
    assert len(clf.history_) < 20
    assert np.ptp(clf.predict_proba(X), axis=0).max() == 0
