"""One number of rounds for all folds of a trial."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from skauto.space import SearchSpace
from skauto.space.catalog import LightGBMClassifier, NetworkClassifier
from tests.evaluation.evaluators import completed, evaluator_for, first_result

BOOSTING = LightGBMClassifier(
    learning_rate=0.1, min_child_samples=5, random_state=0, num_threads=1, verbose=-1
)
SLOW_BOOSTING = clone(BOOSTING).set_params(learning_rate=0.03, num_leaves=4)
NETWORK = NetworkClassifier(width=16, n_members=1, random_state=0)


def evaluator_of(classifier, n_folds=4, **kwargs):
    space = SearchSpace(["classifier"]).add("classifier", "rounds", classifier)
    return evaluator_for(space, n_folds=n_folds, **kwargs)


@pytest.mark.parametrize("classifier", [BOOSTING, NETWORK])
def test_each_fold_is_predicted_after_about_the_mean_number_of_rounds(classifier):
    evaluator = evaluator_of(classifier)
    trial, data = completed(evaluator), evaluator.data
    mean = np.mean(trial.rounds)
    assert len(set(trial.rounds)) > 1
    for train, test in data.splits:
        found = trial.predictions[test]
        # every stage that the fold may be at: ratios of 1.2, or the ends of four cycles
        gaps = [
            np.abs(fitted.predict_proba(data.Z[test]) - found).max()
            for n in range(1, 120)
            if (fitted := clone(classifier).set_rounds(n).fit(data.Z[train], data.y[train]))
        ]
        n_rounds = 1 + int(np.argmin(gaps))
        assert min(gaps) < 1e-5
        assert 1 / 3 < n_rounds / mean < 3
    scores = [np.mean(trial.predictions[t].argmax(axis=1) == data.y[t]) for _, t in data.splits]
    assert trial.fold_scores["score"] == pytest.approx(scores)


@pytest.mark.parametrize("classifier", [SLOW_BOOSTING, NETWORK])
def test_without_signal_the_loss_is_not_below_that_of_the_class_frequencies(classifier):
    gains = []
    for seed in range(4):
        evaluator = evaluator_of(classifier, n_folds=8, n_rows=160)
        y = evaluator.data.y
        y[:] = np.random.default_rng(seed).permutation(y)
        frequencies = np.tile(np.bincount(y) / len(y), (len(y), 1))
        gains.append(log_loss(y, frequencies) - completed(evaluator).tie_break)
    assert np.mean(gains) < 0.0


def test_a_single_fold_is_predicted_by_its_best_round():
    evaluator = evaluator_of(BOOSTING)
    evaluator.data.splits[:] = evaluator.data.splits[:1]
    (train, test), data = evaluator.data.splits[0], evaluator.data
    best = clone(BOOSTING).fit(data.Z[train], data.y[train], eval_set=(data.Z[test], data.y[test]))
    found = completed(evaluator).predictions[test]
    np.testing.assert_allclose(found, best.predict_proba(data.Z[test]), rtol=1e-6)


def test_many_validation_rows_have_no_stages():
    assert first_result(evaluator_of(BOOSTING)).stages
    assert not first_result(evaluator_of(BOOSTING, n_rows=24_000)).stages
