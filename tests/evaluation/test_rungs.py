"""The rungs of a trial."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skauto import ConstrainedAutoClassifier
from skauto.constraints import ModelSize
from skauto.evaluation import FoldTask, OutOfBagTask
from skauto.metalearning import FitTimeModel
from skauto.space import SearchSpace
from tests.evaluation.evaluators import (
    bayes_space,
    evaluator_for,
    first_result,
    forest_space,
    history_of,
    next_rung,
)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_trial_that_is_right_in_heavy_rows_only_is_promoted(weighted):
    heavy = np.arange(400) < 40
    weight = np.where(heavy, 50.0, 1.0) if weighted else None
    evaluator = evaluator_for(bayes_space(), sample_weight=weight)
    truth = np.eye(2, dtype=np.float32)[evaluator.data.y]
    in_light, in_heavy = (
        np.where(rows[:, None], 0.05 + 0.9 * truth, 0.5) for rows in (~heavy, heavy)
    )
    first_fold = evaluator.data.splits[0][1]
    result = replace(first_result(evaluator), probabilities=in_heavy[first_fold])
    history = history_of(*[in_light] * 3)
    rung = next_rung(evaluator, 1.0, result, history, seconds_left=math.inf)
    assert (rung is not None) is weighted


@pytest.mark.parametrize(("reserved", "promoted"), [(0.0, True), (50.0, False)])
def test_a_trial_is_not_promoted_if_its_other_folds_end_after_the_search(reserved, promoted):
    time_model = FitTimeModel({"gaussian_nb": [np.log(20.0 / 0.3), 1.0, 0.0, 0.0]})  # 20 s a fold
    evaluator = evaluator_for(bayes_space(), time_model=time_model, left=100.0)
    result = first_result(evaluator, time_limit=100.0)
    history = history_of(np.full((400, 2), 0.5, np.float32))
    left = 100.0 - reserved
    rung = next_rung(evaluator, 1.0, result, history, seconds_left=left)
    assert (rung is not None) is promoted
    # Nothing else would be left.
    assert next_rung(evaluator, 1.0, result, history_of(), seconds_left=left) is not None


def test_a_killed_task_raises_the_seconds_of_its_classifier():
    time_model = FitTimeModel({"gaussian_nb": [0.0, 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(bayes_space(), time_model=time_model)
    configuration = evaluator.worker.builder.space.default()
    facts = evaluator.planner.schedule.facts
    before = time_model.seconds(configuration, facts)
    evaluator.planner.observe(FoldTask(configuration, 0), before / 10, killed=True)
    assert time_model.seconds(configuration, facts) == pytest.approx(before)
    evaluator.planner.observe(FoldTask(configuration, 0), before * 10, killed=True)
    assert time_model.seconds(configuration, facts) > 2 * before


@pytest.mark.parametrize(("seconds", "limits"), [(1.0, (25.0, 50.0)), (40.0, (80.0, 80.0))])
def test_a_preview_is_killed_after_a_quarter_of_the_time_and_a_fold_after_half(seconds, limits):
    time_model = FitTimeModel({"gaussian_nb": [np.log(seconds / 0.3), 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(bayes_space(), time_model=time_model, left=100.0)
    fold = FoldTask(evaluator.worker.builder.space.default(), 0)
    killed_after = [evaluator.planner.task_limit(replace(fold, preview=p)) for p in (True, False)]
    assert killed_after == pytest.approx(limits, rel=0.01)


def test_an_out_of_bag_fit_corrects_the_seconds_of_its_classifier():
    space = forest_space().subspace({"encoder": ["none"], "classifier": ["forest"]})
    time_model = FitTimeModel({"forest": [0.0, 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(space, time_model=time_model)
    facts = replace(evaluator.planner.schedule.facts, n_samples=400)
    configuration = space.default()
    before = time_model.seconds(configuration, facts)
    task = OutOfBagTask(configuration)
    results = evaluator.worker(task)
    taken = sum(result.cpu_time for result in results)
    evaluator.planner.observe(task, taken)
    after = time_model.seconds(configuration, facts)
    assert abs(np.log(after / taken)) < 0.5 * abs(np.log(before / taken))


@pytest.mark.parametrize(
    ("left", "n_complete", "share"),
    [
        (100.0, 1, 1.0),
        (63.0, 1, 0.49),
        (30.0, 1, None),
        (63.0, 0, 0.246),  # the first one takes less time, so that there is a model early
        (30.0, 0, 10_000 / 64_000),
    ],
)
def test_a_promoted_trial_takes_as_many_rows_as_the_time_allows(left, n_complete, share):
    # 1 s for 1,000 rows, 64 s for the training rows of the hold-out split
    time_model = FitTimeModel({"gaussian_nb": [0.0, 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(
        bayes_space(), n_rows=80_000, n_folds=5, time_model=time_model, left=1e3
    )
    evaluator.data.splits[:] = evaluator.data.splits[:1]
    result = first_result(evaluator, time_limit=1e3)
    history = history_of(*[np.full((80_000, 2), 0.5, np.float32)] * n_complete)
    rung = next_rung(evaluator, 10_000 / 64_000, result, history, seconds_left=left)
    assert (rung is not None) is (share is not None)
    if share is not None:
        (task,) = rung.values()
        assert task.share == pytest.approx(share, rel=0.02) and task.keep and not task.preview


@pytest.mark.parametrize(("limit", "status"), [(5_000, "stopped"), (None, "ok")])
def test_a_fold_that_exceeds_a_limit_on_the_size_is_the_last(limit, status):
    X, y = make_classification(300, 6, random_state=0)
    space = SearchSpace(["classifier"])
    space.add("classifier", "bayes", GaussianNB(), {"var_smoothing": [0.1, 0.01, 1e-3, 1e-4]})
    space.add("classifier", "neighbors", KNeighborsClassifier())
    small = [
        space.complete({"classifier": ("bayes", {"var_smoothing": value})})
        for value in (0.1, 0.01, 1e-3, 1e-4)
    ]
    large = space.complete({"classifier": "neighbors"})
    limits = [ModelSize(limit)]
    settings = {"space": space, "cv": 3, "random_state": 0, "max_evals": 5}
    model = ConstrainedAutoClassifier(limits, initial=[*small, large], **settings).fit(X, y)
    assert model.history_[4].status == status
    assert len(model.history_[4].fold_constraints["model_size"]) == (1 if limit else 3)
    # without a trial that is nearer to the limit, all folds are needed
    alone = ConstrainedAutoClassifier(limits, "random", initial=[large], **settings).fit(X, y)
    assert alone.history_[0].ok
