"""A running trial: its parts are submitted, received and aggregated."""

import numpy as np

from skauto.metalearning import FitTimeModel
from tests.evaluation.evaluators import bayes_space, evaluator_for, opened


def test_a_trial_that_is_not_affordable_is_skipped():
    time_model = FitTimeModel({"gaussian_nb": [np.log(1e4), 1.0, 0.0, 0.0]})
    job = opened(evaluator_for(bayes_space(), time_model=time_model), time_limit=100.0)
    assert job.done and job.next_parts() == []
    trial = job.trial(0, 0.0, 0.0)
    assert trial.status == "skipped" and "s are left" in trial.error
    # Without a time limit, seconds decide nothing.
    assert not opened(evaluator_for(bayes_space(), time_model=time_model)).done
