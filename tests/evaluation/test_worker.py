"""The tasks of a worker: folds and out-of-bag predictions."""

import math
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from skauto import AutoClassifier
from skauto.engines import Outcome
from skauto.evaluation import OutOfBagTask
from skauto.evaluation._promotion import decisive_rows
from skauto.space import SearchSpace
from skauto.space.catalog import LightGBMClassifier
from tests.evaluation.evaluators import bayes_space, evaluator_for, forest_space, opened


def test_out_of_bag_predictions_are_those_of_the_forest():
    space = forest_space().subspace({"encoder": ["none"], "classifier": ["forest"]})
    evaluator = evaluator_for(space)
    job = opened(evaluator)
    ((part, (task,), _),) = job.next_parts()
    assert isinstance(task, OutOfBagTask)
    results = evaluator.worker(task)
    data = evaluator.data
    forest = RandomForestClassifier(60, max_features=0.5, oob_score=True, random_state=0)
    expected = forest.fit(data.Z, data.y).oob_decision_function_
    for (_, test), result in zip(data.splits, results, strict=True):
        np.testing.assert_allclose(result.probabilities, expected[test], rtol=1e-5)


def test_rows_without_out_of_bag_trees_get_the_weighted_class_frequencies():
    space = SearchSpace(["classifier"])
    space.add("classifier", "forest", RandomForestClassifier(3, random_state=0))
    weight = np.random.default_rng(0).integers(1, 10, 400).astype(float)
    evaluator = evaluator_for(space, sample_weight=weight)
    data = evaluator.data
    results = evaluator.worker(OutOfBagTask(space.default()))
    forest = RandomForestClassifier(3, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        forest.fit(data.Z, data.y, weight)
    never = forest.oob_decision_function_.sum(axis=1) == 0
    positive = np.average(data.y, weights=weight)
    assert never.any()
    for (_, test), result in zip(data.splits, results, strict=True):
        shares = result.probabilities[never[test]]
        np.testing.assert_allclose(shares, [[1 - positive, positive]] * len(shares), rtol=1e-6)


def test_out_of_bag_predictions_of_shuffled_labels_are_chance(rng):
    X = rng.normal(size=(600, 10))
    y = rng.integers(0, 2, 600)
    space = forest_space().subspace({"classifier": ["forest"]})
    clf = AutoClassifier("random", space=space, max_evals=2, initial=None, random_state=0)
    clf.fit(X, y)
    for trial in clf.history_:
        assert 0.35 < trial.loss < 0.65


def test_a_share_of_many_rows_is_judged_on_few_of_them():
    evaluator = evaluator_for(bayes_space(), n_rows=80_000)
    job = opened(evaluator, time_limit=60.0)
    ((part, (task,), _),) = job.next_parts()
    result = evaluator.worker(task)
    _, test = evaluator.data.splits[0]
    rows = test[decisive_rows(len(test))]
    assert len(rows) == len(result.probabilities) == 2_000
    whole = evaluator.worker.evaluate(task.configuration, evaluator.data.splits[0][0], rows, ())
    np.testing.assert_allclose(result.probabilities, whole.probabilities, atol=0.1)
    job.receive(part, Outcome("ok", result, "", 1.0), math.inf)
    assert job.next_parts()[0][0] == 0  # the first trial is promoted to all rows


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_rows_that_boosting_has_predicted_are_not_predicted_again(monkeypatch, class_weight):
    boosting = LightGBMClassifier(verbose=-1, n_jobs=1, class_weight=class_weight)
    space = SearchSpace(["classifier"]).add("classifier", "lightgbm", boosting)
    worker = evaluator_for(space).worker
    train, test = worker.data.splits[0]
    evaluate = partial(worker.evaluate, space.default(), train, test, (), keep=True)
    result = evaluate()
    expected = result.pipeline.predict_proba(worker.data.Z[test])
    np.testing.assert_allclose(result.probabilities, expected, rtol=1e-6)
    assert not hasattr(result.pipeline[-1], "validation_probabilities_")
    monkeypatch.setattr(LightGBMClassifier, "predict_proba", None)
    np.testing.assert_array_equal(evaluate().probabilities, result.probabilities)


def test_each_fold_of_a_small_subset_has_rows_to_train_on_and_to_validate():
    worker = evaluator_for(bayes_space(), n_rows=40, n_folds=20).worker
    for fold in range(20):
        train, test = worker.rows(fold, 0.2)
        assert train.size
        assert test.size
        assert not np.intersect1d(train, test).size


def test_tasks_leave_filters_that_ignore_all_warnings_alone():
    class Task:
        def run(self, worker):
            return warnings.filters

    worker = evaluator_for(bayes_space()).worker
    with warnings.catch_warnings(action="always"):
        assert worker(Task()) is not warnings.filters
    with warnings.catch_warnings(action="ignore"):
        assert worker(Task()) is warnings.filters
