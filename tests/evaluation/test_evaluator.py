"""With what a trial begins."""

import numpy as np
import pytest

from skauto.evaluation import FoldTask
from skauto.metalearning import FitTimeModel
from tests.evaluation.evaluators import (
    bayes_space,
    evaluator_for,
    forest_space,
    opened,
)


def test_the_first_fold_comes_before_the_others():
    job = opened(evaluator_for(bayes_space()))
    ((part, (task,), _),) = job.next_parts()
    assert part == 0
    assert isinstance(task, FoldTask) and task.share == 1.0


def test_many_rows_start_with_a_share_of_them():
    evaluator = evaluator_for(bayes_space(), n_rows=80_000)
    assert opened(evaluator).next_parts()[0][0] == 0
    job = opened(evaluator, time_limit=60.0)
    ((part, (task,), _),) = job.next_parts()
    assert task.share * 60_000 == pytest.approx(10_000)


@pytest.mark.parametrize(("left", "share"), [(1_000.0, 1.0), (200.0, 0.5)])
def test_an_expensive_trial_starts_on_fewer_rows(left, share):
    time_model = FitTimeModel({"gaussian_nb": [np.log(100.0 / 7.5), 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(bayes_space(), n_rows=10_000, time_model=time_model, left=left)
    job = opened(evaluator, time_limit=left)
    ((part, (task,), _),) = job.next_parts()
    assert task.share == pytest.approx(share, rel=1e-3)


def test_a_forest_on_many_rows_starts_with_a_share_of_them():
    space = forest_space().subspace({"encoder": ["none"], "classifier": ["forest"]})
    job = opened(evaluator_for(space, n_rows=80_000), time_limit=60.0)
    ((part, (task,), _),) = job.next_parts()
    assert isinstance(task, FoldTask) and task.share * 60_000 == pytest.approx(10_000)
