"""A running trial: its parts are submitted, received and aggregated."""

import time
from dataclasses import replace

import numpy as np
import pytest

from skauto.metalearning import FitTimeModel
from skauto.space import SearchSpace
from skauto.space.catalog import LightGBMClassifier
from tests.evaluation.evaluators import bayes_space, evaluator_for, opened


def test_a_trial_that_is_not_affordable_is_skipped():
    time_model = FitTimeModel({"gaussian_nb": [np.log(1e4), 1.0, 0.0, 0.0]})
    job = opened(evaluator_for(bayes_space(), time_model=time_model), time_limit=100.0)
    assert job.done and job.next_parts() == []
    trial = job.trial(0, 0.0, 0.0)
    assert trial.status == "skipped" and "s that are left" in trial.error
    # Without a time limit, seconds decide nothing.
    assert not opened(evaluator_for(bayes_space(), time_model=time_model)).done


def boosting_evaluator():
    boosting = LightGBMClassifier(verbose=-1, n_jobs=1)
    space = SearchSpace(["classifier"]).add("classifier", "lightgbm", boosting)
    time_model = FitTimeModel({"lightgbm": [np.log(0.1), 0.0, 0.0, 0.0]})
    return evaluator_for(space, time_model=time_model)


def test_boosting_ends_before_the_limit_of_its_task():
    evaluator = boosting_evaluator()
    [(_, (task,), limit)] = opened(evaluator, time_limit=100.0).next_parts()
    assert task.seconds == pytest.approx(0.8 * limit)
    assert evaluator.worker(task).rounds > 1
    assert evaluator.worker(replace(task, seconds=0.0)).rounds == 1


def test_boosting_ends_before_the_search():
    evaluator = boosting_evaluator()
    [(_, (task,), _)] = opened(evaluator, time_limit=100.0).next_parts(seconds_left=50.0)
    assert task.ends == pytest.approx(time.time() + 0.8 * 50.0, abs=5.0)
    assert evaluator.worker(task).rounds > 1
    assert evaluator.worker(replace(task, ends=time.time())).rounds == 1
