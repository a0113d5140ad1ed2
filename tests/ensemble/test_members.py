"""What a fitted ensemble tells of its members' diversity."""

import numpy as np
import pytest

from skauto import AutoClassifier, SearchOptions
from skauto.model import PipelineEnsemble
from skauto.selection import pairwise_disagreement, pairwise_diversity


@pytest.fixture(scope="module")
def fitted(iris):
    options = SearchOptions(warm_start=True)
    return AutoClassifier(max_evals=4, cv=3, random_state=0, options=options).fit(*iris)


def test_diversity_is_that_of_the_out_of_fold_predictions(fitted):
    members = list(fitted.member_weights_)
    predictions = np.array([fitted.history_[number].predictions for number in members])
    assert np.isfinite(predictions).all()
    diversity = fitted.ensemble_.diversity_
    assert diversity.dtype == np.float64
    np.testing.assert_allclose(diversity, pairwise_diversity(predictions))
    n = len(members)
    pairs = pairwise_disagreement(predictions)[np.triu_indices(n, 1)]
    expected = pairs.mean() if n > 1 else 0.0
    assert fitted.ensemble_.disagreement_ == pytest.approx(expected)


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


def test_a_vote_made_by_hand_may_leave_it_open():
    ensemble = PipelineEnsemble(None, [], [], np.array([0, 1]))
    assert ensemble.diversity_ is None
    assert ensemble.disagreement_ is None
