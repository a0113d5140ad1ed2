"""What a fitted search keeps."""

import numpy as np
import pytest

from skauto import AutoClassifier, SearchOptions


@pytest.fixture(scope="module")
def fitted(iris):
    options = SearchOptions(warm_start=True)
    return AutoClassifier(max_evals=4, cv=3, random_state=0, options=options).fit(*iris)


def test_a_search_that_goes_on_keeps_the_targets(iris, fitted):
    assert fitted.history_.goal.targets is not None
    np.testing.assert_array_equal(fitted.classes_[fitted.history_.goal.targets], iris[1])
    assert all(trial.predictions is not None for trial in fitted.history_ if trial.ok)


def test_only_members_keep_their_predictions(iris):
    fitted = AutoClassifier(max_evals=2, cv=3, ensemble_size=1, random_state=0).fit(*iris)
    kept = [trial.number for trial in fitted.history_ if trial.predictions is not None]
    assert kept == list(fitted.member_weights_)
    assert fitted.history_.goal.ensemble_loss is None
    assert fitted.ensemble_.diversity_.tolist() == [[0.0]]
    assert fitted.ensemble_.disagreement_ == 0.0
