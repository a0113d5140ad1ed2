"""What a search is prepared of."""

import contextlib

import numpy as np
import pytest

from skauto import AutoClassifier
from skauto.engines import make_engine
from skauto.estimators._observer import Observer
from skauto.utils import Budget


@pytest.fixture
def plan_of(iris):
    """Return a function that prepares the search of an estimator."""
    with contextlib.ExitStack() as stack:

        def plan_of(clf):
            budget = Budget(clf.time_limit)
            table = clf._read(*iris, {})
            return clf._plan(table, clf._options(), None, budget, stack)

        yield plan_of


def test_the_seed_decides_folds_and_worker_seeds(plan_of):
    first, again, other = (plan_of(AutoClassifier(max_evals=2, random_state=s)) for s in (0, 0, 1))
    splits, same, different = (plan.evaluator.data.splits for plan in (first, again, other))
    assert len(splits) == 8
    for a, b in zip(splits, same, strict=True):
        np.testing.assert_array_equal(a[1], b[1])
    assert any(not np.array_equal(a[1], b[1]) for a, b in zip(splits, different, strict=True))
    assert first.seed == again.seed != other.seed
    assert first.checkpoint is None and len(first.history) == 0


def test_a_search_under_a_time_limit_that_continues_tries_only_new_configurations(
    plan_of, iris, tmp_path
):
    clf = AutoClassifier(max_evals=3, cv=3, options={"checkpoint": tmp_path / "c"}, random_state=0)
    known = [trial.configuration for trial in clf.fit(*iris).history_]
    plan = plan_of(clf.set_params(max_evals=9, time_limit=60))
    assert [trial.configuration for trial in plan.history] == known
    observer = Observer(clf, plan.history, None)
    with make_engine(plan.evaluator.worker) as engine:
        search = plan.search(engine, Budget(), observer)
    assert set(plan.initial) >= set(known)
    assert search.initial == plan.initial[len(known) :]


def test_limited_seconds_allow_fewer_folds(plan_of):
    plan = plan_of(AutoClassifier(time_limit=0.1, random_state=0))
    assert len(plan.evaluator.data.splits) < 8
