"""What becomes of the folds of a trial."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from skauto import AutoClassifier
from skauto.engines import Outcome
from skauto.space import SearchSpace
from tests.evaluation.evaluators import bayes_space, completed, evaluator_for, forest_space, opened


def test_the_tie_break_is_the_weighted_log_loss():
    weight = np.random.default_rng(0).integers(1, 10, 400).astype(float)
    evaluator = evaluator_for(bayes_space(), sample_weight=weight)
    trial = completed(evaluator)
    y = evaluator.data.y
    expected = log_loss(y, trial.predictions, sample_weight=weight)
    assert trial.tie_break == pytest.approx(expected, rel=1e-5)
    assert expected != pytest.approx(log_loss(y, trial.predictions), rel=1e-3)


def test_predictions_do_not_depend_on_the_order_of_completion():
    evaluator = evaluator_for(bayes_space())
    everywhere = np.arange(400)
    evaluator.data.splits[:] = [(train, everywhere) for train, _ in evaluator.data.splits]
    forth, back = (completed(evaluator, last_fold_first) for last_fold_first in (False, True))
    np.testing.assert_array_equal(forth.predictions, back.predictions)


def test_a_held_out_forest_is_its_own_refit():
    space = forest_space().subspace({"encoder": ["none"], "classifier": ["forest"]})
    evaluator = evaluator_for(space, n_folds=5)
    evaluator.data.splits[:] = evaluator.data.splits[:1]
    job = opened(evaluator, time_limit=60.0)
    ((part, args, _),) = job.next_parts()
    results = evaluator.worker(*args)
    job.receive(part, Outcome("ok", results, "", 1.0), math.inf)
    assert job.done
    forest = RandomForestClassifier(60, max_features=0.5, oob_score=True, random_state=0)
    expected = forest.fit(evaluator.data.Z, evaluator.data.y).predict_proba(evaluator.data.Z)
    fitted = evaluator.aggregator.models[space.default()][-1]
    np.testing.assert_array_equal(fitted.predict_proba(evaluator.data.Z), expected)


def test_stopped_trials_keep_their_first_fold():
    X, y = make_classification(300, 10, n_informative=4, random_state=1)
    space = SearchSpace(["classifier"])
    space.add("classifier", "prior", DummyClassifier(), {"random_state": list(range(10))})
    clf = AutoClassifier("random", space=space, max_evals=10, initial=None, random_state=0, cv=4)
    clf.fit(X, y)
    assert [trial.status for trial in clf.history_].count("stopped") >= 1
    for trial in clf.history_:
        if trial.status == "stopped":
            assert len(trial.fold_scores["score"]) == 1
            assert np.isfinite(trial.loss) and not trial.ok
